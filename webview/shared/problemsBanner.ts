import type { Problem } from '../../src/protocol/engine';
import { withinProfile } from '../../src/protocol/problemPlace';
import { renderProblem } from '../../src/protocol/text';
import { h, icon } from './dom';
import type { Words } from './words';

/** Everything odd about the files, with what it does to the figures; open at once when something is plainly wrong. */
export function problemsBanner(problems: readonly Problem[], profilePath: string, words: Words): HTMLElement | undefined {
  if (problems.length === 0) {
    return undefined;
  }
  const order = { error: 0, warning: 1, info: 2 };
  const sorted = problems.map((problem) => withinProfile(problem, profilePath)).sort((a, b) => order[a.severity] - order[b.severity]);
  const worst = sorted[0].severity;
  return h('details', { class: `problems problems-${worst}`, open: worst === 'error' },
    h('summary', {}, icon(worst), ' ', words.t('view.problems', { count: problems.length }), h('span', { class: 'faint' }, ` ${firstSentence(sorted[0], words)}`)),
    h('ul', {}, sorted.map((problem) => {
      const { message, effect } = renderProblem(problem, (english) => words.english(english));
      return h('li', { class: problem.severity }, icon(problem.severity), h('div', {}, h('div', {}, message, problem.count > 1 ? h('span', { class: 'faint' }, ` · ${words.t('view.problemCount', { count: words.count(problem.count) })}`) : undefined), effect === '' ? undefined : h('div', { class: 'faint' }, effect)));
    })));
}

const firstSentence = (problem: Problem, words: Words): string => renderProblem(problem, (english) => words.english(english)).message;
