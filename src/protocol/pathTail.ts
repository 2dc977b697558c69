/** Parts of a path of either system, outermost first; `.` and empty parts left out. */
export const pathParts = (file: string): readonly string[] => file.split(/[\\/]/).filter((part) => part !== '' && part !== '.');

/** A path under the prefix that a user set for it (prefix there → prefix here, the longest counts); undefined where none fits. */
export function mappedPath(file: string, map: Readonly<Record<string, string>>): string | undefined {
  const path = file.replaceAll('\\', '/');
  const [best] = Object.entries(map).map(([from, to]) => [from.replaceAll('\\', '/').replace(/\/$/, ''), to] as const).filter(([from]) => path === from || path.startsWith(`${from}/`)).sort((a, b) => b[0].length - a[0].length);
  return best === undefined ? undefined : `${best[1].replace(/[\\/]$/, '')}${path.slice(best[0].length)}`;
}

/** How many parts two paths share at their ends: a run on another machine keeps only the tail of a path. */
export function commonTail(left: readonly string[], right: readonly string[]): number {
  let depth = 0;
  while (depth < left.length && depth < right.length && left[left.length - 1 - depth] === right[right.length - 1 - depth]) {
    depth++;
  }
  return depth;
}

/** What of two paths differs before their equal tails: `/run/pkg/a.py` and `/home/me/pkg/a.py` → `/run` and `/home/me`. The whole paths where nothing of the first would be left. */
export function differingPrefixes(recorded: string, file: string): readonly [from: string, to: string] {
  const tail = commonTail(pathParts(recorded), pathParts(file));
  const from = withoutTail(recorded, tail);
  const to = withoutTail(file, tail);
  return from === '' || to === '' ? [recorded, file] : [from, to];
}

function withoutTail(path: string, parts: number): string {
  let rest = path;
  for (let i = 0; i < parts; i++) {
    rest = rest.replace(/[\\/]*[^\\/]+$/, '');
  }
  return rest;
}
