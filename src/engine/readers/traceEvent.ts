/** What `TraceScanner` hands to a visitor, and what it says at the end. */
import { KeyRanges } from './jsonScanner';

/** One event, as ranges into `bytes`; reused for every event. */
export class TraceEvent {
  bytes: Uint8Array = new Uint8Array(0);
  /** Absolute offset of `bytes[0]` in the uncompressed file. */
  bytesAt = 0;
  /** Position of the event in the file's event array, from 0 (dropped records count). */
  index = 0;
  start = 0;
  end = 0;
  /** First byte of `ph` (`X` is 0x58), 0 when absent. */
  phase = 0;
  nameStart = -1;
  nameEnd = -1;
  categoryStart = -1;
  categoryEnd = -1;
  timeStart = -1;
  timeEnd = -1;
  durationStart = -1;
  durationEnd = -1;
  processStart = -1;
  processEnd = -1;
  threadStart = -1;
  threadEnd = -1;
  idStart = -1;
  idEnd = -1;
  /** `bp`: "e" binds a flow to the enclosing slice. */
  bindStart = -1;
  bindEnd = -1;
  /** Includes the braces. */
  argsStart = -1;
  argsEnd = -1;
  /** Where the keys of `args` lie, for `FoundArguments.readEvent`. */
  readonly argumentKeys = new KeyRanges();
  /** The record only made sense with backslashes taken literally. */
  literalBackslashes = false;
}

export interface TraceVisitor {
  event(event: TraceEvent): void;
  /** A top-level key of the object form other than the events, with its value's bytes (a string keeps its quotes). */
  topLevel?(key: string, bytes: Uint8Array, start: number, end: number): void;
}

export interface ScannerOptions {
  /** Longest record or top-level value that is held; larger ones are skipped. Default 64 MiB. */
  readonly maxItemBytes?: number;
}

export interface ScanOutcome {
  /** `none`: neither an object nor an array (nothing was read). */
  readonly form: 'object' | 'array' | 'none';
  /** Whether an array of events was found at all; false for `{}`, `{"traceEvents": null}`. */
  readonly eventsFound: boolean;
  /** Records seen, dropped ones included. */
  readonly events: number;
  /** `events`: the file ended inside the event array; `document`: after it, without the closing brace; `complete`. */
  readonly openAt: 'events' | 'document' | 'complete';
  /** Absolute offset after the last whole event. */
  readonly lastWholeAt: number;
  readonly broken: { readonly count: number; readonly firstAt: number };
  readonly oversized: { readonly count: number; readonly firstAt: number };
  /** Stray closers, bytes that are no record, bytes after the end: tolerated. */
  readonly stray: { readonly count: number; readonly firstAt: number };
  readonly literalBackslashes: number;
  /** Events with a bare inf or NaN somewhere. */
  readonly nonFinite: number;
  readonly bytes: number;
  readonly byteOrderMark: boolean;
  /** First bytes that are not blank, for telling what a foreign file is. */
  readonly empty: boolean;
}
