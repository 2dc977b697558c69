import type { RankSchedule } from './schedule';

/** The step of one rank in nanoseconds: `span = computeBusy + exposedCommunication + free`. */
export interface Lanes {
  readonly span: number;
  readonly computeBusy: number;
  readonly communicationBusy: number;
  readonly overlapped: number;
  readonly exposedCommunication: number;
  readonly free: number;
  readonly firstNs: number;
  readonly lastNs: number;
}

/** Compute runs on one stream, so its busy time is a plain sum; collectives of different queues may overlap and are merged first. */
export function lanesOf(rank: RankSchedule): Lanes {
  const merged = mergedCollectives(rank);
  let computeBusy = 0;
  let overlapped = 0;
  let at = 0;
  for (let i = 0; i < rank.kernelStart.length; i++) {
    const start = rank.kernelStart[i];
    const end = start + rank.kernelDuration[i];
    computeBusy += end - start;
    while (at < merged.length && merged[at][1] <= start) {
      at++;
    }
    for (let j = at; j < merged.length && merged[j][0] < end; j++) {
      overlapped += Math.min(end, merged[j][1]) - Math.max(start, merged[j][0]);
    }
  }
  const communicationBusy = merged.reduce((sum, [start, end]) => sum + end - start, 0);
  const last = rank.kernelStart.length - 1;
  const firstNs = rank.kernelStart[0];
  const lastNs = Math.max(rank.kernelStart[last] + rank.kernelDuration[last], merged[merged.length - 1]?.[1] ?? 0);
  const exposedCommunication = communicationBusy - overlapped;
  const span = lastNs - firstNs;
  return { span, computeBusy, communicationBusy, overlapped, exposedCommunication, free: span - computeBusy - exposedCommunication, firstNs, lastNs };
}

function mergedCollectives(rank: RankSchedule): [number, number][] {
  const intervals = Array.from(rank.collectiveStart, (start, i): [number, number] => [start, rank.collectiveEnd[i]]).sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [start, end] of intervals) {
    const last = merged[merged.length - 1];
    if (last !== undefined && start <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      merged.push([start, end]);
    }
  }
  return merged;
}
