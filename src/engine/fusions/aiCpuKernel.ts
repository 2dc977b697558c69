import { EventKind } from '../profile/columns';
import { ascendToken } from '../operators/kernelToken';
import type { Fusion } from './fusion';

/** One in a step may be the cheapest way; two are a habit. A single one counts from the time a vector kernel never takes for so little data. */
const TWICE = 2;
const LONG_NS = 50_000;

/** Operators that the vector and cube cores have no kernel for: they run on the device's control CPUs. Collectives expand there by design. */
export const aiCpuKernel: Fusion = {
  id: 'ai-cpu', title: 'Operator on the AI CPU', family: 'other', kind: 'waste', forms: [],
  find: ({ rank, steps, isFree }) => {
    const { deviceEvents: events, strings } = rank;
    if (rank.backend !== 'ascend') {
      return [];
    }
    const groups = new Map<string, { readonly events: number[]; longest: number }>();
    for (let i = 0; i < events.count; i++) {
      const name = strings.get(events.name[i]);
      if (events.kind[i] !== EventKind.Compute || Number.isNaN(events.startNs[i]) || !isFree(i) || !(strings.get(events.core[i]) === 'AI_CPU' || /AiCpu_/.test(name)) || /^(hcom|hccl|allreduce)/i.test(name)) {
        continue;
      }
      const type = strings.get(events.type[i]);
      const { op } = ascendToken(name, type);
      const key = `AiCpu ${op === '' ? type : op}`;
      const group = groups.get(key) ?? { events: [], longest: 0 };
      groups.set(key, group);
      group.events.push(i);
      group.longest = Math.max(group.longest, Number.isNaN(events.durationNs[i]) ? 0 : events.durationNs[i]);
    }
    return [...groups].filter(([, group]) => group.events.length / steps >= TWICE || group.longest >= LONG_NS).flatMap(([chain, group]) => group.events.map((event) => ({ events: [event], chain })));
  },
};
