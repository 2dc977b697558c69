import type { ProblemList } from '../profile/problems';

/** Tells of events that no lane shows. `skipped`: how many, by the code of their `ph`. */
export function reportNotShown(problems: ProblemList, where: string, skipped: Float64Array): void {
  const phases: string[] = [];
  let count = 0;
  skipped.forEach((events, phase) => {
    if (events > 0) {
      phases.push(phase === 0 ? '?' : String.fromCharCode(phase));
      count += events;
    }
  });
  if (count > 0) {
    problems.add('events-not-shown', where, { severity: 'info', count, args: { phases: phases.sort().join(', ') } });
  }
}
