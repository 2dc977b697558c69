/**
 * Columns that grow while a trace is read. A trace of 2 GB holds ten million host events, so nothing may be held twice: a
 * full table grows straight to the size the whole file will need, going by how much of it has been read (memory that is
 * reserved but never written costs nothing), and rows are put in order in place.
 *
 * Columns that few rows set (`sequence`, `pythonId`, …) are sparse: they exist only once a row has set them, and hold the
 * difference to their default, so that untouched stretches stay unwritten. A column nobody set costs next to nothing.
 */

type Column = Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;
type ColumnConstructor = new (length: number) => Column;

/** Column name → array type and value of rows that do not set it. */
export type ColumnSpec = Readonly<Record<string, readonly [ColumnConstructor, number]>>;

type ColumnOf<S extends ColumnSpec, K extends keyof S> = InstanceType<S[K][0]>;

const FIRST_CAPACITY = 4096;
/** Largest leap at once: early in a file the estimate is poor. */
const LARGEST_LEAP = 8;
/** Reserved but unused rows that a finished column may keep. */
const SLACK = 1.1;

export class GrowingTable<Dense extends ColumnSpec, Sparse extends ColumnSpec> {
  count = 0;
  private capacity = FIRST_CAPACITY;
  /** Dense columns: write at the row that `add` returned. */
  columns: { readonly [K in keyof Dense]: ColumnOf<Dense, K> };
  /** Sparse columns, as far as a row set them: see `sparseColumn`. */
  optional: { [K in keyof Sparse]?: ColumnOf<Sparse, K> } = {};
  private readonly defaults = new Map<string, Column>();

  /** `fractionRead`: how much of the input has been read, 0 to 1; NaN when unknown. */
  constructor(dense: Dense, private readonly sparse: Sparse, private readonly fractionRead: () => number = () => NaN) {
    const columns: Record<string, Column> = {};
    for (const [name, [type]] of Object.entries(dense)) {
      columns[name] = new type(this.capacity);
    }
    this.columns = columns as typeof this.columns;
  }

  /** Makes room for one more row and returns it. */
  add(): number {
    if (this.count === this.capacity) {
      this.grow();
    }
    return this.count++;
  }

  /**
   * Creates a sparse column. In hot loops: `(t.optional.x ?? t.sparseColumn('x'))[row] = value - default`, with the default
   * of the column's spec.
   */
  sparseColumn<K extends keyof Sparse & string>(name: K): ColumnOf<Sparse, K> {
    const column = new this.sparse[name][0](this.capacity) as ColumnOf<Sparse, K>;
    this.optional[name] = column;
    return column;
  }

  /** The finished column, in the order of `order` where given; each can be taken once. */
  take<K extends keyof Dense & string>(name: K, order?: RowOrder): ColumnOf<Dense, K>;
  take<K extends keyof Sparse & string>(name: K, order?: RowOrder): ColumnOf<Sparse, K>;
  take(name: string, order?: RowOrder): Column {
    const held = this.columns as Record<string, Column | undefined>;
    const dense = held[name];
    if (dense !== undefined) {
      held[name] = undefined;
      return this.finished(dense, order);
    }
    const [, fill] = this.sparse[name];
    const column = (this.optional as Record<string, Column | undefined>)[name];
    if (column === undefined) {
      return this.defaultColumn(this.sparse[name]);
    }
    (this.optional as Record<string, Column | undefined>)[name] = undefined;
    const finished = this.finished(column, order);
    if (fill !== 0) {
      for (let row = 0; row < finished.length; row++) {
        finished[row] += fill;
      }
    }
    return finished;
  }

  private finished(column: Column, order: RowOrder | undefined): Column {
    if (order !== undefined) {
      return order.apply(column.subarray(0, this.count));
    }
    return this.capacity > this.count * SLACK ? column.slice(0, this.count) : column.subarray(0, this.count);
  }

  private defaultColumn(spec: readonly [ColumnConstructor, number]): Column {
    const [type, fill] = spec;
    if (fill === 0) {
      return new type(this.count);
    }
    const key = `${type.name} ${fill}`;
    let column = this.defaults.get(key);
    if (column === undefined) {
      column = new type(this.count).fill(fill);
      this.defaults.set(key, column);
    }
    return column;
  }

  private grow(): void {
    const fraction = this.fractionRead();
    const estimate = fraction > 0 && fraction <= 1 ? Math.ceil((this.count / fraction) * 1.03) : 0;
    this.capacity = Math.max(Math.ceil(this.count * 1.25), Math.min(estimate, this.count * LARGEST_LEAP), this.count < 1 << 18 ? this.count * 2 : 0);
    const enlarge = (columns: { [name: string]: Column | undefined }): void => {
      for (const [name, column] of Object.entries(columns)) {
        if (column !== undefined) {
          const larger = new (column.constructor as ColumnConstructor)(this.capacity);
          larger.set(column);
          columns[name] = larger;
        }
      }
    };
    enlarge(this.columns);
    enlarge(this.optional);
  }
}

