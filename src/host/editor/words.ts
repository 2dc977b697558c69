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

/** "40.0 ms/step": what a lens says first. */
export const chainCost = ({ totalUs }: DocumentChain): string => vscode.l10n.t('{0}/step', time(totalUs));

/** "11 kernels × 72 (+ 44.2 ms backward)": what a lens says behind its commands. */
export function chainDetail(chain: DocumentChain): string {
  const values = [chain.phases[0].kernels.length, chain.occurrences];
  return withRest(chain, isOnCpu(chain) ? vscode.l10n.t('{0} operators × {1}', ...values) : vscode.l10n.t('{0} kernels × {1}', ...values));
}

/** "11 kernels × 72 · 40.0 ms/step (+ 44.2 ms backward)". */
export function chainSummary(chain: DocumentChain): string {
  const values = [chain.phases[0].kernels.length, chain.occurrences, time(chain.totalUs)];
  return withRest(chain, isOnCpu(chain) ? vscode.l10n.t('{0} operators × {1} · {2}/step', ...values) : vscode.l10n.t('{0} kernels × {1} · {2}/step', ...values));
}

function withRest(chain: DocumentChain, summary: string): string {
  const whole = chain.besideUs > 0 ? `${summary} ${vscode.l10n.t('(+ {0} backward)', time(chain.besideUs))}` : summary;
  return chain.source.changed === true ? `${whole} · ${vscode.l10n.t('changed since the run')}` : whole;
}

/** A number and its unit stay in one line, wherever the text is broken. */
export const unbroken = (text: string): string => text.replace(/(\d) (?=(?:ns|µs|ms|s)\b)/g, '$1\u00a0').replace(/\(\+ [^)]*\)/g, (rest) => rest.replaceAll(' ', '\u00a0'));
