import type { EventPlace, EventRef, FlowResult } from '../../protocol/timeline';
import { HostKind, type RankData } from '../profile/columns';
import { eventPlace } from './places';

const MOST_KERNELS = 200;

/** A kernel's launch call and operator, and the kernels launched with it; for a host event everything launched inside it. */
export function flow(rank: RankData, ref: EventRef): FlowResult {
  switch (ref.side) {
    case 'device':
      return deviceFlow(rank, ref.index);
    case 'host':
      return hostFlow(rank, ref.index);
    case 'step':
    case 'gap':
    case 'counter':
      return { launch: null, operator: null, kernels: [], total: 0 };
  }
}

function place(rank: RankData, side: 'device' | 'host', index: number): EventPlace | null {
  return index < 0 ? null : eventPlace(rank, { side, index }) ?? null;
}

function deviceFlow(rank: RankData, index: number): FlowResult {
  const { launch, op } = rank.deviceEvents;
  const own = launch[index] ?? -1;
  const found = own < 0 ? { kernels: [index], total: 1 } : collect(rank, (kernel) => launch[kernel] === own);
  return result(rank, own, op[index] ?? -1, found);
}

function hostFlow(rank: RankData, index: number): FlowResult {
  const { deviceEvents, hostEvents } = rank;
  if (index < 0 || index >= hostEvents.count) {
    return { launch: null, operator: null, kernels: [], total: 0 };
  }
  const start = hostEvents.startNs[index];
  const end = start + hostEvents.durationNs[index];
  const thread = hostEvents.thread[index];
  // Launches may happen on a queue thread, but the operator they belong to is on the thread that called it.
  const inside = (host: number): boolean => host >= 0 && (host === index || (hostEvents.thread[host] === thread && hostEvents.startNs[host] >= start && hostEvents.startNs[host] < end));
  const isCall = hostEvents.kind[index] === HostKind.Runtime;
  const found = collect(rank, (kernel) => (isCall ? deviceEvents.launch[kernel] === index : inside(deviceEvents.op[kernel]) || inside(deviceEvents.launch[kernel])));
  return result(rank, isCall ? index : deviceEvents.launch[found.kernels[0]] ?? -1, isCall ? deviceEvents.op[found.kernels[0]] ?? -1 : index, found);
}

function collect({ deviceEvents }: RankData, wanted: (kernel: number) => boolean): { readonly kernels: readonly number[]; readonly total: number } {
  const kernels: number[] = [];
  let total = 0;
  for (let kernel = 0; kernel < deviceEvents.count; kernel++) {
    if (wanted(kernel)) {
      total++;
      if (kernels.length < MOST_KERNELS) {
        kernels.push(kernel);
      }
    }
  }
  return { kernels, total };
}

function result(rank: RankData, launch: number, operator: number, { kernels, total }: { readonly kernels: readonly number[]; readonly total: number }): FlowResult {
  return {
    launch: place(rank, 'host', launch), operator: place(rank, 'host', operator), total,
    kernels: kernels.map((kernel) => place(rank, 'device', kernel)).filter((found): found is EventPlace => found !== null),
  };
}
