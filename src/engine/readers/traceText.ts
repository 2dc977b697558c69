/**
 * Text and values of a trace, decoded leniently. Kineto wrote Windows paths with raw backslashes (pytorch/kineto#617,
 * #551), raw control bytes (pytorch#130622) and bare inf / nan (pytorch/kineto#105).
 */
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, isSpace, skipScalar, skipString } from './jsonScanner';

const decoder = new TextDecoder('utf-8');

/** Escapes of JSON; anything else after a backslash means that the writer did not escape at all. */
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** What the last `decodeText` found; the caller counts and resets. */
export interface TextOddities {
  /** The backslashes were taken as path text. */
  literalBackslashes: boolean;
  /** Bytes that are no UTF-8, or raw control bytes. */
  badEncoding: boolean;
}

/** A control character produced by an escape inside `….py(123): `: the escape was a path separator (`torch\nn`). */
const CONTROL_IN_PATH = /[\b\f\n\r\t][^;]*\.py\(\d+\): /;

/**
 * Decodes the inside of a JSON string. A string with an escape that JSON does not have is taken literally as a whole, so
 * that `torch\nn\modules` keeps its `\n`; so is one whose escapes would put a control character into a Python path.
 */
export function decodeText(bytes: Uint8Array, start: number, end: number, oddities?: TextOddities): string {
  const raw = decoder.decode(bytes.subarray(start, end));
  if (oddities !== undefined && hasBadEncoding(raw, bytes, start, end)) {
    oddities.badEncoding = true;
  }
  if (!raw.includes('\\')) {
    return raw;
  }
  const text = unescape(raw);
  if (text === undefined || CONTROL_IN_PATH.test(text)) {
    if (oddities !== undefined) {
      oddities.literalBackslashes = true;
    }
    return raw.replaceAll('\\"', '"');
  }
  return text;
}

function hasBadEncoding(raw: string, bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (bytes[i] < 0x20) {
      return true;
    }
  }
  // A replacement character that the file itself holds (EF BF BD) is good UTF-8.
  let replacements = 0;
  for (let at = raw.indexOf('\ufffd'); at >= 0; at = raw.indexOf('\ufffd', at + 1)) {
    replacements++;
  }
  for (let i = start; i + 2 < end && replacements > 0; i++) {
    if (bytes[i] === 0xef && bytes[i + 1] === 0xbf && bytes[i + 2] === 0xbd) {
      replacements--;
    }
  }
  return replacements > 0;
}

function unescape(raw: string): string | undefined {
  let out = '';
  let from = 0;
  for (let at = raw.indexOf('\\'); at >= 0; at = raw.indexOf('\\', from)) {
    out += raw.slice(from, at);
    const letter = raw[at + 1] ?? '';
    if (letter === 'u') {
      const digits = raw.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
        return undefined;
      }
      out += String.fromCharCode(parseInt(digits, 16));
      from = at + 6;
      continue;
    }
    const plain = ESCAPES[letter];
    if (plain === undefined) {
      return undefined;
    }
    out += plain;
    from = at + 2;
  }
  return out + raw.slice(from);
}

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Neither null nor a list. */
export function isJsonObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deeper than this is not shown, so that nothing downstream recurses without end. */
const MAX_DEPTH = 64;

/**
 * A value of a trace as plain data, for details and metadata only. Integers of more than 15 digits stay text; inf and NaN
 * are the numbers of that name. What cannot be made sense of ends the value; what was read until then is returned.
 */
export function parseLenient(source: Uint8Array, from: number, to: number): JsonValue | undefined {
  const bytes = withSentinels(source, from, to);
  const end = to - from;
  let root: JsonValue | undefined;
  const stack: (JsonValue[] | { [key: string]: JsonValue })[] = [];
  let key: string | undefined;
  let tooDeep = 0;

  const place = (value: JsonValue): void => {
    const top = stack[stack.length - 1];
    if (tooDeep > 0) {
      return;
    }
    if (top === undefined) {
      root ??= value;
    } else if (Array.isArray(top)) {
      top.push(value);
    } else if (key !== undefined) {
      Object.defineProperty(top, key, { value, writable: true, enumerable: true, configurable: true });
      key = undefined;
    }
  };

  let p = 0;
  while (p < end) {
    const byte = bytes[p];
    if (isSpace(byte) || byte === COMMA || byte === COLON) {
      p++;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      p++;
      if (tooDeep > 0 || stack.length === MAX_DEPTH) {
        if (tooDeep++ === 0) {
          tooDeep = 0;
          place('…');
          tooDeep = 1;
        }
        continue;
      }
      const container: JsonValue[] | { [key: string]: JsonValue } = byte === OPEN_BRACE ? {} : [];
      place(container);
      stack.push(container);
      key = undefined;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      p++;
      if (tooDeep > 0) {
        tooDeep--;
      } else {
        stack.pop();
        if (stack.length === 0) {
          return root;
        }
      }
    } else if (byte === QUOTE) {
      let after = skipString(bytes, p + 1, end, false);
      if (after < 0) {
        after = skipString(bytes, p + 1, end, true);
      }
      if (after < 0) {
        // The last string of the range has nothing after it: the sentinel is its follower.
        if (bytes[end - 1] !== QUOTE || p === end - 1) {
          return root;
        }
        after = end;
      }
      const text = decodeText(bytes, p + 1, after - 1);
      const top = stack[stack.length - 1];
      if (tooDeep === 0 && top !== undefined && !Array.isArray(top) && key === undefined) {
        key = text;
      } else {
        place(text);
      }
      p = after;
    } else {
      const after = skipScalar(bytes, p, end);
      const stop = after < 0 ? end : after;
      place(scalar(decoder.decode(bytes.subarray(p, stop))));
      p = stop;
    }
  }
  return root;
}

function withSentinels(source: Uint8Array, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(to - from + 8).fill(QUOTE);
  bytes.set(source.subarray(from, to));
  return bytes;
}

function scalar(text: string): JsonValue {
  switch (text.toLowerCase()) {
    case 'true': return true;
    case 'false': return false;
    case 'null': case 'none': return null;
    case 'inf': case 'infinity': case '+inf': return Infinity;
    case '-inf': case '-infinity': return -Infinity;
    case 'nan': case '-nan': return NaN;
    default: break;
  }
  if (/^-?\d{16,}$/.test(text)) {
    return text;
  }
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : number;
}
