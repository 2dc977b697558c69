/** What a comparison says in words: the same sentences for the view, the terminal and reports. */
import type { CompareReport, CompareRow, CompareVerdict } from './compare';
import { chainOperators, operatorName } from './operatorNames';
import { text, type Translate } from './text';

export interface CompareFormats {
  readonly time: (us: number | null) => string;
  /** A share as percent, with its sign. */
  readonly change: (share: number | null) => string;
  readonly number: (value: number, digits: number) => string;
}

/** The verdict and what it rests on, a sentence each. */
export function verdictSentences({ verdict, base, candidate }: CompareReport, formats: CompareFormats, translate: Translate): readonly string[] {
  const say = (code: string, args?: Readonly<Record<string, string | number>>): string => text(code, args, translate);
  const reasons = verdict.reasons.map(({ code, args }) => say(code, args));
  return [headline(verdict, formats, translate), ...reasons, ...(verdict.kind === 'notComparable' ? [] : [noiseSentence(verdict, formats, translate)]), say(`compare.verdict.stepTime.${verdict.stepTime}`), ...([base, candidate].some(({ backend }) => backend === 'cpu') ? [say('compare.verdict.operators')] : [])].filter((sentence) => sentence !== '');
}

function headline(verdict: CompareVerdict, { time, change, number }: CompareFormats, translate: Translate): string {
  if (verdict.kind === 'notComparable') {
    return text('compare.verdict.notComparable', undefined, translate);
  }
  const { baseUs, candidateUs } = verdict;
  const times = baseUs === null || candidateUs === null || !(candidateUs.median > 0) ? '–' : number(baseUs.median / candidateUs.median, 2);
  return text(`compare.verdict.${verdict.kind}.${verdict.per}`, { base: time(baseUs?.median ?? null), candidate: time(candidateUs?.median ?? null), change: change(verdict.change), times }, translate);
}

function noiseSentence({ noiseUs, baseStepUs, candidateStepUs }: CompareVerdict, { time }: CompareFormats, translate: Translate): string {
  return noiseUs === null ? '' : text('compare.verdict.noise', { noise: time(noiseUs), baseSamples: baseStepUs?.samples ?? 0, candidateSamples: candidateStepUs?.samples ?? 0 }, translate);
}

/** A chain by its catalogue name, with its phase; everything else by its own. */
export function rowName(row: Pick<CompareRow, 'fusion' | 'label' | 'phase' | 'key'>, id: string, translate: Translate): string {
  const say = (code: string): string => text(code, undefined, translate);
  switch (id) {
    case 'families': return row.key === '…' ? row.label : say(`family.${row.key}`);
    case 'phases': return say(`phase.${row.key}`);
    case 'operators': return operatorName(row.label, translate);
    case 'chains': return `${row.fusion === undefined ? chainOperators(row.label, translate) : say(`fusion.${row.fusion}`)}${row.phase === undefined || row.phase === 'unknown' ? '' : ` · ${say(`phase.${row.phase}`)}`}`;
    default: return row.label;
  }
}
