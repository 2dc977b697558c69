/**
 * Short names for run and step folders (`outputs/2026/profiling/step-5` → `step-5`): as many trailing parts of the path as it
 * takes to tell them apart.
 */
export function groupNames(groups: Iterable<string>): ReadonlyMap<string, string> {
  const paths = [...new Set(groups)].map((group) => ({ group, parts: group.split(/[\\/]/) }));
  const longest = Math.max(1, ...paths.map(({ parts }) => parts.length));
  for (let length = 1; length < longest; length++) {
    const names = paths.map(({ group, parts }) => [group, parts.slice(-length).join('/')] as const);
    if (new Set(names.map(([, name]) => name)).size === names.length) {
      return new Map(names);
    }
  }
  return new Map(paths.map(({ group }) => [group, group]));
}
