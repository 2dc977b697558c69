import { EventKind, HostKind, type RankData } from '../profile/columns';
import type { WasteRun } from '../chains/wasteView';
import type { Fusion } from './fusion';

/** A copy this short moved a few elements: at 10 GB/s it is under 100 kB, and what it costs is the way, not the bytes. */
const SHORT_NS = 10_000;
/** The wait belongs to the copy when it begins this soon after the copy was handed over. */
const SOON_NS = 50_000;
/** Loss and gradient norm are read once a step for the log; from four on somebody reads values to decide. */
const PER_STEP = 4;
const SYNCHRONISE = /^(cuda|hip)(Stream|Event)Synchronize$|SynchronizeStream/;

/** `item()`, `tolist()`, a scalar made on the device: a few bytes, and the host waits until the device has come so far. */
export const scalarCopy: Fusion = {
  id: 'scalar-copy', title: 'Small copies with host stall', family: 'hostSync', kind: 'waste', forms: [],
  find: ({ rank, steps, isFree }) => {
    const waits = waitsByThread(rank);
    const { deviceEvents: events, hostEvents: host, strings } = rank;
    const found: WasteRun[] = [];
    for (let i = 0; i < events.count; i++) {
      const launch = events.launch[i];
      if (events.kind[i] !== EventKind.Copy || launch < 0 || Number.isNaN(events.startNs[i]) || !(events.durationNs[i] <= SHORT_NS) || !isFree(i)) {
        continue;
      }
      const handedOver = host.startNs[launch] + (Number.isNaN(host.durationNs[launch]) ? 0 : host.durationNs[launch]);
      const wait = nextFrom(waits.get(host.thread[launch]) ?? [], host.startNs, handedOver);
      if (wait >= 0 && host.startNs[wait] - handedOver <= SOON_NS) {
        const way = /DtoH|HtoD|DtoD/.exec(strings.get(events.name[i]))?.[0] ?? 'copy';
        found.push({ events: [i], chain: `${way} synchronize`, stallNs: host.durationNs[wait] });
      }
    }
    const counts = new Map<string, number>();
    found.forEach(({ chain }) => counts.set(chain, (counts.get(chain) ?? 0) + 1));
    return found.filter(({ chain }) => (counts.get(chain) ?? 0) / steps >= PER_STEP);
  },
};

/** Synchronising calls of each thread by start. */
function waitsByThread({ hostEvents: host, strings }: RankData): ReadonlyMap<number, readonly number[]> {
  const isWait = new Map<number, boolean>();
  const waits = new Map<number, number[]>();
  for (let i = 0; i < host.count; i++) {
    if (host.kind[i] !== HostKind.Runtime && host.kind[i] !== HostKind.Other) {
      continue;
    }
    let is = isWait.get(host.name[i]);
    if (is === undefined) {
      is = SYNCHRONISE.test(strings.get(host.name[i]));
      isWait.set(host.name[i], is);
    }
    if (is) {
      const list = waits.get(host.thread[i]);
      if (list === undefined) {
        waits.set(host.thread[i], [i]);
      } else {
        list.push(i);
      }
    }
  }
  return waits;
}

/** First of `rows` (sorted by start) that starts at `from` or later, -1 none. */
function nextFrom(rows: readonly number[], startNs: Float64Array, from: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startNs[rows[middle]] < from) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return rows[low] ?? -1;
}
