/**
 * Trace-event JSON (the "Trace Event Format" of Chrome, as written by Kineto and by torch_npu) as a stream of events.
 *
 * How to use it:
 *
 *     class MyVisitor implements TraceVisitor {
 *       event(e: TraceEvent) { … e.bytes, e.phase, e.nameStart, e.nameEnd … }
 *       topLevel(key, bytes, start, end) { … parseLenient(bytes, start, end) … }
 *     }
 *     const outcome = await scanTrace(chunks, visitor, { signal });
 *
 * - The visitor gets the SAME `TraceEvent` object each time; its ranges point into `e.bytes`, a window that is overwritten
 *   after the call: copy or intern what must stay. A range is `[xStart, xEnd)`, without the quotes of a string;
 *   `xStart` is -1 when the key is absent or null. `e.bytesAt + xStart` is the absolute offset in the uncompressed file.
 * - `args` is jumped over, not read: decode what you need with `forEachArgument` (traceArguments.ts) and keep
 *   `(e.bytesAt + e.argsStart, e.argsEnd - e.argsStart)` for later (traceDetail.ts).
 * - `ts`, `dur` may be numbers or strings: `parseMicroseconds`. Ids above 2^53 and textual ids: `IdKeys`.
 * - Flow events (`ph` s, t, f) arrive like all others, with `id` and `bp`.
 *
 * Accepted: object form with `traceEvents` anywhere, bare array, any spacing and key order, BOM, raw control bytes,
 * invalid UTF-8, lone backslashes, bare inf/NaN, trailing commas, extra braces and brackets, a missing end, other bytes
 * after the end. A record that makes no sense is dropped, counted with its byte offset, and reading goes on at the next
 * record start (pytorch#33961, #95460). Keys written with escapes (`"n\u0061me"`) are not recognised: no writer does it.
 *
 * Memory: one chunk plus the longest event (records over `maxItemBytes` are dropped and counted).
 */
import type { ReaderContext } from './reader';
import { TraceEvent, type ScanOutcome, type ScannerOptions, type TraceVisitor } from './traceEvent';
import { checkCancelled } from './reader';
import {
  BACKSLASH, BROKEN, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, INCOMPLETE, OPEN_BRACE, OPEN_BRACKET, QUOTE, SENTINELS, StreamingSkip, checkNested, isSpace,
  seen, skipArguments, skipNested, skipScalar, skipString, skipValue,
} from './jsonScanner';
import { EventLayouts, Field } from './traceLayout';
import { findEndOfEvents, findRecordStart } from './traceResync';

export { TraceEvent, type ScanOutcome, type ScannerOptions, type TraceVisitor } from './traceEvent';

const enum State { Start, Key, Value, Events, Resync, SkipItem, After, NotJson }

const MINIMUM_CHECKED = 1 << 20;

export class TraceScanner {
  private readonly event = new TraceEvent();
  private readonly layouts = new EventLayouts();
  private window = new Uint8Array(0);
  private view = new DataView(this.window.buffer);
  private filled = 0;
  /** Absolute offset of `window[0]`. */
  private windowAt = 0;
  private state: State = State.Start;
  private form: ScanOutcome['form'] = 'none';
  private key = '';
  private eventsFound = false;
  private events = 0;
  private documentClosed = false;
  private eventsClosed = false;
  private lastWholeAt = 0;
  private readonly broken = { count: 0, firstAt: -1 };
  private readonly oversized = { count: 0, firstAt: -1 };
  private readonly stray = { count: 0, firstAt: -1 };
  private literal = 0;
  private nonFinite = 0;
  private byteOrderMark = false;
  private sawSomething = false;
  private skip: StreamingSkip | undefined;
  private afterSkip: State = State.Events;
  /** Scan again only when this much is there: keeps records far larger than a chunk linear. */
  private wanted = 0;
  private checkedUpTo = 0;
  /** Last byte before the window that is no blank. */
  private previousByte = COMMA;
  private readonly maxItemBytes: number;

  constructor(private readonly visitor: TraceVisitor, options: ScannerOptions = {}) {
    this.maxItemBytes = options.maxItemBytes ?? 64 * 1024 * 1024;
  }

  push(chunk: Uint8Array): void {
    this.reserve(this.filled + chunk.length);
    this.window.set(chunk, this.filled);
    this.filled += chunk.length;
    if (this.filled >= this.wanted) {
      this.run(false);
    }
  }

