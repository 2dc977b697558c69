/**
 * Numbers of Ascend CSV cells, read from their digits. An epoch time in microseconds with three decimals does not fit a
 * double (spacing 0.25 µs), so it comes back as whole microseconds and nanoseconds apart.
 */

/** How a number cell came out. */
export const CellNumber = {
  /** A plain decimal number. */
  Ok: 0,
  /** Blank, `N/A`, `None`, `nan`: the writer had no value. */
  Missing: 1,
  /** Anything else, exponents included: a spreadsheet wrote `1.69512E+15`, whose digits are lost. */
  Damaged: 2,
} as const;
export type CellNumber = (typeof CellNumber)[keyof typeof CellNumber];

/** A number split at the microsecond; reused between calls so that parsing allocates nothing. */
export class MicrosecondParts {
  /** Whole microseconds, not negative, exact below 2^53. */
  whole = 0;
  /** Nanoseconds 0..999, rounded half up from what follows the third decimal. */
  nanos = 0;
  negative = false;
}

// Plain constants for the hot loops: a namespace object's fields are looked up at every use.
const { Ok: OK, Missing: MISSING, Damaged: DAMAGED } = CellNumber;

const TAB = 9;
const CR = 13;
const LF = 10;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const MINUS = 45;
const DOT = 46;

/** Most whole digits that surely stay below 2^53. */
const EXACT_DIGITS = 15;

/** Cells carry a trailing tab (so that spreadsheets keep the digits), and some a second pair of quotes. */
const isPadding = (byte: number): boolean => byte <= QUOTE && (byte === TAB || byte === SPACE || byte === CR || byte === LF || byte === QUOTE);

/**
 * Reads `[start, end)` of `bytes` as microseconds into `parts`. Fifteen to sixteen whole digits are normal for epoch times;
 * a whole part of 2^53 or more counts as damaged.
 */
export function parseMicroseconds(bytes: Uint8Array, start: number, end: number, parts: MicrosecondParts): CellNumber {
  let i = start;
  let last = end;
  while (last > i && isPadding(bytes[last - 1])) {
    last--;
  }
  while (i < last && isPadding(bytes[i])) {
    i++;
  }
  if (i >= last) {
    return MISSING;
  }
  parts.negative = bytes[i] === MINUS;
  if (parts.negative || bytes[i] === PLUS) {
    i++;
  }
  let whole = 0;
  const firstDigit = i;
  while (i < last) {
    const digit = bytes[i] - 48;
    if (digit < 0 || digit > 9) {
      break;
    }
    whole = whole * 10 + digit;
    i++;
  }
  let digits = i - firstDigit;
  if (digits > EXACT_DIGITS && whole > Number.MAX_SAFE_INTEGER) {
    return DAMAGED;
  }
  let nanos = 0;
  if (i < last && bytes[i] === DOT) {
    i++;
    let scale = 100;
    while (i < last) {
      const digit = bytes[i] - 48;
      if (digit < 0 || digit > 9) {
        break;
      }
      if (scale >= 1) {
        nanos += digit * scale;
        scale = scale === 1 ? 0.5 : scale / 10;
      } else if (scale === 0.5) {
        nanos += digit >= 5 ? 1 : 0;
        scale = 0;
      }
      digits++;
      i++;
    }
  }
  if (i < last || digits === 0) {
    return isMissing(bytes, start, end) ? MISSING : DAMAGED;
  }
  if (nanos === 1000) {
    nanos = 0;
    whole++;
  }
  parts.whole = whole;
  parts.nanos = nanos;
  return OK;
}

/** Blank cells and the spellings of "no value" seen in exports: `N/A`, `NA`, `None`, `nan`, `null`, `-`. */
export function isMissing(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start;
  let last = end;
  while (last > i && isPadding(bytes[last - 1])) {
    last--;
  }
  while (i < last && isPadding(bytes[i])) {
    i++;
  }
  const length = last - i;
  if (length === 0 || (length === 1 && bytes[i] === MINUS)) {
    return true;
  }
  if (length > 4) {
    return false;
  }
  if (length === 3 && bytes[i] === 78 && bytes[i + 1] === 47 && bytes[i + 2] === 65) {
    return true; // N/A, by far the most frequent
  }
  let word = '';
  for (; i < last; i++) {
    word += String.fromCharCode(bytes[i]);
  }
  return /^(n\/a|na|none|nan|null)$/i.test(word);
}
