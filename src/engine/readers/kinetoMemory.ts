/** `[memory]` instants of `profile_memory`: allocated and reserved bytes over time, one series a device. */
import type { MemorySeries } from '../profile/columns';
import { ArgumentKeys, FoundArguments } from './traceArguments';
import { parseInteger } from './traceNumbers';
import type { TraceEvent } from './traceScanner';

const KEYS = new ArgumentKeys(['Total Allocated', 'Total Reserved', 'Device Type', 'Device Id']);

/** `c10::DeviceType` numbers that occur. */
const DEVICE_TYPES: Readonly<Record<number, string>> = { 0: 'cpu', 1: 'cuda', 6: 'hip', 12: 'xpu', 20: 'privateuse1' };

interface Growing {
  readonly timeNs: number[];
  readonly allocated: number[];
  readonly reserved: number[];
}

/** Samples kept a device; beyond that the recording is thinned by halves, so that a series stays a few MB. */
const MOST_SAMPLES = 1 << 20;

export class KinetoMemory {
  private readonly found = new FoundArguments(KEYS);
  private readonly series = new Map<string, Growing>();

  /** False when the instant carries no totals (2021 files hold single allocations only). */
  add(event: TraceEvent, timeNs: number): boolean {
    this.found.readEvent(event);
    const [allocated, reserved, type, id] = [0, 1, 2, 3].map(slot =>
      (this.found.start[slot] < 0 ? NaN : parseInteger(event.bytes, this.found.start[slot], this.found.end[slot])));
    if (Number.isNaN(allocated) || !Number.isFinite(timeNs)) {
      return false;
    }
    const name = DEVICE_TYPES[type] ?? `device type ${type}`;
    const device = id >= 0 ? `${name}:${id}` : name;
    let series = this.series.get(device);
    if (series === undefined) {
      series = { timeNs: [], allocated: [], reserved: [] };
      this.series.set(device, series);
    }
    series.timeNs.push(timeNs);
    series.allocated.push(allocated);
    series.reserved.push(reserved);
    if (series.timeNs.length === MOST_SAMPLES) {
      for (const list of [series.timeNs, series.allocated, series.reserved]) {
        for (let i = 0; i < MOST_SAMPLES / 2; i++) {
          list[i] = list[2 * i];
        }
        list.length = MOST_SAMPLES / 2;
      }
    }
    return true;
  }

  toArray(): readonly MemorySeries[] {
    return [...this.series].map(([device, { timeNs, allocated, reserved }]) => {
      const order = Uint32Array.from(timeNs, (_time, i) => i).sort((a, b) => timeNs[a] - timeNs[b] || a - b);
      const column = (values: readonly number[]): Float64Array => Float64Array.from(order, row => values[row]);
      return {
        component: 'PyTorch', device, timeNs: column(timeNs), allocatedBytes: column(allocated), reservedBytes: column(reserved),
        activeBytes: new Float64Array(timeNs.length).fill(NaN),
      };
    });
  }
}