  finish(): ScanOutcome {
    this.run(true);
    return {
      form: this.form, eventsFound: this.eventsFound, events: this.events,
      openAt: this.documentClosed ? 'complete' : this.eventsClosed ? 'document' : this.eventsFound ? 'events' : 'document',
      lastWholeAt: this.lastWholeAt, broken: this.broken, oversized: this.oversized, stray: this.stray,
      literalBackslashes: this.literal, nonFinite: this.nonFinite, bytes: this.windowAt + this.filled, byteOrderMark: this.byteOrderMark, empty: !this.sawSomething,
    };
  }

  private reserve(size: number): void {
    if (size + SENTINELS <= this.window.length) {
      return;
    }
    const larger = new Uint8Array(Math.max(size + SENTINELS, Math.min(this.window.length * 2, size + (8 << 20))));
    larger.set(this.window.subarray(0, this.filled));
    this.window = larger;
    this.view = new DataView(larger.buffer);
  }

  /** Works through the window as far as whole items go and moves the rest to its front. */
  private run(last: boolean): void {
    const end = this.filled;
    for (let i = 0; i < SENTINELS; i++) {
      this.window[end + i] = QUOTE;
    }
    this.wanted = 0;
    const position = this.advance(0, end, last);
    if (position > 0) {
      let before = position - 1;
      while (before > 0 && isSpace(this.window[before])) {
        before--;
      }
      this.previousByte = isSpace(this.window[before]) ? this.previousByte : this.window[before];
      this.window.copyWithin(0, position, end);
      this.filled = end - position;
      this.windowAt += position;
      this.checkedUpTo = 0;
      if (this.wanted > 0) {
        this.wanted -= position;
      }
    }
  }

  private advance(from: number, end: number, last: boolean): number {
    const bytes = this.window;
    let p = from;
    for (;;) {
      if (this.state === State.Events) {
        const next = this.readEvents(p, end, last);
        if (next.stop) {
          return next.position;
        }
        p = next.position;
        continue;
      }
      if (this.state === State.SkipItem) {
        const result = (this.skip ??= new StreamingSkip()).feed(bytes, p, end);
        p = result.position;
        if (!result.done) {
          return p;
        }
        this.skip = undefined;
        this.state = this.afterSkip;
        continue;
      }
      if (this.state === State.Resync) {
        const found = this.resync(p, end, last);
        p = found.position;
        if (found.stop) {
          return p;
        }
        continue;
      }
      if (this.state === State.NotJson) {
        return end;
      }
      while (p < end && (isSpace(bytes[p]) || (bytes[p] === COMMA && this.state === State.Key))) {
        p++;
      }
      if (p >= end) {
        return end;
      }
      switch (this.state) {
        case State.Start:
          p = this.start(p, end, last);
          if (p < 0) {
            return from;
          }
          break;
        case State.Key: {
          const next = this.readKey(p, end, last);
          if (next < 0) {
            return p;
          }
          p = next;
          break;
        }
        case State.Value: {
          const next = this.readValue(p, end, last);
          if (next < 0) {
            return p;
          }
          p = next;
          break;
        }
        case State.After:
          this.note(this.stray, p);
          return end;
      }
    }
  }

  private start(p: number, end: number, last: boolean): number {
    const bytes = this.window;
    if (bytes[p] === 0xef && !this.byteOrderMark) {
      if (end - p < 3 && !last) {
        return INCOMPLETE;
      }
      if (bytes[p + 1] === 0xbb && bytes[p + 2] === 0xbf) {
        this.byteOrderMark = true;
        return p + 3;
      }
    }
    this.sawSomething = true;
    if (bytes[p] === OPEN_BRACKET) {
      this.form = 'array';
      this.eventsFound = true;
      this.state = State.Events;
      this.lastWholeAt = this.windowAt + p + 1;
      return p + 1;
    }
    if (bytes[p] === OPEN_BRACE) {
      this.form = 'object';
      this.state = State.Key;
      return p + 1;
    }
    this.state = State.NotJson;
    return end;
  }

  /** A top-level key and its colon, or the end of the document. */
  private readKey(p: number, end: number, last: boolean): number {
    const bytes = this.window;
    if (bytes[p] === CLOSE_BRACE) {
      this.documentClosed = true;
      this.state = State.After;
      return p + 1;
    }
    if (bytes[p] !== QUOTE) {
      this.note(this.stray, p);
      return p + 1;
    }
    const after = skipString(bytes, p + 1, end, false);
    if (after === BROKEN) {
      this.note(this.stray, p);
      return p + 1;
    }
    let q = after;
    while (q >= 0 && q < end && isSpace(bytes[q])) {
      q++;
    }
    if (after < 0 || q >= end) {
      return last ? end : INCOMPLETE;
    }
    if (bytes[q] !== COLON) {
      this.note(this.stray, p);
      return q;
    }
    this.key = '';
    for (let i = p + 1; i < after - 1 && i < p + 200; i++) {
      this.key += String.fromCharCode(bytes[i]);
    }
    this.state = State.Value;
    return q + 1;
  }

