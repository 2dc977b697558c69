/**
 * Backward operator → the forward operator whose gradient it computes. Both carry the same autograd `Sequence number`;
 * several forward operators can, since the number only rises when a node is made: the one that starts last before the
 * backward operator is meant. `fwdbwd` flows state the same pair and are preferred where the file has them.
 */
import type { HostEvents, StringTableLike } from '../profile/columns';
import { HostKind } from '../profile/columns';
import type { Nesting } from './nesting';

/** Flow ends as a reader met them, in parallel arrays. `thread` is an index into `RankData.threads`, -1 unknown. */
export class FlowList {
  readonly id: number[] = [];
  readonly timeNs: number[] = [];
  readonly thread: number[] = [];
  readonly isStart: boolean[] = [];

  add(id: number, timeNs: number, thread: number, isStart: boolean): void {
    this.id.push(id);
    this.timeNs.push(timeNs);
    this.thread.push(thread);
    this.isStart.push(isStart);
  }
}

const BACKWARD = /Backward|^autograd::/;

/** The `forward` column; undefined when nothing in the recording has a forward operator. */
export function linkForward(host: HostEvents, strings: StringTableLike, operators: Nesting, flows?: FlowList, processOf?: (thread: number) => number): Int32Array | undefined {
  if (!hasSequences(host)) {
    return undefined;
  }
  const forward = new Int32Array(host.count).fill(-1);
  const backwardName = new Int8Array(strings.size).fill(-1);
  const isBackwardName = (name: number): boolean => {
    if (backwardName[name] < 0) {
      backwardName[name] = BACKWARD.test(strings.get(name)) ? 1 : 0;
    }
    return backwardName[name] === 1;
  };
  let found = false;
  const latest = new Map<number, number>();
  for (let row = 0; row < host.count; row++) {
    if (host.kind[row] !== HostKind.Operator || host.sequence[row] < 0) {
      continue;
    }
    // Sequence numbers count per process; merged files hold several.
    const key = host.sequence[row] * 4096 + ((processOf?.(host.thread[row]) ?? 0) & 4095);
    if (host.forwardThread[row] > 0 || isBackwardName(host.name[row])) {
      const candidate = latest.get(key);
      if (candidate !== undefined) {
        forward[row] = candidate;
        found = true;
      }
    }
    if (!isBackwardName(host.name[row])) {
      latest.set(key, row);
    }
  }
  if (flows !== undefined && applyFlows(host, operators, flows, forward)) {
    found = true;
  }
  return found ? forward : undefined;
}

/** Recordings of inference have none: then no column is made. */
function hasSequences(host: HostEvents): boolean {
  for (let row = 0; row < host.count; row++) {
    if (host.sequence[row] >= 0) {
      return true;
    }
  }
  return false;
}

function applyFlows(host: HostEvents, operators: Nesting, flows: FlowList, forward: Int32Array): boolean {
  const starts = new Map<number, number>();
  for (let i = 0; i < flows.id.length; i++) {
    if (flows.isStart[i]) {
      starts.set(flows.id[i], i);
    }
  }
  let found = false;
  for (let i = 0; i < flows.id.length; i++) {
    const start = flows.isStart[i] ? undefined : starts.get(flows.id[i]);
    if (start === undefined) {
      continue;
    }
    const backward = operators.findEnclosing(flows.thread[i], flows.timeNs[i], row => host.sequence[row] >= 0);
    if (backward < 0) {
      continue;
    }
    const at = flows.timeNs[start];
    const thread = flows.thread[start];
    const source = firstOf(
      () => operators.findEnclosing(thread, at, row => host.startNs[row] === at && host.sequence[row] === host.sequence[backward]),
      () => operators.findEnclosing(thread, at, row => host.startNs[row] === at),
    );
    if (source >= 0 && source !== backward) {
      forward[backward] = source;
      found = true;
    }
  }
  return found;
}

function firstOf(...tries: readonly (() => number)[]): number {
  for (const attempt of tries) {
    const row = attempt();
    if (row >= 0) {
      return row;
    }
  }
  return -1;
}
