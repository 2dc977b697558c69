/**
 * Columns that grow in blocks. A trace of 2 GB holds ten million host events: growing by doubling would copy all columns
 * at once and need three times their size. Blocks are allocated once, and turned into flat columns one column at a time.
 *
 * Columns that few rows set (`sequence`, `pythonId`, …) are sparse: a block of theirs exists only where one was set, and a
 * column nobody set costs no memory at all (zeros are untouched pages; other defaults share one array per table).
 */

type Column = Float64Array | Uint32Array | Int32Array | Uint16Array | Int16Array | Uint8Array;
type ColumnConstructor = new (length: number) => Column;

/** Column name → array type and value of rows that do not set it. */
export type ColumnSpec = Readonly<Record<string, readonly [ColumnConstructor, number]>>;

type ColumnOf<S extends ColumnSpec, K extends keyof S> = InstanceType<S[K][0]>;

const BLOCK_BITS = 15;
const BLOCK = 1 << BLOCK_BITS;
const BLOCK_MASK = BLOCK - 1;

export class BlockTable<Dense extends ColumnSpec, Sparse extends ColumnSpec> {
  count = 0;
  /** Dense columns of the block being filled: write at the index that `add` returned. */
  block: { readonly [K in keyof Dense]: ColumnOf<Dense, K> };
  /** Sparse columns of the block being filled, as far as a row of it set them: see `sparseColumn`. */
  optional: { [K in keyof Sparse]?: ColumnOf<Sparse, K> } = {};
  private readonly blocks = new Map<string, Column[]>();
  private readonly sparseBlocks = new Map<string, (Column | undefined)[]>();
  private readonly defaults = new Map<string, Column>();

  constructor(private readonly dense: Dense, private readonly sparse: Sparse) {
    for (const name of Object.keys(dense)) {
      this.blocks.set(name, []);
    }
    for (const name of Object.keys(sparse)) {
      this.sparseBlocks.set(name, []);
    }
    this.block = this.open();
  }

  /** Makes room for one more row; returns its index within `block`. The row's number is `count - 1`. */
  add(): number {
    const row = this.count++;
    const index = row & BLOCK_MASK;
    if (index === 0 && row > 0) {
      this.block = this.open();
      for (const name of Object.keys(this.optional)) {
        this.optional[name as keyof Sparse] = undefined;
      }
    }
    return index;
  }

  /**
   * Creates a sparse column for the block being filled. In hot loops: `(t.optional.x ?? t.sparseColumn('x'))[index] = value`,
   * with the index that `add` returned.
   */
  sparseColumn<K extends keyof Sparse & string>(name: K): ColumnOf<Sparse, K> {
    const column = create(this.sparse[name]) as ColumnOf<Sparse, K>;
    const list = this.sparseBlocks.get(name);
    if (list !== undefined) {
      list[(this.count - 1) >> BLOCK_BITS] = column;
    }
    this.optional[name] = column;
    return column;
  }

  /** Whether any row set this sparse column. */
  isSet(name: keyof Sparse & string): boolean {
    return (this.sparseBlocks.get(name) ?? []).some(block => block !== undefined);
  }

  /** The flat column, in the order of `order` where given; its blocks are let go, so each column can be taken once. */
  take<K extends keyof Dense & string>(name: K, order?: Uint32Array): ColumnOf<Dense, K>;
  take<K extends keyof Sparse & string>(name: K, order?: Uint32Array): ColumnOf<Sparse, K>;
  take(name: string, order?: Uint32Array): Column {
    const spec = this.dense[name] ?? this.sparse[name];
    const [constructor, fill] = spec;
    const blocks: readonly (Column | undefined)[] = this.blocks.get(name) ?? this.sparseBlocks.get(name) ?? [];
    this.blocks.delete(name);
    this.sparseBlocks.delete(name);
    if (!blocks.some(block => block !== undefined)) {
      return this.defaultColumn(spec);
    }
    const flat = new constructor(this.count);
    for (let at = 0; at * BLOCK < this.count; at++) {
      const block = blocks[at];
      const start = at * BLOCK;
      const length = Math.min(BLOCK, this.count - start);
      if (block === undefined) {
        if (fill !== 0) {
          flat.fill(fill, start, start + length);
        }
      } else {
        flat.set(length === BLOCK ? block : block.subarray(0, length), start);
      }
    }
    return order === undefined ? flat : reorder(flat, order);
  }

  private defaultColumn(spec: readonly [ColumnConstructor, number]): Column {
    const [constructor, fill] = spec;
    if (fill === 0) {
      return new constructor(this.count);
    }
    const key = `${constructor.name} ${fill}`;
    let column = this.defaults.get(key);
    if (column === undefined) {
      column = new constructor(this.count).fill(fill);
      this.defaults.set(key, column);
    }
    return column;
  }

  private open(): { readonly [K in keyof Dense]: ColumnOf<Dense, K> } {
    const block: Record<string, Column> = {};
    for (const [name, spec] of Object.entries(this.dense)) {
      const column = create(spec);
      block[name] = column;
      this.blocks.get(name)?.push(column);
    }
    return block as { readonly [K in keyof Dense]: ColumnOf<Dense, K> };
  }
}

function create([constructor, fill]: readonly [ColumnConstructor, number]): Column {
  const column = new constructor(BLOCK);
  return fill === 0 ? column : column.fill(fill);
}

/** Rows of `column` in the wanted order. */
export function reorder<C extends Column>(column: C, order: Uint32Array): C {
  const out = new (column.constructor as ColumnConstructor)(order.length) as C;
  // One loop a width: a loop that meets several array types runs ten times slower.
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
