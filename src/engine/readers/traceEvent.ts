/** What `TraceScanner` hands to a visitor, and what it says at the end. */
import { KeyRanges } from './jsonScanner';
import { Field, MOST_VALUES, type EventLayout } from './traceLayout';

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
  /** Where the keys of `args` lie, for `FoundArguments.readEvent`; not filled when `layout` is known. */
  readonly argumentKeys = new KeyRanges();
  /** Set when the event is like earlier ones but for its values, which lie at `valueStart` (-1 for null) to `valueEnd`. */
  layout: EventLayout | undefined;
  readonly valueStart = new Int32Array(MOST_VALUES);
  readonly valueEnd = new Int32Array(MOST_VALUES);
  /** The record only made sense with backslashes taken literally. */
  literalBackslashes = false;

  /** Forgets the event before. */
  reset(start: number, phase: number): void {
    this.start = start;
    this.phase = phase;
    this.nameStart = this.categoryStart = this.timeStart = this.durationStart = -1;
    this.processStart = this.threadStart = this.idStart = this.bindStart = this.argsStart = -1;
    this.nameEnd = this.categoryEnd = this.timeEnd = this.durationEnd = -1;
    this.processEnd = this.threadEnd = this.idEnd = this.bindEnd = this.argsEnd = -1;
    this.literalBackslashes = false;
    this.layout = undefined;
  }

  /** Notes where the value of a key lies. */
  set(field: Field, from: number, to: number): void {
    switch (field) {
      case Field.Phase:
        this.phase = to > from ? this.bytes[from] : 0;
        break;
      case Field.Name:
        this.nameStart = from;
        this.nameEnd = to;
        break;
      case Field.Category:
        this.categoryStart = from;
        this.categoryEnd = to;
        break;
      case Field.Time:
        this.timeStart = from;
        this.timeEnd = to;
        break;
      case Field.Duration:
        this.durationStart = from;
        this.durationEnd = to;
        break;
      case Field.Process:
        this.processStart = from;
        this.processEnd = to;
        break;
      case Field.Thread:
        this.threadStart = from;
        this.threadEnd = to;
        break;
      case Field.Id:
        this.idStart = from;
        this.idEnd = to;
        break;
      case Field.Bind:
        this.bindStart = from;
        this.bindEnd = to;
        break;
      case Field.Arguments:
        this.argsStart = from;
        this.argsEnd = to;
        break;
      case Field.Other:
        break;
    }
  }
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
