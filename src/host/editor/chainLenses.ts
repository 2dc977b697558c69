import * as vscode from 'vscode';
import type { FuseAnswer } from '../../protocol/fuse';
import { documentEvidence, type DocumentChain } from './documentEvidence';
import type { EvidenceStore } from './evidence';
import { overlaps, placeOf, type FuseTarget, type Fuser } from './fuse';
import type { Measurements } from './measured';
import { chainCost, chainDetail, chainTitle, time } from './words';

/**
 * Above each located chain: what it costs and what can be done, in as few words as fit beside another view. What else there
 * is to say stands behind, from `ChainDetailLenses`: lenses of a line come in the order of their providers. Only for the active profile, and only with
 * its evidence.
 */
export class ChainLenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly evidence: EvidenceStore, private readonly fuser: Fuser, private readonly measurements: Measurements) {
    measurements.onDidChange(() => this.changed.fire());
    fuser.onDidChange(() => this.changed.fire());
    evidence.onDidChange(() => this.changed.fire());
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('fuselens.editor')) {
        this.changed.fire();
      }
    });
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const evidence = this.evidence.get();
    if (evidence === undefined || placement() !== 'lens') {
      return [];
    }
    const plans = await this.fuser.plans(document);
    const measured = documentEvidence(evidence, document.uri).chains.filter(({ startLine }) => startLine <= document.lineCount).flatMap((chain) => {
      const line = document.lineAt(chain.startLine - 1).range;
      return [
        new vscode.CodeLens(line, { title: `$(pulse)\u00a0${chainTitle(chain)} · ${chainCost(chain)}`, tooltip: vscode.l10n.t('Show the first of them in the timeline'), command: 'fuselens.showChainInTimeline', arguments: [chainTarget(chain)] }),
        ...(fusable(chain, plans) ? [new vscode.CodeLens(line, { title: vscode.l10n.t('fuse'), tooltip: vscode.l10n.t('Put the fused operator here, in a preview'), command: 'fuselens.fuse', arguments: [{ uri: document.uri.toString(), place: placeOf({ ...chain, fusion: chain.fusion ?? '' }) } satisfies FuseTarget] })] : []),
      ];
    });
    const fused = this.fuser.fused(document).map((mark) => new vscode.CodeLens(document.lineAt(mark.line).range, this.fusedLens(mark)));
    return [...measured, ...fused];
  }

  /** What a second profile said of it, else the way to get one. */
  private fusedLens({ was, place: { fusion }, since }: ReturnType<Fuser['fused']>[number]): vscode.Command {
    const measured = this.measurements.since(fusion, since);
    if (measured === undefined) {
      return { title: vscode.l10n.t('fused · not measured yet (was {0}/step) · profile again', was), tooltip: vscode.l10n.t('Profile the same run again'), command: 'fuselens.runWithRemedy', arguments: [{ remedy: 'edit' }] };
    }
    const title = measured.perToken ? vscode.l10n.t('fused · measured: {0} → {1}/step at the same number of tokens', time(measured.beforeUs), time(measured.afterUs)) : vscode.l10n.t('fused · measured: {0} → {1}/step', time(measured.beforeUs), time(measured.afterUs));
    return { title, tooltip: vscode.l10n.t('All places of this fusion, forward and recompute, on one rank: what its chains took, and what they and the fused operators take now. Shows the comparison.'), command: 'fuselens.showMeasured', arguments: [measured] };
  }
}

/** The last lenses of a line: how often the chain runs, and the way to all others. */
export class ChainDetailLenses implements vscode.CodeLensProvider {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;

  constructor(private readonly evidence: EvidenceStore) {
    evidence.onDidChange(() => this.changed.fire());
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const evidence = this.evidence.get();
    if (evidence === undefined || placement() !== 'lens') {
      return [];
    }
    return documentEvidence(evidence, document.uri).chains.filter(({ startLine }) => startLine <= document.lineCount).flatMap((chain) => {
      const line = document.lineAt(chain.startLine - 1).range;
      return [
        new vscode.CodeLens(line, { title: chainDetail(chain), tooltip: vscode.l10n.t('Show the first of them in the timeline'), command: 'fuselens.showChainInTimeline', arguments: [chainTarget(chain)] }),
        new vscode.CodeLens(line, { title: vscode.l10n.t('all chains'), tooltip: vscode.l10n.t('Show this chain among the fingerprints of the profile'), command: 'fuselens.showFingerprints', arguments: [{ fingerprint: chain.phases[0].id }] }),
      ];
    });
  }
}

function fusable({ fusion, startLine, endLine }: DocumentChain, plans: FuseAnswer | undefined): boolean {
  return fusion !== null && plans?.entries.some((entry) => entry.status === 'fixable' && overlaps(entry, { fusion, startLine, endLine })) === true;
}

export type Placement = 'lens' | 'endOfLine' | 'off';

export const placement = (): Placement => vscode.workspace.getConfiguration('fuselens').get<Placement>('editor.placement', 'lens');

/** Argument of `fuselens.showChainInTimeline`. */
export interface ChainTarget {
  readonly startNs: number;
  readonly endNs: number;
  readonly event: number;
}

const chainTarget = (chain: DocumentChain): ChainTarget => chain.phases[0].first;
