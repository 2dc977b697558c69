/**
 * The second, small pass: wanted keys of one event's `args`, found without building objects. A key set is prepared once;
 * `read` stops as soon as everything in it was met.
 *
 *     const keys = new ArgumentKeys(['correlation', 'stream']);
 *     const found = new FoundArguments(keys);
 *     found.read(e.bytes, e.argsStart, e.argsEnd, e.literalBackslashes);
 *     if (found.start[1] >= 0) … bytes [found.start[1], found.end[1]) hold the stream, without quotes …
 */
import { BACKSLASH, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipNested, skipScalar, skipString } from './jsonScanner';

interface Wanted {
  readonly bytes: Uint8Array;
  readonly slot: number;
}

export class ArgumentKeys {
  /** Candidates by key length; most lengths have none. */
  readonly byLength: readonly (readonly Wanted[] | undefined)[];
  readonly slots: number;

  /** One slot a name; an inner list gives spellings of one slot (`External id`, `external id`). */
  constructor(names: readonly (string | readonly string[])[]) {
    const longest = Math.max(...names.flat().map(name => name.length));
    const byLength: (Wanted[] | undefined)[] = Array.from({ length: longest + 1 }, () => undefined);
    const encoder = new TextEncoder();
    names.forEach((spellings, slot) => {
      for (const name of typeof spellings === 'string' ? [spellings] : spellings) {
        const bytes = encoder.encode(name);
        (byLength[bytes.length] ??= []).push({ bytes, slot });
      }
    });
    this.byLength = byLength;
    this.slots = names.length;
  }
}

export class FoundArguments {
  /** -1 where the key is absent or null. */
  readonly start: Int32Array;
  readonly end: Int32Array;

  constructor(private readonly keys: ArgumentKeys) {
    this.start = new Int32Array(keys.slots);
    this.end = new Int32Array(keys.slots);
  }

  /** `[argsStart, argsEnd)` includes the braces; a range of -1 (no args) finds nothing. */
  read(bytes: Uint8Array, argsStart: number, argsEnd: number, literal = false): void {
    const { byLength, slots } = this.keys;
    const { start, end } = this;
    for (let slot = 0; slot < slots; slot++) {
      start[slot] = -1;
    }
    if (argsStart < 0) {
      return;
    }
    let missing = slots;
    let p = argsStart + 1;
    while (p < argsEnd) {
      let byte = bytes[p];
      while (byte === 0x20 || byte === COMMA || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        byte = bytes[++p];
      }
      if (byte !== QUOTE) {
        return;
      }
      const key = ++p;
      byte = bytes[p++];
      while (byte !== QUOTE) {
        if (byte === BACKSLASH && !literal) {
          p++;
        }
        byte = bytes[p++];
      }
      const length = p - 1 - key;
      byte = bytes[p];
      while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === COLON) {
        byte = bytes[++p];
      }
      let from = p;
      let to: number;
      if (byte === QUOTE) {
        from++;
        p = skipString(bytes, from, argsEnd, literal);
        to = p - 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        p = skipNested(bytes, from, argsEnd, literal);
        to = p;
      } else {
        p = skipScalar(bytes, from, argsEnd);
        to = p;
      }
      if (p < 0) {
        return;
      }
      const candidates = length < byLength.length ? byLength[length] : undefined;
      if (candidates === undefined) {
        continue;
      }
      const slot = matchingSlot(bytes, key, candidates);
      if (slot >= 0) {
        if (start[slot] < 0) {
          missing--;
        }
        start[slot] = byte === 0x6e && to - from === 4 ? -1 : from;
        end[slot] = to;
        if (missing === 0) {
          return;
        }
      }
    }
  }
}

function matchingSlot(bytes: Uint8Array, key: number, candidates: readonly Wanted[]): number {
  for (const { bytes: name, slot } of candidates) {
    let i = 0;
    while (i < name.length && bytes[key + i] === name[i]) {
      i++;
    }
    if (i === name.length) {
      return slot;
    }
  }
  return -1;
}
