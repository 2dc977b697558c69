import * as vscode from 'vscode';
import type { CompareOptions, CompareReport, CompareSide, CompareWindow, RankDigest } from '../../protocol/compare';
import type { CompareProgress, CompareState, CompareViewMethods, FromCompare, Side, SideRef, ToCompare } from '../../protocol/compareView';
import type { EngineProgress, RankSummary } from '../../protocol/engine';
import { VIEW_STATE_LIMIT, type NavigateTarget, type ViewKind } from '../../protocol/webview';
import { isCrash, type Profile } from '../profile';
import { codeOf, isCancelled, sentenceOf } from '../sentences';
import { rankName } from './profileNodes';
import { saveText, type ViewServices } from './profileView';
import { viewHtml } from './viewHtml';

/** What a comparison needs from the rest of the host. */
export type CompareServices = Pick<ViewServices, 'extensionUri' | 'latency' | 'openSource' | 'sources'> & {
  readonly show: (profile: Profile, view: ViewKind, target: NavigateTarget) => void;
  /** Opens the same pair the other way round. */
  readonly swap: (state: CompareState) => void;
};

/** Id of the opening among the running calls; calls of the webview count from 1. */
const OPENING = 0;

/**
 * The bridge between the Compare view and its two profiles. Each profile's engine boils its ranks down; the candidate's
 * engine compares the digests, so that no figure is computed here. Digests are kept while the tab is open: other tokens or a
 * hidden and shown view read nothing again.
 */
