import type { MemoryDigest } from '../../protocol/compare';
import type { MemorySeries, RankData } from '../profile/columns';

/** Points of a curve as it crosses a border. */
const POINTS = 240;
/** The allocator of the framework comes before the process and the driver. */
const FRAMEWORK = ['PTA', 'PyTorch', 'PTA+GE', 'GE', 'APP'];

/** Reserved device memory of one rank: the framework's own series where the profile has it; null when nothing was recorded. */
export function memoryDigest(rank: RankData): MemoryDigest | null {
  const usable = rank.memory.filter(({ device, reservedBytes }) => !/^cpu\b/i.test(device) && reservedBytes.some((bytes) => bytes > 0));
  const place = ({ component }: MemorySeries): number => { const at = FRAMEWORK.indexOf(component); return at < 0 ? FRAMEWORK.length : at; };
  const series = [...usable].sort((a, b) => place(a) - place(b) || largest(b.reservedBytes) - largest(a.reservedBytes)).at(0);
  if (series === undefined) {
    return null;
  }
  return { component: series.component, peakReservedBytes: orNull(largest(series.reservedBytes)), peakAllocatedBytes: orNull(largest(series.allocatedBytes)), curve: thinned(series) };
}

function largest(values: Float64Array): number {
  let most = NaN;
  for (const value of values) {
    most = value > most || Number.isNaN(most) ? value : most;
  }
  return most;
}

const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The highest of each of equally many records, at its own time. */
function thinned({ timeNs, reservedBytes }: MemorySeries): readonly (readonly [number, number])[] {
  const known: number[] = [];
  for (let i = 0; i < timeNs.length; i++) {
    if (Number.isFinite(timeNs[i]) && Number.isFinite(reservedBytes[i])) {
      known.push(i);
    }
  }
  known.sort((a, b) => timeNs[a] - timeNs[b]);
  const points: (readonly [number, number])[] = [];
  const size = Math.max(1, Math.ceil(known.length / POINTS));
  for (let from = 0; from < known.length; from += size) {
    const best = known.slice(from, from + size).reduce((most, i) => (reservedBytes[i] > reservedBytes[most] ? i : most));
    points.push([(timeNs[best] - timeNs[known[0]]) / 1e6, reservedBytes[best]]);
  }
  return points;
}
