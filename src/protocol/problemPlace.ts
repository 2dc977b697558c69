import type { Problem } from './engine';

/**
 * The same problem with places named from the profile's folder on: `rank_1_ascend_pt` instead of the whole path, which the
 * reader of the sentence knows and which would push the rest out of sight.
 */
export function withinProfile(problem: Problem, profilePath: string): Problem {
  const shorten = (text: string): string => text.replaceAll(`${profilePath}/`, '').replaceAll(`${profilePath}\\`, '');
  const args = problem.args === undefined ? {} : { args: Object.fromEntries(Object.entries(problem.args).map(([name, value]) => [name, typeof value === 'string' ? shorten(value) : value])) };
  return { ...problem, where: shorten(problem.where), ...args };
}