  private readValue(p: number, end: number, last: boolean): number {
    const bytes = this.window;
    if (this.key === 'traceEvents' && bytes[p] === OPEN_BRACKET) {
      this.eventsFound = true;
      this.state = State.Events;
      this.lastWholeAt = this.windowAt + p + 1;
      return p + 1;
    }
    let after = skipValue(bytes, p, end);
    if (after === BROKEN) {
      after = skipValue(bytes, p, end, true);
    }
    if (after === BROKEN) {
      this.note(this.stray, p);
      this.state = State.Key;
      return p + 1;
    }
    if (after === INCOMPLETE) {
      if (last) {
        return end;
      }
      if (end - p > this.maxItemBytes) {
        this.note(this.oversized, p);
        this.state = State.SkipItem;
        this.afterSkip = State.Key;
        return p;
      }
      this.wanted = p + 2 * (end - p);
      return INCOMPLETE;
    }
    this.visitor.topLevel?.(this.key, bytes, p, after);
    this.state = State.Key;
    return after;
  }

  private readEvents(from: number, end: number, last: boolean): { readonly position: number; readonly stop: boolean } {
    const bytes = this.window;
    const { event, layouts, view } = this;
    event.bytes = bytes;
    event.bytesAt = this.windowAt;
    let p = from;
    for (;;) {
      let byte = bytes[p];
      while (byte === COMMA || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        byte = bytes[++p];
      }
      if (p >= end) {
        return { position: end, stop: true };
      }
      if (byte !== OPEN_BRACE) {
        if (byte === CLOSE_BRACKET) {
          this.eventsClosed = true;
          this.documentClosed = this.form === 'array';
          this.state = this.form === 'array' ? State.After : State.Key;
          return { position: p + 1, stop: false };
        }
        this.note(this.stray, p);
        if (byte === CLOSE_BRACE) {
          p++;
          continue;
        }
        this.state = State.Resync;
        return { position: p, stop: false };
      }
      seen.nonFinite = false;
      let after = layouts.match(bytes, view, p, end, event);
      if (after === 0) {
        seen.nonFinite = false;
        after = this.readEvent(bytes, p, end, false);
        if (after > 0) {
          layouts.learn(bytes, p, after, event.phase);
        }
      }
      if (after === BROKEN) {
        after = this.readEvent(bytes, p, end, true);
        this.literal += after > 0 ? 1 : 0;
      }
      if (after > 0) {
        event.index = this.events++;
        this.visitor.event(event);
        if (seen.nonFinite) {
          this.nonFinite++;
        }
        p = after;
        this.lastWholeAt = this.windowAt + p;
        continue;
      }
      if (after === INCOMPLETE) {
        const waiting = this.waitForMore(p, end, last);
        if (waiting !== undefined) {
          return { position: waiting, stop: this.state !== State.SkipItem };
        }
      }
      this.events++;
      this.note(this.broken, p);
      this.state = State.Resync;
      return { position: p + 1, stop: false };
    }
  }

  /** A record that the window does not hold whole: where to stop, or undefined when it is broken rather than long. */
  private waitForMore(p: number, end: number, last: boolean): number | undefined {
    const size = end - p;
    if ((last || size > MINIMUM_CHECKED) && size > this.checkedUpTo * 2) {
      if (checkNested(this.window, p, end) === BROKEN) {
        return undefined;
      }
      this.checkedUpTo = size;
    }
    if (last) {
      return p;
    }
    if (size > this.maxItemBytes) {
      this.events++;
      this.note(this.oversized, p);
      this.state = State.SkipItem;
      this.afterSkip = State.Events;
      return p;
    }
    this.wanted = p + 2 * size;
    return p;
  }

  /** Goes to the next record start (or the end of the events); keeps a tail that may hold the beginning of one. */
  private resync(p: number, end: number, last: boolean): { readonly position: number; readonly stop: boolean } {
    const record = findRecordStart(this.window, p, end, this.previousByte);
    const close = findEndOfEvents(this.window, p, record < 0 ? end : record, this.form === 'object', last && record < 0);
    if (close >= 0) {
      this.state = State.Events;
      return { position: close, stop: false };
    }
    if (record >= 0) {
      this.state = State.Events;
      return { position: record, stop: false };
    }
    return { position: last ? end : Math.max(p, end - 512), stop: true };
  }

