/**
 * Device event → the runtime call that launched it, by the correlation id both carry; → the innermost framework operator
 * round that call, by time on its thread. Works on columns and the correlation ids a reader kept while reading.
 */
import type { DeviceEvents, HostEvents, StringTableLike } from '../profile/columns';
import { DeviceFlag, HostKind } from '../profile/columns';
import type { Nesting } from './nesting';

/** Correlations that mean "none". */
function isCorrelation(id: number): boolean {
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
  /** Saturates at 255. */
  const uses = new Uint8Array(table.row.length);
  let withoutLaunch = 0;
  for (let i = 0; i < device.count; i++) {
    const slot = table.find(deviceIds[i]);
    const launch = slot < 0 ? -1 : table.row[slot];
    device.launch[i] = launch;
    if (launch < 0) {
      withoutLaunch++;
      continue;
    }
    uses[slot] += uses[slot] < 255 ? 1 : 0;
    if (nameIsGraph(host.name[launch])) {
      device.flags[i] |= DeviceFlag.GraphReplay;
    }
  }
  let sharedLaunches = 0;
  let sharedEvents = 0;
  for (const count of uses) {
    sharedLaunches += count > 1 ? 1 : 0;
  }
  for (let i = 0; i < device.count && sharedLaunches > 0; i++) {
    const slot = device.launch[i] < 0 ? -1 : table.find(deviceIds[i]);
    sharedEvents += slot >= 0 && uses[slot] > 1 ? 1 : 0;
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

export interface ExternalIdOutcome {
  /** Device events linked by their external id alone. */
  readonly linked: number;
  /** Device events with an external id that is an operator's, and a launch inside an operator. */
  readonly compared: number;
  /** Of these, how many name another operator. */
  readonly disagreed: number;
}

/**
 * `External id` names the operator in some eras and something unrelated in others (kineto#520, #843): it is used for
 * device events without a launch only if it agrees with the link by time where both are known. Where they disagree the
 * launch is followed.
 */
export function linkByExternalId(device: DeviceEvents, host: HostEvents, deviceIds: ArrayLike<number>, hostIds: ArrayLike<number>): ExternalIdOutcome {
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
  let unnamed = 0;
  for (let i = 0; i < device.count; i++) {
    if (device.launch[i] < 0 || device.op[i] < 0 || !isCorrelation(deviceIds[i])) {
      continue;
    }
    const slot = wanted.find(deviceIds[i]);
    if (slot < 0 || wanted.row[slot] < 0) {
      unnamed++;
      continue;
    }
    compared++;
    agreed += wanted.row[slot] === device.op[i] ? 1 : 0;
  }
  let linked = 0;
  const outcome = (): ExternalIdOutcome => ({ linked, compared, disagreed: compared - agreed });
  if (compared + unnamed < 8 || agreed < (compared + unnamed) * 0.95) {
    return outcome();
  }
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
  return outcome();
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

/**
 * The ids of device events, each with a slot and the host row found for it. Ids that lie close together (most files count
 * them up) are their own slots, 4 bytes each; others go through an open-addressing table. A Map would take 50 bytes an id.
 */
class IdTable {
  /** Host row found for the id of each slot, -1 none yet. */
  readonly row: Int32Array;
  private readonly keys: Float64Array | undefined;
  private readonly mask: number;
  private readonly least: number;
  private readonly most: number;

  constructor(ids: ArrayLike<number>, count: number) {
    let least = Infinity;
    let most = -Infinity;
    for (let i = 0; i < count; i++) {
      if (isCorrelation(ids[i])) {
        least = Math.min(least, ids[i]);
        most = Math.max(most, ids[i]);
      }
    }
    this.least = least;
    this.most = most;
    const extent = most - least + 1;
    if (extent <= Math.max(1024, count * 6)) {
      this.keys = undefined;
      this.mask = 0;
      this.row = new Int32Array(Math.max(0, extent)).fill(-1);
      return;
    }
    let size = 16;
    while (size < count * 2) {
      size *= 2;
    }
    this.mask = size - 1;
    this.row = new Int32Array(size).fill(-1);
    const keys = new Float64Array(size).fill(NaN);
    this.keys = keys;
    for (let i = 0; i < count; i++) {
      if (isCorrelation(ids[i])) {
        keys[this.slotOf(keys, ids[i])] = ids[i];
      }
    }
  }

  /** Slot of an id, -1 when no device event can have it. */
  find(id: number): number {
    if (!isCorrelation(id) || id < this.least || id > this.most) {
      return -1;
    }
    if (this.keys === undefined) {
      return id - this.least;
    }
    const slot = this.slotOf(this.keys, id);
    return this.keys[slot] === id ? slot : -1;
  }

  private slotOf(keys: Float64Array, id: number): number {
    let slot = ((Math.imul(id | 0, 0x9e3779b1) ^ Math.imul((id / 4294967296) | 0, 0x85ebca6b)) >>> 4) & this.mask;
    while (keys[slot] === keys[slot] && keys[slot] !== id) {
      slot = (slot + 1) & this.mask;
    }
    return slot;
  }
}
