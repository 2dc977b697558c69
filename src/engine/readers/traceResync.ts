/** Finding the way back into a trace after a record that makes no sense. */
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, isSpace } from './jsonScanner';

const RECORD_KEYS = new Set(['ph', 'name', 'cat', 'ts', 'pid', 'tid', 'dur', 'id', 'bp', 'args']);

/** Keys that writers put after the events; an array inside a record is never followed by one of these. */
const TRAILING_KEYS = new Set(['traceName', 'displayTimeUnit', 'baseTimeNanoseconds', 'distributedInfo', 'deviceProperties', 'schemaVersion', 'metadata', 'trace_id',
  'with_stack', 'with_flops', 'with_modules', 'record_shapes', 'profile_memory', 'INFO', 'WARNING', 'ERROR']);

function skipSpaces(bytes: Uint8Array, position: number, end: number): number {
  let p = position;
  while (p < end && isSpace(bytes[p])) {
    p++;
  }
  return p;
}

/** The short key `"…"` at `position` if a colon follows it, else undefined. */
function keyAt(bytes: Uint8Array, position: number, end: number): string | undefined {
  if (position >= end || bytes[position] !== QUOTE) {
    return undefined;
  }
  let key = '';
  let p = position + 1;
  while (p < end && bytes[p] !== QUOTE && key.length < 24) {
    key += String.fromCharCode(bytes[p++]);
  }
  if (p >= end || bytes[p] !== QUOTE) {
    return undefined;
  }
  p = skipSpaces(bytes, p + 1, end);
  return p < end && bytes[p] === COLON ? key : undefined;
}

/**
 * The next `{` that opens a record: preceded by a comma, a bracket or a brace (not by a colon, as `args` is), and followed
 * by a key that events have. `previous` is the last byte before the window that is no blank. -1 when the window has none.
 */
export function findRecordStart(bytes: Uint8Array, from: number, end: number, previous: number): number {
  for (let p = bytes.indexOf(OPEN_BRACE, from); p >= 0 && p < end; p = bytes.indexOf(OPEN_BRACE, p + 1)) {
    let before = p - 1;
    while (before >= 0 && isSpace(bytes[before])) {
      before--;
    }
    const byte = before < 0 ? previous : bytes[before];
    if (byte !== COMMA && byte !== OPEN_BRACKET && byte !== CLOSE_BRACE && byte !== OPEN_BRACE) {
      continue;
    }
    const key = keyAt(bytes, skipSpaces(bytes, p + 1, end), end);
    if (key !== undefined && RECORD_KEYS.has(key)) {
      return p;
    }
  }
  return -1;
}

/** The `]` that ends the events: followed by a key known to come after them, or (when no bytes follow) by the end of the document. */
export function findEndOfEvents(bytes: Uint8Array, from: number, end: number, object: boolean, last: boolean): number {
  for (let p = bytes.indexOf(CLOSE_BRACKET, from); p >= 0 && p < end; p = bytes.indexOf(CLOSE_BRACKET, p + 1)) {
    const next = skipSpaces(bytes, p + 1, end);
    if (last && !object && next >= end) {
      return p;
    }
    if (last && object && bytes[next] === CLOSE_BRACE && skipSpaces(bytes, next + 1, end) >= end) {
      return p;
    }
    if (object && next < end && bytes[next] === COMMA) {
      const key = keyAt(bytes, skipSpaces(bytes, next + 1, end), end);
      if (key !== undefined && TRAILING_KEYS.has(key)) {
        return p;
      }
    }
  }
  return -1;
}