export class CompareView implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly running = new Map<number, AbortController>();
  private readonly digests = new Map<Profile, Map<string, RankDigest | string>>();
  private ready = false;

  constructor(private readonly webview: vscode.Webview, readonly base: Profile, readonly candidate: Profile, public state: CompareState, private readonly services: CompareServices) {
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(services.extensionUri, 'dist'), vscode.Uri.joinPath(services.extensionUri, 'media')] };
    this.disposables.push(
      base.use(), candidate.use(), webview.onDidReceiveMessage((message: FromCompare) => this.afterLatency(() => this.receive(message))),
      ...[base, candidate].map((profile) => profile.onDidReload(() => {
        this.digests.delete(profile);
        void this.start();
      })),
    );
    webview.html = viewHtml(webview, services.extensionUri, 'compare');
  }

  dispose(): void {
    this.cancelAll();
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private receive(message: FromCompare): void {
    switch (message.kind) {
      case 'ready':
        this.ready = true;
        this.adopt(message.state);
        void this.start();
        break;
      case 'call':
        void this.answer(message.id, message.method, message.params);
        break;
      case 'cancel':
        this.running.get(message.id)?.abort();
        break;
      case 'state':
        this.adopt(message.state);
        break;
      case 'copy':
        void vscode.env.clipboard.writeText(message.text);
        vscode.window.setStatusBarMessage(vscode.l10n.t('FuseLens: copied'), 2000);
        break;
      case 'saveText':
        void saveText(message.name, message.text, this.candidate);
        break;
      case 'showSide':
        this.services.show(this.sideOf(message.side), 'timeline', message.target);
        break;
      case 'swap':
        this.services.swap({ ...this.state, ...swapped(this.state) });
        break;
      case 'openSource':
        void this.services.openSource(message.file, message.line);
        break;
      case 'reopen':
        void Promise.all([this.base.reload(), this.candidate.reload()]).catch(() => undefined);
        break;
      default:
        message satisfies never;
    }
  }

  private sideOf(side: Side): Profile {
    return side === 'base' ? this.base : this.candidate;
  }

  private async start(): Promise<void> {
    if (!this.ready) {
      return;
    }
    this.cancelAll();
    const speech = { language: vscode.env.language, bundle: vscode.l10n.bundle ?? {} };
    const abort = new AbortController();
    this.running.set(OPENING, abort);
    for (const profile of [this.base, this.candidate]) {
      this.post({ kind: 'opening', name: profile.name, ...speech });
      try {
        await profile.open({ signal: abort.signal, progress: (progress) => this.post({ kind: 'opening', name: profile.name, progress }) });
      } catch (error) {
        this.post({ kind: 'failed', message: isCancelled(error) ? vscode.l10n.t('Opening {0} was cancelled.', profile.name) : sentenceOf(error), crashed: isCrash(error) });
        return;
      }
    }
    this.running.delete(OPENING);
    const side = (profile: Profile): { readonly name: string; readonly path: string } => ({ name: this.nameOf(profile), path: profile.path });
    this.post({ kind: 'init', init: { state: this.state, base: side(this.base), candidate: side(this.candidate), ...speech } });
  }

  /** With the folder above, where both are called the same. */
  private nameOf(profile: Profile): string {
    const above = profile.path.split(/[\\/]/).at(-2);
    return this.base.name === this.candidate.name && above !== undefined ? `${above}/${profile.name}` : profile.name;
  }

  private async answer(id: number, method: keyof CompareViewMethods, params: unknown): Promise<void> {
    const abort = new AbortController();
    this.running.set(id, abort);
    try {
      // The webview's own types guarantee the params of each method; the engine checks what it reads.
      const result = method === 'compareReport'
        ? await this.compare((params as CompareViewMethods['compareReport']['params']).options, abort.signal, (progress) => this.post({ kind: 'progress', id, progress }))
        : await this.window(params as CompareViewMethods['comparedWindow']['params'], abort.signal);
      this.post({ kind: 'reply', id, result });
    } catch (error) {
      this.post({ kind: 'error', id, code: isCancelled(error) ? 'cancelled' : codeOf(error), message: isCancelled(error) ? vscode.l10n.t('Cancelled.') : sentenceOf(error) });
    } finally {
      this.running.delete(id);
    }
  }

  private window({ side, ...params }: CompareViewMethods['comparedWindow']['params'], signal: AbortSignal): Promise<CompareWindow> {
    return this.sideOf(side).call('compareWindow', params, { signal });
  }

  private async compare(options: CompareOptions, signal: AbortSignal, progress: (progress: CompareProgress) => void): Promise<CompareReport> {
    const readable = (profile: Profile): readonly RankSummary[] => profile.rankSummaries().filter((rank) => rank.readable);
    const total = readable(this.base).length + readable(this.candidate).length;
    let done = 0;
    const leftOut: CompareReport['notes'][number][] = [];
    const read = async (profile: Profile): Promise<CompareSide> => {
      const ranks = readable(profile);
      const digests: RankDigest[] = [];
      for (const rank of ranks) {
        const name = `${this.nameOf(profile)} · ${rankName(rank)}`;
        const digest = await this.digest(profile, rank, rank === ranks[0], signal, (reading) => progress({ done: done + 1, total, name, reading }));
        done++;
        progress({ done, total, name });
        if (typeof digest !== 'string') {
          digests.push(digest);
        } else if (ranks.length === 1) {
          throw new Error(digest);
        } else {
          leftOut.push({ code: 'compare.note.unreadable', args: { rank: rankName(rank), side: this.nameOf(profile), reason: digest } });
        }
      }
      return { name: this.nameOf(profile), runs: [digests] };
    };
    // Each side has an engine of its own: they read at the same time.
    const [base, candidate] = await Promise.all([read(this.base), read(this.candidate)]);
    const report = await this.candidate.call('compareDigests', { base, candidate, options }, { signal });
    return { ...report, notes: [...report.notes, ...leftOut] };
  }

  /** The digest of a rank, or why it has none. Lines are located on the first rank only: the others would tell the same. */
  private async digest(profile: Profile, rank: RankSummary, first: boolean, signal: AbortSignal, progress: (progress: EngineProgress) => void): Promise<RankDigest | string> {
    const known = this.digests.get(profile) ?? new Map<string, RankDigest | string>();
    this.digests.set(profile, known);
    const kept = known.get(rank.id);
    if (kept !== undefined) {
      return kept;
    }
    const made = await profile.call('compareDigest', { rank: rank.id, ...(first ? this.services.sources() : {}) }, { signal, progress }).catch((error: unknown) => {
      // One rank that cannot be read must not hide the others; a crash or a cancel ends the comparison.
      if (isCancelled(error) || isCrash(error)) {
        throw error;
      }
      return sentenceOf(error);
    });
    known.set(rank.id, made);
    return made;
  }

  /** Takes over what the webview remembers, if it belongs to this tab and is small enough to keep. */
  private adopt(state: unknown): void {
    const saved = asCompareState(state);
    if (saved !== undefined && saved.base.path === this.state.base.path && saved.candidate.path === this.state.candidate.path && JSON.stringify(saved).length <= VIEW_STATE_LIMIT) {
      this.state = saved;
    }
  }

  private cancelAll(): void {
    for (const abort of this.running.values()) {
      abort.abort();
    }
    this.running.clear();
  }

  private post(message: ToCompare): void {
    this.afterLatency(() => void this.webview.postMessage(message));
  }

  private afterLatency(action: () => void): void {
    const { ms } = this.services.latency;
    if (ms > 0) {
      setTimeout(action, ms / 2);
    } else {
      action();
    }
  }
}

/** The other way round, tokens included. */
function swapped({ base, candidate, detail }: CompareState): Pick<CompareState, 'base' | 'candidate' | 'detail'> {
  const { tokensBase, tokensCandidate, ...rest } = detail?.options ?? {};
  const options = { ...rest, ...(tokensCandidate === undefined ? {} : { tokensBase: tokensCandidate }), ...(tokensBase === undefined ? {} : { tokensCandidate: tokensBase }) };
  return { base: candidate, candidate: base, detail: { ...detail, options } };
}

/** A state as saved by a webview, or undefined when it is something else. */
export function asCompareState(value: unknown): CompareState | undefined {
  const state = value as Partial<CompareState> | undefined | null;
  const side = (ref: SideRef | undefined): boolean => typeof ref === 'object' && ref !== null && typeof ref.path === 'string';
  return typeof state === 'object' && state !== null && state.version === 1 && state.view === 'compare' && side(state.base) && side(state.candidate) ? (state as CompareState) : undefined;
}
