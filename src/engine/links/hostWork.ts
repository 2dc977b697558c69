/**
 * What a program that ran on the CPU computed, as the events that chains are looked for in. A recording without a device has
 * no kernels, and its figures say so; but the operators ran one after the other, as kernels would.
 */
import { atenWork } from '../operators/atenToken';
import { DeviceFlag, EventKind, HostKind, type DeviceEvents, type RankData } from '../profile/columns';
import { operatorsOf } from './frames';
import { assignSteps } from './steps';

const COLLECTIVE = /^gloo:/;

const made = new WeakMap<RankData, RankData>();

/** Whether the rank's work is that of its host operators: recorded on the CPU, no device event in it. */
export const isHostWork = ({ backend, deviceEvents, coverage }: RankData): boolean => backend === 'cpu' && deviceEvents.count === 0 && coverage.hostOperators;

/**
 * The rank with its operators in the place of device events (threads in that of streams), where it has no device; else the rank
 * itself. An operator that is made of others counts as a whole where the operator table knows it, else by those it is made of.
 */
export function workOf(rank: RankData): RankData {
  if (!isHostWork(rank)) {
    return rank;
  }
  let work = made.get(rank);
  if (work === undefined) {
    const deviceEvents = eventsOf(rank, workRows(rank));
    assignSteps(deviceEvents, rank.hostEvents, rank.steps, true);
    work = { ...rank, deviceEvents, streams: rank.threads.map(({ thread, label }) => ({ device: undefined, stream: thread, label })) };
    made.set(rank, work);
  }
  return work;
}

/** Host rows that stand for work, ascending. */
function workRows({ hostEvents: host, strings, threads }: RankData): Uint32Array {
  const kinds = new Map<number, ReturnType<typeof atenWork> | 'collective'>();
  const kindOf = (row: number): ReturnType<typeof atenWork> | 'collective' => {
    let kind = kinds.get(host.name[row]);
    if (kind === undefined) {
      const name = strings.get(host.name[row]);
      kind = COLLECTIVE.test(name) ? 'collective' : atenWork(name);
      kinds.set(host.name[row], kind);
    }
    return kind;
  };
  const taken = new Uint8Array(host.count);
  /** Open operators of each thread, outermost first. */
  const open: number[][] = threads.map(() => []);
  for (let row = 0; row < host.count; row++) {
    const start = host.startNs[row];
    if (Number.isNaN(start) || (host.kind[row] !== HostKind.Operator && !(host.kind[row] === HostKind.Annotation && kindOf(row) === 'collective'))) {
      continue;
    }
    const stack = open[host.thread[row]];
    while (stack.length > 0 && host.startNs[stack[stack.length - 1]] + (host.durationNs[stack[stack.length - 1]] || 0) < start) {
      stack.pop();
    }
    const parent = stack[stack.length - 1];
    if (parent !== undefined && taken[parent] === TAKEN) {
      // Inside work that counts as a whole: its end decides, nothing in it does.
      continue;
    }
    const kind = kindOf(row);
    if (kind !== 'none') {
      for (const outer of stack) {
        taken[outer] = 0;
      }
    }
    taken[row] = kind === 'work' || kind === 'collective' ? TAKEN : kind === 'unknown' ? LEAF : 0;
    stack.push(row);
  }
  const rows: number[] = [];
  taken.forEach((value, row) => {
    if (value !== 0) {
      rows.push(row);
    }
  });
  return Uint32Array.from(rows);
}

const TAKEN = 1;
/** Work as far as nothing else is found inside it. */
const LEAF = 2;

function eventsOf(rank: RankData, rows: Uint32Array): DeviceEvents {
  const { hostEvents: host, strings } = rank;
  const count = rows.length;
  const operators = operatorsOf(rank);
  const rowIndex = Int32Array.from(rows);
  const flags = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const row = rows[i];
    flags[i] = operators.findEnclosing(host.thread[row], host.startNs[row], (op) => host.forward[op] >= 0) >= 0 ? DeviceFlag.Backward : 0;
  }
  return {
    count, flags, startNs: Float64Array.from(rows, (row) => host.startNs[row]), durationNs: Float64Array.from(rows, (row) => host.durationNs[row]), name: Uint32Array.from(rows, (row) => host.name[row]), stream: Uint16Array.from(rows, (row) => host.thread[row]),
    kind: Uint8Array.from(rows, (row) => (COLLECTIVE.test(strings.get(host.name[row])) ? EventKind.Communication : EventKind.Compute)),
    type: new Uint32Array(count), core: new Uint16Array(count), shapes: new Uint32Array(count), dtypes: new Uint32Array(count), family: new Uint8Array(count), step: new Int32Array(count).fill(-1),
    launch: rowIndex, op: rowIndex, detailAt: Float64Array.from(rows, (row) => host.detailAt[row]), detailLength: Uint16Array.from(rows, (row) => Math.min(host.detailLength[row], 0xffff)),
  };
}
