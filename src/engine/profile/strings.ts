/**
 * Interned strings: a name that occurs a million times is stored once and referred to by number. Id 0 is always the empty
 * string and stands for "not known".
 */
export class StringTable {
  private readonly values: string[] = [''];
  /** Undefined after `seal`, until somebody interns again. */
  private ids: Map<string, number> | undefined = new Map([['', 0]]);
  /** Open-addressing hash of byte sequences, so that scanners intern without decoding text they have seen before. */
  private slots = new Int32Array(1024).fill(-1);
  private slotHash = new Int32Array(1024);
  /** Byte sequences one after the other: a million distinct names as arrays of their own would cost 200 MB. */
  private arena = new Uint8Array(4096);
  private arenaView = new DataView(this.arena.buffer);
  /** The bytes interned last, and a view of them: callers intern from one window many times. */
  private viewedBytes: Uint8Array | undefined;
  private view: DataView = this.arenaView;
  private arenaUsed = 0;
  private sequenceStart = new Uint32Array(512);
  private sequenceEnd = new Uint32Array(512);
  private sequenceId = new Uint32Array(512);
  private used = 0;
  private readonly decoder = new TextDecoder('utf-8');

  get size(): number {
    return this.values.length;
  }

  get(id: number): string {
    return this.values[id] ?? '';
  }

  intern(value: string): number {
    const ids = (this.ids ??= new Map(this.values.map((text, id) => [text, id])));
    const known = ids.get(value);
    if (known !== undefined) {
      return known;
    }
    const id = this.values.length;
    this.values.push(value);
    ids.set(value, id);
    return id;
  }

  /**
   * Interns the UTF-8 bytes `[start, end)`; bytes that are no UTF-8 become the replacement character. `decode` overrides
   * the plain decoding (JSON escapes, doubled CSV quotes); it is called only the first time a byte sequence is seen.
   */
  internBytes(bytes: Uint8Array, start: number, end: number, decode?: (bytes: Uint8Array, start: number, end: number) => string): number {
    if (bytes !== this.viewedBytes) {
      this.viewedBytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const { view } = this;
    // Four bytes a step, here and in the comparison: names of kernels run to a kilobyte. Two sums take turns, since one
    // alone waits for each of its multiplications.
    let hash = (end - start) | 0;
    let other = 0x2545f491;
    let i = start;
    for (; i < end - 7; i += 8) {
      hash = Math.imul(hash ^ view.getInt32(i, true), 0x01000193);
      other = Math.imul(other ^ view.getInt32(i + 4, true), 0x01000193);
      hash ^= hash >>> 15;
      other ^= other >>> 15;
    }
    if (i < end - 3) {
      hash = Math.imul(hash ^ view.getInt32(i, true), 0x01000193);
      hash ^= hash >>> 15;
      i += 4;
    }
    for (; i < end; i++) {
      hash = Math.imul(hash ^ bytes[i], 0x01000193);
    }
    hash = Math.imul(hash, 0x01000193) ^ other;
    hash ^= hash >>> 15;
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = this.slots[slot];
      if (entry < 0) {
        break;
      }
      if (this.slotHash[slot] === hash && this.isSequence(entry, bytes, view, start, end)) {
        return this.sequenceId[entry];
      }
      slot = (slot + 1) & mask;
    }
    const id = this.intern(decode === undefined ? this.decoder.decode(bytes.subarray(start, end)) : decode(bytes, start, end));
    this.slots[slot] = this.used;
    this.slotHash[slot] = hash;
    this.remember(id, bytes, start, end);
    if (this.used * 2 > this.slots.length) {
      this.grow();
    }
    return id;
  }

  /** Lets go of what only interning needs; reading is over. Interning still works afterwards, at the price of rebuilding it. */
  seal(): void {
    this.ids = undefined;
    this.slots = new Int32Array(1024).fill(-1);
    this.slotHash = new Int32Array(1024);
    this.arena = new Uint8Array(4096);
    this.arenaView = new DataView(this.arena.buffer);
    this.viewedBytes = undefined;
    this.view = this.arenaView;
    this.arenaUsed = 0;
    this.sequenceStart = new Uint32Array(512);
    this.sequenceEnd = new Uint32Array(512);
    this.sequenceId = new Uint32Array(512);
    this.used = 0;
  }

  /** All values in id order, for the column cache. */
  toArray(): readonly string[] {
    return this.values;
  }

  static from(values: readonly string[]): StringTable {
    const table = new StringTable();
    for (let i = 1; i < values.length; i++) {
      table.values.push(values[i]);
    }
    table.ids = undefined;
    return table;
  }

  private isSequence(entry: number, bytes: Uint8Array, view: DataView, start: number, end: number): boolean {
    let known = this.sequenceStart[entry];
    if (this.sequenceEnd[entry] - known !== end - start) {
      return false;
    }
    const { arena, arenaView } = this;
    let i = start;
    for (; i < end - 3; i += 4, known += 4) {
      if (arenaView.getInt32(known, true) !== view.getInt32(i, true)) {
        return false;
      }
    }
    for (; i < end; i++, known++) {
      if (arena[known] !== bytes[i]) {
        return false;
      }
    }
    return true;
  }

  private remember(id: number, bytes: Uint8Array, start: number, end: number): void {
    const arenaEnd = this.arenaUsed + end - start;
    if (arenaEnd > this.arena.length) {
      const larger = new Uint8Array(Math.max(arenaEnd, this.arena.length * 2));
      larger.set(this.arena.subarray(0, this.arenaUsed));
      this.arena = larger;
      this.arenaView = new DataView(larger.buffer);
    }
    this.arena.set(bytes.subarray(start, end), this.arenaUsed);
    if (this.used === this.sequenceId.length) {
      this.sequenceStart = doubled(this.sequenceStart);
      this.sequenceEnd = doubled(this.sequenceEnd);
      this.sequenceId = doubled(this.sequenceId);
    }
    this.sequenceStart[this.used] = this.arenaUsed;
    this.sequenceEnd[this.used] = arenaEnd;
    this.sequenceId[this.used] = id;
    this.arenaUsed = arenaEnd;
    this.used++;
  }

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2).fill(-1);
    const hashes = new Int32Array(slots.length);
    const mask = slots.length - 1;
    for (let i = 0; i < this.slots.length; i++) {
      if (this.slots[i] < 0) {
        continue;
      }
      let slot = this.slotHash[i] & mask;
      while (slots[slot] >= 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = this.slots[i];
      hashes[slot] = this.slotHash[i];
    }
    this.slots = slots;
    this.slotHash = hashes;
  }
}

function doubled(column: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(column.length * 2);
  larger.set(column);
  return larger;
}
