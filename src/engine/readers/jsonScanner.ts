/**
 * The byte level of JSON, lenient: finding where a value ends without building it. Everything here works on a window of a
 * file and answers `INCOMPLETE` when the window ends first. No recursion: 100,000 nested brackets are a counter.
 *
 * The window must be followed by at least `SENTINELS` quote bytes (see `TraceScanner`), so that the string loops need no
 * bounds test of their own; a position past `end` then means that the window ended inside the value.
 */

export const INCOMPLETE = -1;
/** Not JSON in a way that a reader can look past; the caller looks for the next record. */
export const BROKEN = -2;
/** Quote bytes that must follow the window. */
export const SENTINELS = 4;

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const COMMA = 0x2c;
export const COLON = 0x3a;

const PLAIN = 0;
const STRING = 1;
const OPEN = 2;
const CLOSE = 3;
const WORD = 4;

/** What a byte outside a string means to the skipping loop. `I`, `N` and `i` only occur in Infinity, NaN and inf. */
const CLASS = new Uint8Array(256);
CLASS[QUOTE] = STRING;
CLASS[OPEN_BRACE] = OPEN;
CLASS[OPEN_BRACKET] = OPEN;
CLASS[CLOSE_BRACE] = CLOSE;
CLASS[CLOSE_BRACKET] = CLOSE;
for (const letter of 'INi') {
  CLASS[letter.charCodeAt(0)] = WORD;
}

/** Bytes that may follow a closing quote. A quote that is missing or not escaped shows here first. */
const AFTER_STRING = new Uint8Array(256);
for (const byte of [COLON, COMMA, CLOSE_BRACE, CLOSE_BRACKET, 0x20, 0x0a, 0x0d, 0x09]) {
  AFTER_STRING[byte] = 1;
}

/** Bytes that end a number or a bare word. */
const ENDS_SCALAR = new Uint8Array(256);
for (const byte of [COMMA, CLOSE_BRACE, CLOSE_BRACKET, 0x20, 0x0a, 0x0d, 0x09, QUOTE, COLON, OPEN_BRACE, OPEN_BRACKET]) {
  ENDS_SCALAR[byte] = 1;
}

/** What the last `skipNested` came across; read and reset by the scanner. */
export const seen = { nonFinite: false };

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * `position` is the byte after an opening quote; returns the position after the closing one. With `literal` a backslash
 * is an ordinary character, as raw Windows paths have it (pytorch/kineto#617).
 */
export function skipString(bytes: Uint8Array, position: number, end: number, literal: boolean): number {
  let p = position;
  let byte = bytes[p++];
  while (byte !== QUOTE) {
    if (byte === BACKSLASH && !literal) {
      p++;
    }
    byte = bytes[p++];
  }
  if (p > end) {
    return INCOMPLETE;
  }
  if (AFTER_STRING[bytes[p]] === 0) {
    return p >= end ? INCOMPLETE : BROKEN;
  }
  return p;
}

/** `position` is an opening brace or bracket; returns the position after its partner. This is the hot loop of the product. */
export function skipNested(bytes: Uint8Array, position: number, end: number, literal: boolean): number {
  let p = position;
  let depth = 0;
  for (;;) {
    const kind = CLASS[bytes[p++]];
    if (kind === PLAIN) {
      continue;
    }
    if (kind === STRING) {
      let byte = bytes[p++];
      while (byte !== QUOTE) {
        if (byte === BACKSLASH && !literal) {
          p++;
        }
        byte = bytes[p++];
      }
      if (AFTER_STRING[bytes[p]] === 0 || p > end) {
        return p >= end ? INCOMPLETE : BROKEN;
      }
    } else if (kind === OPEN) {
      depth++;
    } else if (kind === CLOSE) {
      if (--depth === 0) {
        return p;
      }
    } else {
      seen.nonFinite = true;
    }
  }
}

/** Keys of an object as `skipArguments` met them; `count` beyond the arrays' length means that some are not listed. */
export class KeyRanges {
  count = 0;
  readonly start = new Int32Array(64);
  readonly end = new Int32Array(64);
}

/**
 * `skipNested` for an object whose keys will be asked for: notes where the strings of its first level lie that may be keys
 * (a colon or a blank follows), so that the second pass need not walk through all values again.
 */
export function skipArguments(bytes: Uint8Array, position: number, end: number, literal: boolean, keys: KeyRanges): number {
  let p = position;
  let depth = 0;
  let count = 0;
  for (;;) {
    const kind = CLASS[bytes[p++]];
    if (kind === PLAIN) {
      continue;
    }
    if (kind === STRING) {
      const start = p;
      let byte = bytes[p++];
      while (byte !== QUOTE) {
        if (byte === BACKSLASH && !literal) {
          p++;
        }
        byte = bytes[p++];
      }
      byte = bytes[p];
      if (AFTER_STRING[byte] === 0 || p > end) {
        return p >= end ? INCOMPLETE : BROKEN;
      }
      if (depth === 1 && byte !== COMMA && byte !== CLOSE_BRACE) {
        if (count < 64) {
          keys.start[count] = start;
          keys.end[count] = p - 1;
        }
        count++;
      }
    } else if (kind === OPEN) {
      depth++;
    } else if (kind === CLOSE) {
      if (--depth === 0) {
        keys.count = count;
        return p;
      }
    } else {
      seen.nonFinite = true;
    }
  }
}

/** A number or bare word from `position`; returns the position of the byte that ends it. */
export function skipScalar(bytes: Uint8Array, position: number, end: number): number {
  let p = position;
  while (ENDS_SCALAR[bytes[p]] === 0) {
    p++;
  }
  if (p >= end) {
    return INCOMPLETE;
  }
  return p === position ? BROKEN : p;
}

/** Any value from its first byte; returns the position after it. */
export function skipValue(bytes: Uint8Array, position: number, end: number, literal = false): number {
  const first = bytes[position];
  if (position >= end) {
    return INCOMPLETE;
  }
  if (first === QUOTE) {
    return skipString(bytes, position + 1, end, literal);
  }
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    return skipNested(bytes, position, end, literal);
  }
  return skipScalar(bytes, position, end);
}

