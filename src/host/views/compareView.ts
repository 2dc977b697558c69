import type * as vscode from 'vscode';
import type { CompareOptions, CompareReport, CompareSide, CompareWindow, RankDigest } from '../../protocol/compare';
import type { CompareProgress, CompareState, CompareViewMethods, FromCompare, Side, SideRef, ToCompare } from '../../protocol/compareView';
import type { EngineProgress, RankSummary } from '../../protocol/engine';
import { isCrash, type Profile } from '../profile';
import { isCancelled, sentenceOf } from '../sentences';
import { rankName } from './profileNodes';
import type { ViewServices } from './profileView';
import { isSmallState, speech, WebviewBridge, type AskOptions, type BridgeServices } from './webviewBridge';

/** What a comparison needs from the rest of the host. */
export type CompareServices = BridgeServices & Pick<ViewServices, 'show' | 'sources'> & {
  /** Opens the same pair the other way round. */
  readonly swap: (state: CompareState) => void;
};

/**
 * The bridge between the Compare view and its two profiles. Each profile's engine boils its ranks down; the candidate's
 * engine compares the digests, so that no figure is computed here. Digests are kept while the tab is open: other tokens or a
 * hidden and shown view read nothing again.
 */
export class CompareView extends WebviewBridge<keyof CompareViewMethods, FromCompare, ToCompare> {
  private readonly digests = new Map<Profile, Map<string, RankDigest | string>>();

  constructor(webview: vscode.Webview, readonly base: Profile, readonly candidate: Profile, public state: CompareState, protected override readonly services: CompareServices) {
    super(webview, 'compare', [base, candidate], services);
    this.disposables.push(...[base, candidate].map((profile) => profile.onDidReload(() => this.digests.delete(profile))));
  }

  protected override receive(message: FromCompare): void {
    switch (message.kind) {
      case 'showSide':
        this.services.show(this.sideOf(message.side), 'timeline', message.target);
        break;
      case 'swap':
        this.services.swap({ ...this.state, ...swapped(this.state) });
        break;
      default:
        this.receiveShared(message);
    }
  }

  private sideOf(side: Side): Profile {
    return side === 'base' ? this.base : this.candidate;
  }

  protected override opened(): void {
    const side = (profile: Profile): { readonly name: string; readonly path: string } => ({ name: this.nameOf(profile), path: profile.path });
    this.post({ kind: 'init', init: { state: this.state, base: side(this.base), candidate: side(this.candidate), ...speech() } });
  }

  /** With the folder above, where both are called the same. */
  private nameOf(profile: Profile): string {
    const above = profile.path.split(/[\\/]/).at(-2);
    return this.base.name === this.candidate.name && above !== undefined ? `${above}/${profile.name}` : profile.name;
  }

  protected override ask(method: keyof CompareViewMethods, params: unknown, { signal, progress }: AskOptions): Promise<unknown> {
    // The webview's own types guarantee the params of each method; the engine checks what it reads.
    return method === 'compareReport'
      ? this.compare((params as CompareViewMethods['compareReport']['params']).options, signal, progress)
      : this.window(params as CompareViewMethods['comparedWindow']['params'], signal);
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

  protected override adopt(state: unknown): void {
    const saved = asCompareState(state);
    if (saved !== undefined && saved.base.path === this.state.base.path && saved.candidate.path === this.state.candidate.path && isSmallState(saved)) {
      this.state = saved;
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
