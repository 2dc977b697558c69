import type { CompareCheck, CompareOptions } from '../../src/protocol/compare';
import { button, plainField } from '../shared/controls';
import { h, icon } from '../shared/dom';
import type { CompareContentOptions } from './compareContent';

const OUTCOMES: Readonly<Record<CompareCheck['outcome'], string>> = { same: 'pass', blocks: 'circle-slash', perToken: 'arrow-both', warns: 'warning', unknown: 'question' };

/** What was checked before a verdict was given, and the tokens of a step, which only the user may know. Open where it matters. */
export function checksSection({ report, words, detail, onOptions }: CompareContentOptions): HTMLElement {
  const counts = new Map<CompareCheck['outcome'], number>();
  report.checks.forEach(({ outcome }) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
  const summary = [...counts].map(([outcome, count]) => `${words.count(count)} ${words.t(`compare.outcome.${outcome}`)}`).join(' · ');
  const { options } = detail();
  const typed = { base: String(options?.tokensBase ?? report.base.tokensPerStep ?? ''), candidate: String(options?.tokensCandidate ?? report.candidate.tokensPerStep ?? '') };
  const apply = (): void => {
    const number = (text: string): number | undefined => (/^\d{1,15}$/.test(text.trim()) && Number(text) > 0 ? Number(text) : undefined);
    const [tokensBase, tokensCandidate] = [number(typed.base), number(typed.candidate)];
    const { tokensBase: _base, tokensCandidate: _candidate, ...rest }: CompareOptions = options ?? {};
    onOptions({ ...rest, ...(tokensBase === undefined ? {} : { tokensBase }), ...(tokensCandidate === undefined ? {} : { tokensCandidate }) });
  };
  const field = (code: string, side: 'base' | 'candidate'): HTMLElement => h('label', { class: 'field' }, h('span', { class: 'field-label' }, words.t(code)), plainField(words.t(code), typed[side], (text) => { typed[side] = text; }));
  return h('details', { class: 'checks', open: report.checks.some(({ outcome }) => outcome === 'blocks') },
    h('summary', {}, words.t('compare.checks'), h('span', { class: 'faint' }, ` ${summary}`)),
    h('table', { class: 'plain-table checks-table', 'aria-label': words.t('compare.checks') },
      h('tbody', {}, report.checks.map((check) => h('tr', { class: `check-${check.outcome}` },
        h('th', { scope: 'row', class: 'text' }, icon(OUTCOMES[check.outcome]), ' ', words.t(`compare.checkName.${check.id}`)),
        h('td', { class: 'text check-outcome' }, words.t(`compare.outcome.${check.outcome}`)),
        h('td', { class: 'text', ...(check.base === null && check.candidate === null ? {} : { 'data-tip': `${check.base ?? '–'}\n${check.candidate ?? '–'}` }) }, words.t(check.code, check.args)))))),
    h('form', { class: 'tokens-form', onsubmit: (event: Event) => { event.preventDefault(); apply(); } }, field('compare.tokensBase', 'base'), field('compare.tokensCandidate', 'candidate'), button({ label: words.t('compare.apply'), onClick: apply })));
}
