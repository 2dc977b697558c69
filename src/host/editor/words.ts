import * as vscode from 'vscode';
import { text } from '../../protocol/text';
import { timeText } from '../../protocol/timeText';
import { translate } from '../sentences';
import type { DocumentChain } from './documentEvidence';

/** Times beside code have three digits: there is room for no more, and they are means of many. */
export const time = (us: number): string => timeText(us, 3);

/** A run without a device: its operators stand for kernels, and its times are the CPU's. */
export const isOnCpu = ({ phases }: Pick<DocumentChain, 'phases'>): boolean => phases[0].unit === 'operator';

export function chainTitle(chain: Pick<DocumentChain, 'fusion' | 'title' | 'phases'>): string {
  return chain.fusion !== null ? text(`fusion.${chain.fusion}`, undefined, translate) : isOnCpu(chain) ? vscode.l10n.t('{0} operators that repeat', chain.phases[0].kernels.length) : vscode.l10n.t('{0} kernels that repeat', chain.phases[0].kernels.length);
}

export const phaseName = (phase: string): string => text(`phase.${phase}`, undefined, translate);

/** "11 kernels × 72 · 40.0 ms/step". */
export function chainSummary(chain: DocumentChain): string {
  const values = [chain.phases[0].kernels.length, chain.occurrences, time(chain.totalUs)];
  const summary = isOnCpu(chain) ? vscode.l10n.t('{0} operators × {1} · {2}/step', ...values) : vscode.l10n.t('{0} kernels × {1} · {2}/step', ...values);
  const whole = chain.besideUs > 0 ? `${summary} ${vscode.l10n.t('(+ {0} backward)', time(chain.besideUs))}` : summary;
  return chain.source.changed === true ? `${whole} · ${vscode.l10n.t('changed since the run')}` : whole;
}
