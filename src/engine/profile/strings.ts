/**
 * Interned strings: a name that occurs a million times is stored once and referred to by number. Id 0 is always the empty
 * string and stands for "not known".
 */
export class StringTable {
  private readonly values: string[] = [''];
  private readonly ids = new Map<string, number>([['', 0]]);
  /** Open-addressing hash of byte sequences, so that scanners intern without decoding text they have seen before. */
  private slots = new Int32Array(1024).fill(-1);
  private slotHash = new Uint32Array(1024);
  private used = 0;
  private readonly decoder = new TextDecoder('utf-8');

  get size(): number {
    return this.values.length;
  }

  get(id: number): string {
    return this.values[id] ?? '';
  }

  intern(value: string): number {
    const known = this.ids.get(value);
    if (known !== undefined) {
      return known;
    }
    const id = this.values.length;
    this.values.push(value);
    this.ids.set(value, id);
    return id;
  }

  /**
   * Interns the UTF-8 bytes `[start, end)`; bytes that are no UTF-8 become the replacement character. `decode` overrides
   * the plain decoding (JSON escapes, doubled CSV quotes); it is called only the first time a byte sequence is seen.
   */
  internBytes(bytes: Uint8Array, start: number, end: number, decode?: (bytes: Uint8Array, start: number, end: number) => string): number {
    let hash = 0x811c9dc5;
    let i = start;
    // Four bytes a step: the multiplications wait for each other, the loads do not.
    for (; i + 4 <= end; i += 4) {
      hash = Math.imul(hash ^ (bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24)), 0x01000193);
      hash ^= hash >>> 15;
    }
    for (; i < end; i++) {
      hash = Math.imul(hash ^ bytes[i], 0x01000193);
    }
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = this.slots[slot];
      if (entry < 0) {
        break;
      }
      if (this.slotHash[slot] === hash && sameBytes(this.sequences[entry].bytes, bytes, start, end)) {
        return this.sequences[entry].id;
      }
      slot = (slot + 1) & mask;
    }
    const id = this.intern(decode === undefined ? this.decoder.decode(bytes.subarray(start, end)) : decode(bytes, start, end));
    this.slots[slot] = this.sequences.length;
    this.slotHash[slot] = hash;
    this.sequences.push({ id, bytes: bytes.slice(start, end) });
    if (++this.used * 2 > this.slots.length) {
      this.grow();
    }
    return id;
  }

  /** All values in id order, for the column cache. */
  toArray(): readonly string[] {
    return this.values;
  }

  static from(values: readonly string[]): StringTable {
    const table = new StringTable();
    for (let i = 1; i < values.length; i++) {
      table.values.push(values[i]);
      table.ids.set(values[i], i);
    }
    return table;
  }

  private readonly sequences: { readonly id: number; readonly bytes: Uint8Array }[] = [];

  private grow(): void {
    const slots = new Int32Array(this.slots.length * 2).fill(-1);
    const hashes = new Uint32Array(slots.length);
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

function sameBytes(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) {
    return false;
  }
  for (let i = 0; i < known.length; i++) {
    if (known[i] !== bytes[start + i]) {
      return false;
    }
  }
  return true;
}
