import type { Problem } from '../profile/problems';
import type { RankSource } from './reader';

/**
 * Problems of one rank among several, with its place in the profile before the file's name: sixteen ranks have sixteen
 * files called `kernel_details.csv`.
 */
export function placedProblems(problems: readonly Problem[], { id, path }: Pick<RankSource, 'id' | 'path'>): readonly Problem[] {
  const own = path.split(/[\\/]/).at(-1) ?? path;
  const folder = id.split('!')[0] ?? id;
  const placed = (name: string): string => {
    if (name.startsWith('/') || /^[A-Za-z]:[\\/]/.test(name) || (name.startsWith(folder) && /^(?:$|[/\\ ])/.test(name.slice(folder.length)))) {
      return name;
    }
    // The file that is the rank, or the rank's own folder, is placed by its id; everything else lies in it.
    return name === own || name.startsWith(`${own} `) ? `${folder}${name.slice(own.length)}` : `${folder}/${name}`;
  };
  return problems.map((problem) => {
    const bare = fileOf(problem.where);
    const args = problem.args === undefined ? {} : { args: Object.fromEntries(Object.entries(problem.args).map(([name, value]) => [name, (name === 'file' || name === 'folder') && value === bare ? placed(bare) : value])) };
    return { ...problem, where: placed(problem.where), ...args };
  });
}

/** `kernel_details.csv line 8` → `kernel_details.csv`. */
const fileOf = (where: string): string => where.replace(/ (?:line|byte|row) .*$/, '');
