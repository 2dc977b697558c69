/**
 * Numbers of trace events, read from their digits. Times are µs as decimal text, as a number or a string, up to 16 + 3
 * digits: more than a double holds (Ascend/pytorch#133). They are split into whole µs (exact in a double up to 2^53) and
 * ns, and become one double only after the base of the profile has been subtracted.
 */

/** A time split so that each part is exact. `ns` has the sign of the value and is below 1000 in size. */
export class DecimalTime {
  microseconds = 0;
  nanoseconds = 0;
}

const LARGEST = 9007199254740991;

/**
 * Parses decimal µs in `[start, end)`: sign, digits, fraction (rounded to ns), exponent; blanks and tabs around are
 * allowed. False for anything else (`inf`, `NaN`, `null`, empty) and beyond 2^53 µs.
 */
export function parseMicroseconds(bytes: Uint8Array, start: number, end: number, out: DecimalTime): boolean {
  let p = start;
  let negative = false;
  if (p < end && bytes[p] === 0x2d) {
    negative = true;
    p++;
  }
  const digitsAt = p;
  let whole = 0;
  let digit = bytes[p] - 48;
  while (p < end && digit >= 0 && digit <= 9) {
    whole = whole * 10 + digit;
    digit = bytes[++p] - 48;
  }
  if (p === digitsAt || whole > LARGEST) {
    return parseSlowly(bytes, start, end, out);
  }
  let nanoseconds = 0;
  if (p < end) {
    if (bytes[p] !== 0x2e) {
      return parseSlowly(bytes, start, end, out);
    }
    p++;
    let scale = 100;
    while (p < end && scale >= 1) {
      digit = bytes[p] - 48;
      if (digit < 0 || digit > 9) {
        return parseSlowly(bytes, start, end, out);
      }
      nanoseconds += digit * scale;
      scale = scale === 100 ? 10 : scale === 10 ? 1 : 0;
      p++;
    }
    if (p < end) {
      // Ascend writes durations such as 53.7410625: the fourth decimal rounds, the rest only has to be digits.
      const rounds = bytes[p] >= 0x35;
      while (p < end && bytes[p] >= 0x30 && bytes[p] <= 0x39) {
        p++;
      }
      if (p < end || (rounds && nanoseconds === 999)) {
        return parseSlowly(bytes, start, end, out);
      }
      nanoseconds += rounds ? 1 : 0;
    }
  }
  out.microseconds = negative ? -whole : whole;
  out.nanoseconds = negative ? -nanoseconds : nanoseconds;
  return true;
}

/** Everything unusual: blanks, exponents, more than three decimals. Exact through BigInt. */
function parseSlowly(bytes: Uint8Array, start: number, end: number, out: DecimalTime): boolean {
  if (end - start > 64) {
    return false;
  }
  let text = '';
  for (let i = start; i < end; i++) {
    text += String.fromCharCode(bytes[i]);
  }
  const match = /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text);
  if (match === null || ((match[2] ?? '') === '' && (match[3] ?? '') === '')) {
    return false;
  }
  const digits = (match[2] ?? '') + (match[3] ?? '');
  // Shift of the decimal point so that `digits` counts nanoseconds.
  const shift = Number(match[4] ?? '0') - (match[3] ?? '').length + 3;
  let value: bigint;
  if (shift >= 0) {
    value = BigInt(digits) * 10n ** BigInt(shift);
  } else {
    const divisor = 10n ** BigInt(-shift);
    value = (BigInt(digits) + divisor / 2n) / divisor;
  }
  const whole = value / 1000n;
  if (whole > BigInt(LARGEST)) {
    return false;
  }
  const sign = match[1] === '-' ? -1 : 1;
  out.microseconds = sign * Number(whole) + 0;
  out.nanoseconds = sign * Number(value % 1000n) + 0;
  return true;
}

/**
 * Small integers (ids, streams, thread numbers) in `[start, end)`; NaN when the text is not one or has more than 15 digits
 * (such ids are kept as text: see `IdKeys`).
 */
export function parseInteger(bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  let negative = false;
  if (p < end && bytes[p] === 0x2d) {
    negative = true;
    p++;
  }
  if (p >= end || end - p > 15) {
    return NaN;
  }
  let value = 0;
  for (; p < end; p++) {
    const digit = bytes[p] - 48;
    if (digit < 0 || digit > 9) {
      return NaN;
    }
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

/** Ten to the power of the index: exact in a double. */
const POWERS = Array.from({ length: 16 }, (_, i) => 10 ** i);
const DECIMAL = /^\s*-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/**
 * A decimal number in `[start, end)` (-1: absent) as `JSON.parse` reads it; NaN for anything else and for what no double holds (1e999). Up to
 * 15 digits are read here: the quotient of two exact numbers is the nearest double.
 */
export function parseDecimal(bytes: Uint8Array, start: number, end: number): number {
  if (start < 0) {
    return NaN;
  }
  const negative = bytes[start] === 0x2d;
  let digits = 0;
  let value = 0;
  let fraction = -1;
  for (let p = negative ? start + 1 : start; p < end; p++) {
    const digit = bytes[p] - 48;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits++;
    } else if (bytes[p] === 0x2e && fraction < 0 && digits > 0) {
      fraction = digits;
    } else {
      return parseDecimalSlowly(bytes, start, end);
    }
  }
  if (digits === 0 || digits > 15) {
    return parseDecimalSlowly(bytes, start, end);
  }
  const size = fraction < 0 ? value : value / POWERS[digits - fraction];
  return negative ? -size : size;
}

function parseDecimalSlowly(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > 400) {
    return NaN;
  }
  let text = '';
  for (let i = start; i < end; i++) {
    text += String.fromCharCode(bytes[i]);
  }
  const value = DECIMAL.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : NaN;
}

/**
 * Ids as exact numeric keys: integers of up to 15 digits are themselves, anything else (flow ids that are ns stamps, hex,
 * merged correlations) gets a number of its own from -2^40 downwards. Equal text, equal key.
 */
export class IdKeys {
  private readonly others = new Map<string, number>();

  /** NaN for an empty range. */
  keyOf(bytes: Uint8Array, start: number, end: number): number {
    if (start < 0 || end <= start) {
      return NaN;
    }
    const value = parseInteger(bytes, start, end);
    if (!Number.isNaN(value)) {
      return value;
    }
    let text = '';
    for (let i = start; i < end; i++) {
      text += String.fromCharCode(bytes[i]);
    }
    let key = this.others.get(text);
    if (key === undefined) {
      key = -(2 ** 40) - this.others.size;
      this.others.set(text, key);
    }
    return key;
  }
}
