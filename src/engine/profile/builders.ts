import type { DeviceEvents, HostEvents } from './columns';
import { EventKind, HostKind } from './columns';

type Column = Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;
type ColumnType<C> = C extends Float64Array ? Float64ArrayConstructor
  : C extends Uint32Array ? Uint32ArrayConstructor
  : C extends Int32Array ? Int32ArrayConstructor
  : C extends Uint16Array ? Uint16ArrayConstructor
  : C extends Int16Array ? Int16ArrayConstructor : Uint8ArrayConstructor;

type Spec<T> = { readonly [K in keyof T as K extends 'count' ? never : K]: readonly [ColumnType<T[K]>, number] };

/** Every device column with its array type and the value of a row that does not set it. */
const DEVICE_COLUMNS: Spec<DeviceEvents> = {
  startNs: [Float64Array, NaN], durationNs: [Float64Array, NaN],
  name: [Uint32Array, 0], type: [Uint32Array, 0], core: [Uint16Array, 0], shapes: [Uint32Array, 0], dtypes: [Uint32Array, 0],
  stream: [Uint16Array, 0], kind: [Uint8Array, EventKind.Compute], flags: [Uint8Array, 0], family: [Uint8Array, 0],
  step: [Int32Array, -1], launch: [Int32Array, -1], op: [Int32Array, -1], detailAt: [Float64Array, 0], detailLength: [Uint16Array, 0],
};

/** Every host column likewise. */
const HOST_COLUMNS: Spec<HostEvents> = {
  startNs: [Float64Array, NaN], durationNs: [Float64Array, NaN], name: [Uint32Array, 0], kind: [Uint8Array, HostKind.Other],
  thread: [Uint16Array, 0], sequence: [Int32Array, -1], forwardThread: [Int32Array, -1], forward: [Int32Array, -1], stack: [Uint32Array, 0],
  pythonId: [Int32Array, -1], pythonParent: [Int32Array, -1], detailAt: [Float64Array, 0], detailLength: [Uint32Array, 0],
};

/**
 * A table that grows by doubling. Hot loops write straight into `columns.x[row]` after `add()`; `finish()` gives exact-size
 * arrays. Start with an estimate (bytes of the file / 300): growing copies, a far too large guess costs page faults.
 */
export class TableBuilder<T extends { readonly count: number }> {
  columns: { [K in keyof T as K extends 'count' ? never : K]: T[K] };
  count = 0;
  private capacity: number;

  constructor(private readonly spec: Spec<T>, capacity: number) {
    this.capacity = Math.max(16, capacity);
    const columns: Record<string, Column> = {};
    for (const [name, [type, fill]] of Object.entries(spec) as [string, [new (n: number) => Column, number]][]) {
      const column = new type(this.capacity);
      if (fill !== 0) {
        column.fill(fill);
      }
      columns[name] = column;
    }
    this.columns = columns as unknown as typeof this.columns;
  }

  /** Makes room for one more row and returns its index; its cells hold the defaults. */
  add(): number {
    if (this.count === this.capacity) {
      this.resize(this.capacity * 2);
    }
    return this.count++;
  }

  /** The finished table; `order`, if given, lists the rows to keep, in the wanted order. */
  finish(order?: Uint32Array): T {
    const count = order?.length ?? this.count;
    const result: Record<string, unknown> = { count };
    for (const [name, column] of Object.entries(this.columns) as [string, Column][]) {
      if (order === undefined) {
        result[name] = column.slice(0, count);
        continue;
      }
      const out = new (column.constructor as new (n: number) => Column)(count);
      for (let i = 0; i < count; i++) {
        out[i] = column[order[i]];
      }
      result[name] = out;
    }
    return result as unknown as T;
  }

  private resize(capacity: number): void {
    const columns: Record<string, Column> = {};
    for (const [name, [type, fill]] of Object.entries(this.spec) as [string, [new (n: number) => Column, number]][]) {
      const column = new type(capacity);
      column.set((this.columns as unknown as Record<string, Column>)[name]);
      if (fill !== 0) {
        column.fill(fill, this.capacity);
      }
      columns[name] = column;
    }
    this.columns = columns as unknown as typeof this.columns;
    this.capacity = capacity;
  }
}

export const deviceBuilder = (capacity: number): TableBuilder<DeviceEvents> => new TableBuilder<DeviceEvents>(DEVICE_COLUMNS, capacity);
export const hostBuilder = (capacity: number): TableBuilder<HostEvents> => new TableBuilder<HostEvents>(HOST_COLUMNS, capacity);

/** An empty table, for formats that have no such side. */
export const noHostEvents = (): HostEvents => hostBuilder(16).finish();
export const noDeviceEvents = (): DeviceEvents => deviceBuilder(16).finish();
