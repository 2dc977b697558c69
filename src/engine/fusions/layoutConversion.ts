import { EventKind } from '../profile/columns';
import type { Fusion } from './fusion';

/**
 * A network converts its layout where data enters and leaves it, and for a weight or two; more than eight a step are
 * conversions between its own operators. Fewer count when they cost a hundredth of the kernel time.
 */
const MANY = 8;
const SHARE = 0.01;

/** TransData: kernels that only change the private layout of an operand (ND, 5HD, FRACTAL_NZ). */
export const layoutConversion: Fusion = {
  id: 'trans-data', title: 'Layout conversions (TransData)', family: 'glue', kind: 'waste', forms: [],
  find: ({ rank, steps, isFree }) => {
    const { deviceEvents: events, strings } = rank;
    if (rank.backend !== 'ascend') {
      return [];
    }
    const found: number[] = [];
    let spent = 0;
    let all = 0;
    for (let i = 0; i < events.count; i++) {
      const duration = events.durationNs[i];
      if (events.kind[i] !== EventKind.Compute || Number.isNaN(duration)) {
        continue;
      }
      all += duration;
      // Named by the type, or by the name where the profiler's level has no types.
      if (isFree(i) && !Number.isNaN(events.startNs[i]) && (strings.get(events.type[i]) === 'TransData' || /TransData/.test(strings.get(events.name[i])))) {
        found.push(i);
        spent += duration;
      }
    }
    return found.length / steps >= MANY || spent >= all * SHARE ? found.map((event) => ({ events: [event], chain: 'transData' })) : [];
  },
};