/**
 * Checks grammar, not only nesting: tells a record that is merely large or cut from one whose brackets went wrong (an
 * object directly after a comma in an object swallows the rest of the file in `skipNested`). Returns the position after
 * the value, `INCOMPLETE` when all that is there is well formed, `BROKEN` otherwise.
 */
export function checkNested(bytes: Uint8Array, position: number, end: number): number {
  /** One bit of history a level: 1 = object. Grows by doubling, so depth is bounded by memory only. */
  let isObject = new Uint8Array(64);
  let depth = 0;
  let p = position;
  let expectKey = false;
  let expectValue = true;
  for (;;) {
    while (p < end && isSpace(bytes[p])) {
      p++;
    }
    if (p >= end) {
      return INCOMPLETE;
    }
    const byte = bytes[p];
    if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0 || (isObject[depth - 1] === 1) !== (byte === CLOSE_BRACE)) {
        return BROKEN;
      }
      p++;
      if (--depth === 0) {
        return p;
      }
      expectKey = false;
      expectValue = false;
      continue;
    }
    if (byte === COMMA) {
      if (expectKey || expectValue || depth === 0) {
        return BROKEN;
      }
      p++;
      expectKey = isObject[depth - 1] === 1;
      expectValue = !expectKey;
      continue;
    }
    if (expectKey) {
      if (byte !== QUOTE) {
        return BROKEN;
      }
      const after = skipString(bytes, p + 1, end, false);
      if (after < 0) {
        return after;
      }
      p = after;
      while (p < end && isSpace(bytes[p])) {
        p++;
      }
      if (p >= end) {
        return INCOMPLETE;
      }
      if (bytes[p] !== COLON) {
        return BROKEN;
      }
      p++;
      expectKey = false;
      expectValue = true;
      continue;
    }
    if (!expectValue) {
      return BROKEN;
    }
    expectValue = false;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === isObject.length) {
        const larger = new Uint8Array(depth * 2);
        larger.set(isObject);
        isObject = larger;
      }
      isObject[depth++] = byte === OPEN_BRACE ? 1 : 0;
      expectKey = byte === OPEN_BRACE;
      expectValue = !expectKey;
      p++;
      continue;
    }
    const after = byte === QUOTE ? skipString(bytes, p + 1, end, false) : skipScalar(bytes, p, end);
    if (after < 0) {
      return after;
    }
    p = after;
    if (depth === 0) {
      return p;
    }
  }
}

/** Skips a value of any size fed in pieces, keeping nothing: for values larger than what a reader is willing to hold. */
export class StreamingSkip {
  private depth = 0;
  private inString = false;
  private escaped = false;
  private started = false;

  /** Returns the position after the value, or `end` with `done` still false. */
  feed(bytes: Uint8Array, position: number, end: number): { readonly position: number; readonly done: boolean } {
    let p = position;
    while (p < end) {
      const byte = bytes[p];
      if (this.inString) {
        p++;
        if (this.escaped) {
          this.escaped = false;
        } else if (byte === BACKSLASH) {
          this.escaped = true;
        } else if (byte === QUOTE) {
          this.inString = false;
          if (this.depth === 0) {
            return { position: p, done: true };
          }
        }
        continue;
      }
      if (this.depth === 0 && this.started && ENDS_SCALAR[byte] === 1) {
        return { position: p, done: true };
      }
      p++;
      const kind = CLASS[byte];
      if (kind === STRING) {
        this.inString = true;
      } else if (kind === OPEN) {
        this.depth++;
      } else if (kind === CLOSE && --this.depth <= 0) {
        return { position: p, done: true };
      } else if (!isSpace(byte)) {
        this.started = true;
      }
    }
    return { position: end, done: false };
  }
}
