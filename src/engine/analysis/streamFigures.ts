import type { StreamFigures } from '../../protocol/report';
import type { DeviceEvents, StreamInfo } from '../profile/columns';
import { isKernel, type Selection } from './selection';
import { microseconds } from './units';

/**
 * One row per stream that ran something in the window. `count` and `totalUs` are over kernels; first, last, busy and idle
 * over everything on the stream, copies included, since a copy keeps a stream busy too.
 */
export function streamFigures(events: DeviceEvents, selection: Selection, streams: readonly StreamInfo[]): readonly StreamFigures[] {
  const size = streams.length;
  const used = new Uint8Array(size);
  const count = new Uint32Array(size);
  const totalNs = new Float64Array(size);
  const busyNs = new Float64Array(size);
  const firstNs = new Float64Array(size).fill(NaN);
  const lastNs = new Float64Array(size).fill(NaN);
  const add = (row: number): void => {
    const stream = events.stream[row];
    used[stream] = 1;
    if (isKernel(events.kind[row])) {
      count[stream]++;
      const duration = events.durationNs[row];
      totalNs[stream] += Number.isNaN(duration) ? 0 : duration;
    }
  };
  const { rows } = selection;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    add(row);
    const stream = events.stream[row];
    const start = events.startNs[row];
    const end = start + events.durationNs[row];
    if (Number.isNaN(end)) {
      continue;
    }
    if (Number.isNaN(firstNs[stream])) {
      firstNs[stream] = start;
      lastNs[stream] = start;
    }
    // Rows come by start, so what lies after the latest end so far is new busy time.
    if (end > lastNs[stream]) {
      busyNs[stream] += end - Math.max(start, lastNs[stream]);
      lastNs[stream] = end;
    }
  }
  for (const row of selection.unplaced) {
    add(row);
  }
  return streams.flatMap((info, i) => used[i] === 0 ? [] : [{
    device: info.device === undefined ? null : String(info.device),
    stream: info.stream ?? null,
    label: info.label,
    count: count[i],
    totalUs: totalNs[i] / 1000,
    busyUs: microseconds(Number.isNaN(firstNs[i]) ? NaN : busyNs[i]),
    idleUs: microseconds(lastNs[i] - firstNs[i] - busyNs[i]),
    firstUs: microseconds(firstNs[i]),
    lastUs: microseconds(lastNs[i]),
  }]);
}
