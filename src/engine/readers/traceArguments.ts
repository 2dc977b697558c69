/**
 * The second, small pass: wanted keys of one event's `args`, found without building objects. A key set is prepared once;
 * `read` stops as soon as everything in it was met.
 *
 *     const keys = new ArgumentKeys(['correlation', 'stream']);
 *     const found = new FoundArguments(keys);
 *     found.readEvent(e);
 *     if (found.start[1] >= 0) … bytes [found.start[1], found.end[1]) hold the stream, without quotes …
 */
import { BACKSLASH, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, isSpace, skipNested, skipScalar, skipString, skipValue } from './jsonScanner';
import type { TraceEvent } from './traceEvent';
import type { EventLayout } from './traceLayout';

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

  /** Slot of each argument, for the layouts met lately; most readers of arguments meet one or two. */
  private readonly plans: { readonly layout: EventLayout; readonly slots: Int8Array }[] = [];

  constructor(private readonly keys: ArgumentKeys) {
    this.start = new Int32Array(keys.slots);
    this.end = new Int32Array(keys.slots);
  }

  /** The arguments of an event as the scanner hands it over: goes by the keys it has noted. */
  readEvent(event: TraceEvent): void {
    if (event.layout !== undefined) {
      this.readLayout(event, event.layout);
      return;
    }
    const { bytes, argsStart, argsEnd, argumentKeys: keys, literalBackslashes: literal } = event;
    if (keys.count > keys.start.length) {
      this.read(bytes, argsStart, argsEnd, literal);
      return;
    }
    const { byLength, slots } = this.keys;
    const { start, end } = this;
    for (let slot = 0; slot < slots; slot++) {
      start[slot] = -1;
    }
    if (argsStart < 0) {
      return;
    }
    let missing = slots;
    for (let k = 0; k < keys.count; k++) {
      const key = keys.start[k];
      const length = keys.end[k] - key;
      const candidates = length < byLength.length ? byLength[length] : undefined;
      const slot = candidates === undefined ? -1 : matchingSlot(bytes, key, candidates);
      if (slot < 0) {
        continue;
      }
      let p = keys.end[k] + 1;
      while (isSpace(bytes[p])) {
        p++;
      }
      if (bytes[p] !== COLON) {
        // A value that stands before a blank.
        continue;
      }
      p++;
      while (isSpace(bytes[p])) {
        p++;
      }
      const isString = bytes[p] === QUOTE;
      const from = isString ? p + 1 : p;
      const after = skipValue(bytes, p, argsEnd, literal);
      if (after < 0) {
        return;
      }
      if (start[slot] < 0) {
        missing--;
      }
      start[slot] = bytes[p] === 0x6e && after - p === 4 ? -1 : from;
      end[slot] = isString ? after - 1 : after;
      if (missing === 0) {
        return;
      }
    }
  }

  private readLayout({ valueStart, valueEnd }: TraceEvent, layout: EventLayout): void {
    const { start, end } = this;
    const slots = this.slotsOf(layout);
    for (let slot = 0; slot < start.length; slot++) {
      start[slot] = -1;
    }
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i];
      if (slot >= 0) {
        start[slot] = valueStart[layout.firstArgument + i];
        end[slot] = valueEnd[layout.firstArgument + i];
      }
    }
  }

  private slotsOf(layout: EventLayout): Int8Array {
    const { plans } = this;
    for (let i = 0; i < plans.length; i++) {
      if (plans[i].layout === layout) {
        return plans[i].slots;
      }
    }
    const slots = Int8Array.from(layout.argumentKeys, key => {
      const candidates = this.keys.byLength[key.length];
      return candidates === undefined ? -1 : matchingSlot(key, 0, candidates);
    });
    plans.push({ layout, slots });
    return slots;
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
  for (let c = 0; c < candidates.length; c++) {
    const name = candidates[c].bytes;
    const { length } = name;
    let i = 0;
    while (i < length && bytes[key + i] === name[i]) {
      i++;
    }
    if (i === length) {
      return candidates[c].slot;
    }
  }
  return -1;
}
