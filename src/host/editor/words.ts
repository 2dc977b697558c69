import * as vscode from 'vscode';
import { MESSAGES, text } from '../../protocol/text';
import { translate } from '../sentences';
import type { DocumentChain } from './documentEvidence';

/** 40.0 ms, 556 µs: three digits, the unit that suits. */
export function time(us: number): string {
  const value = us < 1000 ? us : us < 1_000_000 ? us / 1000 : us / 1_000_000;
  const unit = us < 1000 ? 'µs' : us < 1_000_000 ? 'ms' : 's';
  return `${value.toFixed(value < 100 ? (value < 10 ? 2 : 1) : 0)} ${unit}`;
}

export function chainTitle(chain: Pick<DocumentChain, 'fusion' | 'title' | 'phases'>): string {
  const code = `fusion.${chain.fusion ?? ''}`;
  return code in MESSAGES ? text(code, undefined, translate) : vscode.l10n.t('{0} kernels that repeat', chain.phases[0].kernels.length);
}

export const phaseName = (phase: string): string => text(`phase.${phase}`, undefined, translate);

/** "11 kernels × 72 · 40.0 ms/step". */
export function chainSummary(chain: DocumentChain): string {
  const summary = vscode.l10n.t('{0} kernels × {1} · {2}/step', chain.phases[0].kernels.length, chain.occurrences, time(chain.totalUs));
  const whole = chain.besideUs > 0 ? `${summary} ${vscode.l10n.t('(+ {0} backward)', time(chain.besideUs))}` : summary;
  return chain.source.changed === true ? `${whole} · ${vscode.l10n.t('changed since the run')}` : whole;
}
