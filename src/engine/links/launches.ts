/**
 * Device event → the runtime call that launched it, by the correlation id both carry; → the innermost framework operator
 * round that call, by time on its thread. Works on columns and the correlation ids a reader kept while reading.
 */
import type { DeviceEvents, HostEvents, StringTableLike } from '../profile/columns';
import { DeviceFlag, HostKind } from '../profile/columns';
import type { Nesting } from './nesting';

/** Correlations that mean "none". */
export function isCorrelation(id: number): boolean {
  return id === id && id !== 0 && id !== -1;
}

export interface LaunchOutcome {
  /** Device events with no launch in the recording. */
  readonly withoutLaunch: number;
  /** Launches that several device events share (graph replays), and how many events they cover. */
  readonly sharedLaunches: number;
  readonly sharedEvents: number;
}

/** Driver calls (`cuLaunchKernel`) give way to runtime calls (`cudaLaunchKernel`) with the same correlation. */
const DRIVER_CALL = /^cu(?!da)[A-Z]/;
const GRAPH_LAUNCH = /GraphLaunch/;

/**
 * Fills `device.launch` and the graph-replay flag. `deviceIds[i]` and `hostIds[i]` are correlations (NaN, 0 and -1: none);
 * only host rows of kind Runtime take part. Device events that share an id share the launch; those without one stay alone.
 */
export function linkLaunches(device: DeviceEvents, host: HostEvents, deviceIds: ArrayLike<number>, hostIds: ArrayLike<number>, strings: StringTableLike): LaunchOutcome {
  const table = new IdTable(deviceIds, device.count);
  const nameIsDriver = memoByName(strings, DRIVER_CALL);
  const nameIsGraph = memoByName(strings, GRAPH_LAUNCH);
  for (let row = 0; row < host.count; row++) {
    if (host.kind[row] !== HostKind.Runtime) {
      continue;
    }
    const slot = table.find(hostIds[row]);
    if (slot < 0) {
      continue;
    }
    const known = table.row[slot];
    if (known < 0 || (nameIsDriver(host.name[known]) && !nameIsDriver(host.name[row]))) {
      table.row[slot] = row;
    }
  }
  const uses = new Int32Array(table.row.length);
  let withoutLaunch = 0;
  for (let i = 0; i < device.count; i++) {
    const slot = table.find(deviceIds[i]);
    const launch = slot < 0 ? -1 : table.row[slot];
    device.launch[i] = launch;
    if (launch < 0) {
      withoutLaunch++;
      continue;
    }
    uses[slot]++;
    if (nameIsGraph(host.name[launch])) {
      device.flags[i] |= DeviceFlag.GraphReplay;
    }
  }
  let sharedLaunches = 0;
  let sharedEvents = 0;
  for (const count of uses) {
    if (count > 1) {
      sharedLaunches++;
      sharedEvents += count;
    }
  }
  return { withoutLaunch, sharedLaunches, sharedEvents };
}

/** Fills `device.op` with the innermost operator that encloses the start of each launch. `operators` nests HostKind.Operator. */
export function linkOperators(device: DeviceEvents, host: HostEvents, operators: Nesting): void {
  for (let i = 0; i < device.count; i++) {
    const launch = device.launch[i];
    device.op[i] = launch < 0 ? -1 : operators.innermost(host.thread[launch], host.startNs[launch]);
  }
}

/**
 * `External id` names the operator in some eras and something unrelated in others (kineto#520, #843): it is used for
 * device events without a launch only if it agrees with the link by time on a sample. Returns how many were linked.
 */
export function linkByExternalId(device: DeviceEvents, host: HostEvents, deviceIds: ArrayLike<number>, hostIds: ArrayLike<number>): number {
  const wanted = new IdTable(deviceIds, device.count);
  for (let row = 0; row < host.count; row++) {
    if (host.kind[row] === HostKind.Operator) {
      const slot = wanted.find(hostIds[row]);
      if (slot >= 0) {
        wanted.row[slot] = row;
      }
    }
  }
  let compared = 0;
  let agreed = 0;
  for (let i = 0; i < device.count && compared < 1000; i++) {
    if (device.launch[i] < 0 || device.op[i] < 0 || !isCorrelation(deviceIds[i])) {
      continue;
    }
    compared++;
    const slot = wanted.find(deviceIds[i]);
    agreed += slot >= 0 && wanted.row[slot] === device.op[i] ? 1 : 0;
  }
  if (compared < 8 || agreed < compared * 0.95) {
    return 0;
  }
  let linked = 0;
  for (let i = 0; i < device.count; i++) {
    if (device.launch[i] >= 0 || device.op[i] >= 0) {
      continue;
    }
    const slot = wanted.find(deviceIds[i]);
    if (slot >= 0 && wanted.row[slot] >= 0) {
      device.op[i] = wanted.row[slot];
      linked++;
    }
  }
  return linked;
}

function memoByName(strings: StringTableLike, pattern: RegExp): (name: number) => boolean {
  const known = new Int8Array(strings.size).fill(-1);
  return name => {
    if (known[name] < 0) {
      known[name] = pattern.test(strings.get(name)) ? 1 : 0;
    }
    return known[name] === 1;
  };
}

/** Open-addressing table of the ids of device events: 12 bytes a slot, where a Map of millions of ids would take 50. */
class IdTable {
  private readonly keys: Float64Array;
  private readonly mask: number;
  /** Host row found for the id of each slot, -1 none yet. */
  readonly row: Int32Array;

  constructor(ids: ArrayLike<number>, count: number) {
    let size = 16;
    while (size < count * 2) {
      size *= 2;
    }
    this.mask = size - 1;
    this.keys = new Float64Array(size).fill(NaN);
    this.row = new Int32Array(size).fill(-1);
    for (let i = 0; i < count; i++) {
      if (isCorrelation(ids[i])) {
        this.keys[this.slotOf(ids[i])] = ids[i];
      }
    }
  }

  find(id: number): number {
    if (!isCorrelation(id)) {
      return -1;
    }
    const slot = this.slotOf(id);
    return this.keys[slot] === id ? slot : -1;
  }

  private slotOf(id: number): number {
    let slot = (Math.imul(id | 0, 0x9e3779b1) ^ Math.imul((id / 4294967296) | 0, 0x85ebca6b)) >>> 7 & this.mask;
    while (this.keys[slot] === this.keys[slot] && this.keys[slot] !== id) {
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }
}