/** Tables up to this many rows are put in order through a copy, which is four times faster; larger ones in place. */
const COPIED_ROWS = 4_000_000;

/** An order of rows, applied to columns. */
export class RowOrder {
  private readonly done: Uint8Array;
  private readonly inPlace: boolean;

  /** `order[i]` is the row that belongs at place `i`. */
  constructor(private readonly order: Uint32Array, copiedRows = COPIED_ROWS) {
    this.inPlace = order.length > copiedRows;
    this.done = new Uint8Array(this.inPlace ? order.length : 0);
  }

  /** The column in order: a new one, or `column` itself changed along the cycles of the permutation. */
  apply<C extends Column>(column: C): C {
    return this.inPlace ? this.permuted(column) : this.gathered(column);
  }

  private gathered<C extends Column>(column: C): C {
    const { order } = this;
    const out = new (column.constructor as ColumnConstructor)(order.length) as C;
    // One loop a width, here and below: a loop that meets several array types runs ten times slower.
    switch (column.BYTES_PER_ELEMENT) {
      case 8:
        gather64(column as Float64Array, order, out as Float64Array);
        break;
      case 4:
        gather32(new Int32Array(column.buffer, column.byteOffset, column.length), order, new Int32Array(out.buffer));
        break;
      case 2:
        gather16(new Uint16Array(column.buffer, column.byteOffset, column.length), order, new Uint16Array(out.buffer));
        break;
      default:
        gather8(column as Uint8Array, order, out as Uint8Array);
    }
    return out;
  }

  private permuted<C extends Column>(column: C): C {
    const { order, done } = this;
    done.fill(0);
    switch (column.BYTES_PER_ELEMENT) {
      case 8:
        permute64(column as Float64Array, order, done);
        break;
      case 4:
        permute32(new Int32Array(column.buffer, column.byteOffset, column.length), order, done);
        break;
      case 2:
        permute16(new Uint16Array(column.buffer, column.byteOffset, column.length), order, done);
        break;
      default:
        permute8(column as Uint8Array, order, done);
    }
    return column;
  }
}

function gather64(from: Float64Array, order: Uint32Array, to: Float64Array): void {
  for (let i = 0; i < order.length; i++) {
    to[i] = from[order[i]];
  }
}

function gather32(from: Int32Array, order: Uint32Array, to: Int32Array): void {
  for (let i = 0; i < order.length; i++) {
    to[i] = from[order[i]];
  }
}

function gather16(from: Uint16Array, order: Uint32Array, to: Uint16Array): void {
  for (let i = 0; i < order.length; i++) {
    to[i] = from[order[i]];
  }
}

function gather8(from: Uint8Array, order: Uint32Array, to: Uint8Array): void {
  for (let i = 0; i < order.length; i++) {
    to[i] = from[order[i]];
  }
}

function permute64(column: Float64Array, order: Uint32Array, done: Uint8Array): void {
  for (let first = 0; first < order.length; first++) {
    if (done[first] === 1 || order[first] === first) {
      continue;
    }
    const saved = column[first];
    let at = first;
    for (let from = order[at]; from !== first; from = order[at]) {
      column[at] = column[from];
      done[at] = 1;
      at = from;
    }
    column[at] = saved;
    done[at] = 1;
  }
}

function permute32(column: Int32Array, order: Uint32Array, done: Uint8Array): void {
  for (let first = 0; first < order.length; first++) {
    if (done[first] === 1 || order[first] === first) {
      continue;
    }
    const saved = column[first];
    let at = first;
    for (let from = order[at]; from !== first; from = order[at]) {
      column[at] = column[from];
      done[at] = 1;
      at = from;
    }
    column[at] = saved;
    done[at] = 1;
  }
}

function permute16(column: Uint16Array, order: Uint32Array, done: Uint8Array): void {
  for (let first = 0; first < order.length; first++) {
    if (done[first] === 1 || order[first] === first) {
      continue;
    }
    const saved = column[first];
    let at = first;
    for (let from = order[at]; from !== first; from = order[at]) {
      column[at] = column[from];
      done[at] = 1;
      at = from;
    }
    column[at] = saved;
    done[at] = 1;
  }
}

function permute8(column: Uint8Array, order: Uint32Array, done: Uint8Array): void {
  for (let first = 0; first < order.length; first++) {
    if (done[first] === 1 || order[first] === first) {
      continue;
    }
    const saved = column[first];
    let at = first;
    for (let from = order[at]; from !== first; from = order[at]) {
      column[at] = column[from];
      done[at] = 1;
      at = from;
    }
    column[at] = saved;
    done[at] = 1;
  }
}