  private note(counter: { count: number; firstAt: number }, position: number): void {
    if (counter.count++ === 0) {
      counter.firstAt = this.windowAt + position;
    }
  }

  /** Fills `this.event` from the record at `start`; returns the position after it, `INCOMPLETE` or `BROKEN`. */
  private readEvent(bytes: Uint8Array, start: number, end: number, literal: boolean): number {
    const event = this.event;
    event.reset(start, 0);
    event.literalBackslashes = literal;
    let p = start + 1;
    for (;;) {
      let byte = bytes[p];
      while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === COMMA) {
        byte = bytes[++p];
      }
      if (p >= end) {
        return INCOMPLETE;
      }
      if (byte !== QUOTE) {
        if (byte === CLOSE_BRACE) {
          event.end = p + 1;
          return p + 1;
        }
        return BROKEN;
      }
      // Known keys are told by their bytes; others are skipped like any string.
      const key = p + 1;
      const first = bytes[key];
      const second = bytes[key + 1];
      const third = bytes[key + 2];
      const fourth = bytes[key + 3];
      let field: Field = Field.Other;
      if (third === QUOTE) {
        field = first === 0x70 && second === 0x68 ? Field.Phase : first === 0x74 && second === 0x73 ? Field.Time
          : first === 0x69 && second === 0x64 ? Field.Id : first === 0x62 && second === 0x70 ? Field.Bind : Field.Other;
        p = key + 3;
      } else if (fourth === QUOTE) {
        if (third === 0x64) {
          field = first === 0x70 && second === 0x69 ? Field.Process : first === 0x74 && second === 0x69 ? Field.Thread : Field.Other;
        } else {
          field = first === 0x63 && second === 0x61 && third === 0x74 ? Field.Category : first === 0x64 && second === 0x75 && third === 0x72 ? Field.Duration : Field.Other;
        }
        p = key + 4;
      } else if (bytes[key + 4] === QUOTE) {
        field = first === 0x6e && second === 0x61 && third === 0x6d && fourth === 0x65 ? Field.Name
          : first === 0x61 && second === 0x72 && third === 0x67 && fourth === 0x73 ? Field.Arguments : Field.Other;
        p = key + 5;
      }
      if (field === Field.Other) {
        p = key;
        byte = bytes[p++];
        while (byte !== QUOTE) {
          if (byte === BACKSLASH && !literal) {
            p++;
          }
          byte = bytes[p++];
        }
      }
      byte = bytes[p];
      while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        byte = bytes[++p];
      }
      if (p >= end) {
        return INCOMPLETE;
      }
      if (byte !== COLON) {
        return BROKEN;
      }
      byte = bytes[++p];
      while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        byte = bytes[++p];
      }
      if (p >= end) {
        return INCOMPLETE;
      }
      // The value.
      let from = p;
      let to: number;
      if (byte === QUOTE) {
        from++;
        p = skipString(bytes, from, end, literal);
        to = p - 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        p = field === Field.Arguments ? skipArguments(bytes, from, end, literal, event.argumentKeys) : skipNested(bytes, from, end, literal);
        to = p;
      } else {
        p = skipScalar(bytes, from, end);
        to = p;
        if (byte === 0x6e && to - from === 4) {
          // null: as if the key were absent.
          field = Field.Other;
        }
      }
      if (p < 0) {
        return p;
      }
      if (field !== Field.Arguments || byte === OPEN_BRACE) {
        event.set(field, from, to);
      }
    }
  }
}

export interface ScanOptions extends ScannerOptions, Pick<ReaderContext, 'signal'> {
  /** Called before each chunk is scanned, with its absolute offset (spilling, hashing). */
  readonly onChunk?: (offset: number, chunk: Uint8Array) => Promise<void> | void;
}

/** Scans a whole stream of uncompressed bytes. Throws only `Cancelled`. */
export async function scanTrace(chunks: AsyncIterable<Uint8Array>, visitor: TraceVisitor, options: ScanOptions = {}): Promise<ScanOutcome> {
  const scanner = new TraceScanner(visitor, options);
  let offset = 0;
  for await (const chunk of chunks) {
    checkCancelled(options);
    await options.onChunk?.(offset, chunk);
    offset += chunk.length;
    // Large chunks (a port may hand over a whole file) are fed in parts so that the window stays small.
    for (let at = 0; at < chunk.length; at += 1 << 22) {
      scanner.push(chunk.subarray(at, Math.min(chunk.length, at + (1 << 22))));
    }
  }
  checkCancelled(options);
  return scanner.finish();
}
