import * as vscode from 'vscode';
import type { LineCost } from '../../protocol/fingerprints';
import { escapeMarkdown } from '../escapeMarkdown';
import { documentEvidence, type DocumentChain } from './documentEvidence';
import type { EvidenceStore } from './evidence';
import { chainSummary, chainTitle, isOnCpu, phaseName, time, unbroken } from './words';

/** On an expression that launches kernels: which, how long, in which phase; on the line's other places the line's total. */
export class ChainHovers implements vscode.HoverProvider {
  constructor(private readonly evidence: EvidenceStore) {}

  provideHover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const evidence = this.evidence.get();
    if (evidence === undefined) {
      return undefined;
    }
    const { chains, lines } = documentEvidence(evidence, document.uri);
    const line = position.line + 1;
    const inside = chains.filter(({ startLine, endLine }) => startLine <= line && line <= endLine);
    const cost = lines.filter((entry) => entry.line === line);
    if (inside.length === 0 && cost.length === 0) {
      return undefined;
    }
    const text = new vscode.MarkdownString(undefined, true);
    for (const chain of inside) {
      text.appendMarkdown(`**${escapeMarkdown(chainTitle(chain))}** · ${escapeMarkdown(unbroken(chainSummary(chain)))}\n\n`);
      text.appendMarkdown(table(chain, position, document));
      const [low, high] = chain.recoverableUs;
      text.appendMarkdown(`\n${escapeMarkdown(unbroken(isOnCpu(chain) ? vscode.l10n.t('Recoverable on the CPU: {0} to {1} a step; a range, not a promise.', time(low), time(high)) : vscode.l10n.t('Recoverable on the device: {0} to {1} a step; a range, not a promise.', time(low), time(high))))}\n\n`);
      text.appendMarkdown(`${escapeMarkdown(method(chain))}\n\n`);
    }
    for (const entry of cost) {
      text.appendMarkdown(escapeMarkdown(unbroken(lineWords(entry))));
    }
    return new vscode.Hover(text);
  }
}

function lineWords({ unit, kernels, totalUs, backwardUs }: LineCost): string {
  const [total, backward] = [time(totalUs), time(backwardUs)];
  if (unit === 'operator') {
    return backwardUs > 0 ? vscode.l10n.t('This line: {0} operators, {1} on the CPU, of it {2} in the backward pass.', kernels, total, backward) : vscode.l10n.t('This line: {0} operators, {1} on the CPU.', kernels, total);
  }
  return backwardUs > 0 ? vscode.l10n.t('This line: {0} kernels, {1} on the device, of it {2} in the backward pass.', kernels, total, backward) : vscode.l10n.t('This line: {0} kernels, {1} on the device.', kernels, total);
}

/** Kernels with their mean durations; those of the expression under the pointer are marked. */
function table(chain: DocumentChain, position: vscode.Position, document: vscode.TextDocument): string {
  const [first] = chain.phases;
  const ranges = chain.source.kernels.map((kernel) => new vscode.Range(kernel.line - 1, kernel.startColumn, kernel.endLine - 1, kernel.endColumn));
  const under = new Set(ranges.filter((range) => range.contains(position)).map((range) => document.getText(document.validateRange(range)).replace(/\s+/g, '')));
  const rows = first.kernels.map((kernel) => {
    const mark = under.has(kernel.term.replace(/\s+/g, '')) ? '**' : '';
    return `| ${mark}${escapeMarkdown(kernel.type === '' ? kernel.name : kernel.type)}${mark} | ${kernel.meanUs === null ? '–' : unbroken(time(kernel.meanUs))} |${first.fusion === null ? '' : ` \`${kernel.term.replaceAll('|', '\\|')}\` |`}`;
  });
  const phases = chain.phases.map((entry) => `${phaseName(entry.phase)} ${entry.occurrences}`).join(', ');
  const unit = isOnCpu(chain) ? vscode.l10n.t('Operator') : vscode.l10n.t('Kernel');
  const head = first.fusion === null ? `| ${unit} | ${vscode.l10n.t('Mean')} |\n|---|--:|` : `| ${unit} | ${vscode.l10n.t('Mean')} | ${vscode.l10n.t('Term')} |\n|---|--:|---|`;
  return `${head}\n${rows.join('\n')}\n\n${escapeMarkdown(vscode.l10n.t('Occurrences a step: {0}.', phases))}\n`;
}

function method({ source }: DocumentChain): string {
  const same = source.equals.length === 0 ? '' : ` ${vscode.l10n.t('The same code stands in {0} other files.', source.equals.length)}`;
  const equals = source.changed === true ? `${same} ${vscode.l10n.t('This file was changed since the run; the place is where the function stands now.')}` : same;
  switch (source.method) {
    case 'stack': return vscode.l10n.t('Located by the stack in the profile.') + equals;
    case 'carried': return vscode.l10n.t('Located in another capture of the same code, and carried over.') + equals;
    case 'alignment': return vscode.l10n.t('Located without a stack, by the order of operators; confidence {0} %.', Math.round(source.confidence * 100)) + equals;
  }
}
