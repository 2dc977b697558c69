/**
 * Events that one writer writes alike: `{"ph": "X", "cat": "python_function", "name": "` … `", "pid": ` … The bytes between
 * the values never change within a phase, a category and a set of arguments, so they are compared four at a time instead
 * of being taken apart again for each of a million events. What differs in any way goes to the scanner's general path,
 * which also says what is right: a layout is only ever made from an event that path has read.
 */
import type { TraceEvent } from './traceEvent';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, isSpace, skipNested, skipScalar, skipString } from './jsonScanner';

/** Keys of an event that are kept. */
export const Field = { Other: 0, Phase: 1, Name: 2, Category: 3, Time: 4, Duration: 5, Process: 6, Thread: 7, Id: 8, Bind: 9, Arguments: 10 } as const;
export type Field = (typeof Field)[keyof typeof Field];

/** How the value behind a run of fixed bytes is passed over. */
const enum Kind {
  Text,
  Scalar,
  Nested,
  /** No value: the event's last run. */
  End,
}

/** Of one piece in `EventLayout.program`: fixed bytes before the value, then what the value is. */
const enum Part {
  /** How many fixed bytes, and how many whole words of four they make. */
  Length,
  Words,
  /** Which bits of one more word count, and how many bytes that are; both 0 when the words are all. */
  Mask,
  Rest,
  Kind,
  Size,
}

/** Values an event of a layout may have; `TraceEvent.valueStart` and `valueEnd` hold where they lie. */
export const MOST_VALUES = 48;
/** The first two places there stand for "absent" and for the event's first byte. */
const ABSENT = 0;
const EVENT_START = 1;
const FIRST_VALUE = 2;
/** A file with more ways of writing an event than this is read the general way where these do not fit. */
const MOST_LAYOUTS = 16;
const MOST_ATTEMPTS = 64;
const NULL_LETTER = 0x6e;

const GOES_ON = 0;
const ENDS = 1;

/** Bytes of a number or bare word; `I`, `N` and `i` may be an infinity, which the general path counts. */
const SCALAR = new Uint8Array(256);
for (const byte of [COMMA, CLOSE_BRACE, CLOSE_BRACKET, 0x20, 0x0a, 0x0d, 0x09, QUOTE, COLON, OPEN_BRACE, OPEN_BRACKET]) {
  SCALAR[byte] = ENDS;
}
for (const letter of 'INi') {
  SCALAR[letter.charCodeAt(0)] = 2;
}

/** A place among the fixed bytes: so many after the end of a value. */
interface Mark {
  readonly value: number;
  readonly offset: number;
}

const NO_MARK: Mark = { value: ABSENT, offset: 0 };

/** What the learner found out about one event. */
interface LayoutParts {
  /** The fixed bytes of all pieces as little-endian words. */
  readonly words: Int32Array;
  readonly program: Int32Array;
  readonly phase: number;
  /** Which value each field is, by `Field`. */
  readonly values: readonly number[];
  readonly category: Mark;
  readonly categoryLength: number;
  readonly argumentsFrom: Mark;
  readonly argumentsTo: Mark;
  readonly argumentKeys: readonly Uint8Array[];
  readonly firstArgument: number;
}

export class EventLayout {
  /** The layout that came after this one last time. */
  next: EventLayout | undefined;
  /** For the visitor's own use: what it made of the category, which is the same in all events of a layout. */
  note = -1;
  /** Keys of `args` in their order; the value of the first is number `firstArgument`. */
  readonly argumentKeys: readonly Uint8Array[];
  readonly firstArgument: number;

  constructor(private readonly parts: LayoutParts) {
    this.argumentKeys = parts.argumentKeys;
    this.firstArgument = parts.firstArgument;
  }

  /** Fills `event` and returns the position after it; 0 when the bytes are not of this layout, whatever they are. */
  match(bytes: Uint8Array, view: DataView, start: number, end: number, event: TraceEvent): number {
    const { words, program } = this.parts;
    const { valueStart, valueEnd } = event;
    let p = start;
    let word = 0;
    let value = FIRST_VALUE;
    for (let at = 0; ; at += Part.Size, value++) {
      if (p + program[at + Part.Length] > end) {
        return 0;
      }
      const stop = word + program[at + Part.Words];
      for (; word < stop; word++, p += 4) {
        if (words[word] !== view.getInt32(p, true)) {
          return 0;
        }
      }
      const mask = program[at + Part.Mask];
      if (mask !== 0) {
        // Reads past the fixed bytes, at most into the quotes behind the window.
        if (words[word++] !== (view.getInt32(p, true) & mask)) {
          return 0;
        }
        p += program[at + Part.Rest];
      }
      let from = p;
      const kind = program[at + Part.Kind] as Kind;
      if (kind === Kind.Scalar) {
        let meaning = SCALAR[bytes[p]];
        while (meaning === GOES_ON) {
          meaning = SCALAR[bytes[++p]];
        }
        if (meaning !== ENDS || p === from) {
          return 0;
        }
        if (bytes[from] === NULL_LETTER && p - from === 4) {
          from = -1;
        }
      } else if (kind === Kind.Text) {
        p = endOfText(bytes, view, p);
        if (bytes[p] === BACKSLASH) {
          return 0;
        }
      } else if (kind === Kind.Nested) {
        if (bytes[p] !== OPEN_BRACE && bytes[p] !== OPEN_BRACKET) {
          return 0;
        }
        p = skipNested(bytes, p, end, false);
        if (p < 0) {
          return 0;
        }
      } else {
        this.fill(event, start, p);
        return p;
      }
      if (p >= end) {
        return 0;
      }
      valueStart[value] = from;
      valueEnd[value] = p;
    }
  }

  private fill(event: TraceEvent, start: number, end: number): void {
    const { phase, values, category, categoryLength, argumentsFrom, argumentsTo } = this.parts;
    const { valueStart, valueEnd } = event;
    valueStart[ABSENT] = valueEnd[ABSENT] = -1;
    valueEnd[EVENT_START] = start;
    event.start = start;
    event.end = end;
    event.phase = phase;
    event.nameStart = valueStart[values[Field.Name]];
    event.nameEnd = valueEnd[values[Field.Name]];
    event.categoryStart = category.value === ABSENT ? -1 : valueEnd[category.value] + category.offset;
    event.categoryEnd = event.categoryStart + categoryLength;
    event.timeStart = valueStart[values[Field.Time]];
    event.timeEnd = valueEnd[values[Field.Time]];
    event.durationStart = valueStart[values[Field.Duration]];
    event.durationEnd = valueEnd[values[Field.Duration]];
    event.processStart = valueStart[values[Field.Process]];
    event.processEnd = valueEnd[values[Field.Process]];
    event.threadStart = valueStart[values[Field.Thread]];
    event.threadEnd = valueEnd[values[Field.Thread]];
    event.idStart = valueStart[values[Field.Id]];
    event.idEnd = valueEnd[values[Field.Id]];
    event.bindStart = valueStart[values[Field.Bind]];
    event.bindEnd = valueEnd[values[Field.Bind]];
    event.argsStart = argumentsFrom.value === ABSENT ? -1 : valueEnd[argumentsFrom.value] + argumentsFrom.offset;
    event.argsEnd = argumentsFrom.value === ABSENT ? -1 : valueEnd[argumentsTo.value] + argumentsTo.offset;
    event.literalBackslashes = false;
    event.layout = this;
  }
}

/** Position of the first quote or backslash, four bytes a step: a zero byte in `word ^ pattern` borrows from its top bit. */
function endOfText(bytes: Uint8Array, view: DataView, from: number): number {
  let p = from;
  for (;;) {
    const word = view.getInt32(p, true);
    const quote = word ^ 0x22222222;
    const slash = word ^ 0x5c5c5c5c;
    if (((((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash)) & 0x80808080) !== 0) {
      break;
    }
    p += 4;
  }
  while (bytes[p] !== QUOTE && bytes[p] !== BACKSLASH) {
    p++;
  }
  return p;
}

/** The layouts of one file, learnt as it is read. */
export class EventLayouts {
  private readonly layouts: EventLayout[] = [];
  private last: EventLayout | undefined;
  private attempts = 0;
  private hits = 0;
  private misses = 0;

  /** Fills `event` from the record at `start` and returns the position after it; 0: ask the general path. */
  match(bytes: Uint8Array, view: DataView, start: number, end: number, event: TraceEvent): number {
    const { layouts } = this;
    const expected = this.last?.next;
    if (expected !== undefined) {
      const after = expected.match(bytes, view, start, end, event);
      if (after > 0) {
        this.last = expected;
        this.hits++;
        return after;
      }
    }
    for (let i = 0; i < layouts.length; i++) {
      const layout = layouts[i];
      const after = layout === expected ? 0 : layout.match(bytes, view, start, end, event);
      if (after > 0) {
        if (this.last !== undefined) {
          this.last.next = layout;
        }
        this.last = layout;
        this.hits++;
        if (i > 0) {
          layouts[i] = layouts[i - 1];
          layouts[i - 1] = layout;
        }
        return after;
      }
    }
    if (++this.misses > 1000 && this.misses > this.hits && layouts.length > 0) {
      // A file that writes no two events alike: trying would cost more than it saves.
      layouts.length = 0;
      this.last = undefined;
      this.attempts = MOST_ATTEMPTS;
    }
    return 0;
  }

  /** Learns from an event that the general path has just read at `[start, end)`. */
  learn(bytes: Uint8Array, start: number, end: number, phase: number): void {
    if (this.layouts.length === MOST_LAYOUTS || this.attempts === MOST_ATTEMPTS) {
      return;
    }
    this.attempts++;
    const layout = new LayoutLearner(bytes, start, end).learn(phase);
    if (layout !== undefined) {
      this.layouts.push(layout);
    }
  }
}

/** Takes one well-formed event apart. */
class LayoutLearner {
  private readonly program: number[] = [];
  private readonly words: number[] = [];
  private readonly values = new Array<number>(Field.Arguments + 1).fill(ABSENT);
  private readonly argumentKeys: Uint8Array[] = [];
  private value = EVENT_START;
  /** Everything before this is in `words`, or is a value. */
  private copied: number;

  constructor(private readonly bytes: Uint8Array, private readonly start: number, private readonly end: number) {
    this.copied = start;
  }

  /** Undefined for events that say a key twice, and for those with very many values. */
  learn(phase: number): EventLayout | undefined {
    const { bytes, end } = this;
    const seen = new Set<Field>();
    let category = NO_MARK;
    let categoryLength = 0;
    let argumentsFrom = NO_MARK;
    let argumentsTo = NO_MARK;
    let firstArgument = FIRST_VALUE;
    let within = false;
    let p = this.start + 1;
    while (p < end && this.value < MOST_VALUES - 1) {
      if (isSpace(bytes[p]) || bytes[p] === COMMA) {
        p++;
        continue;
      }
      if (bytes[p] === CLOSE_BRACE) {
        p++;
        if (!within) {
          this.piece(p, Kind.End);
          const { words, program, values, argumentKeys } = this;
          return new EventLayout({
            words: Int32Array.from(words), program: Int32Array.from(program), phase, values, category, categoryLength, argumentsFrom, argumentsTo, argumentKeys, firstArgument,
          });
        }
        within = false;
        argumentsTo = this.markAt(p);
        continue;
      }
      const keyAt = p + 1;
      const keyEnd = skipString(bytes, keyAt, end, false) - 1;
      p = keyEnd + 1;
      while (isSpace(bytes[p]) || bytes[p] === COLON) {
        p++;
      }
      if (within) {
        if (!this.addArgument(bytes.slice(keyAt, keyEnd))) {
          return undefined;
        }
        p = this.passValue(p);
        continue;
      }
      const field = fieldOf(bytes, keyAt, keyEnd);
      if (field !== Field.Other && seen.size === seen.add(field).size) {
        return undefined;
      }
      if (field === Field.Arguments && bytes[p] === OPEN_BRACE) {
        argumentsFrom = this.markAt(p);
        firstArgument = this.value + 1;
        within = true;
        p++;
      } else if (field === Field.Phase || field === Field.Category) {
        const after = bytes[p] === QUOTE ? skipString(bytes, p + 1, end, false) : -1;
        if (after < 0) {
          return undefined;
        }
        if (field === Field.Category) {
          category = this.markAt(p + 1);
          categoryLength = after - p - 2;
        }
        p = after;
      } else {
        p = this.passValue(p);
        if (field !== Field.Arguments) {
          this.values[field] = this.value;
        }
      }
    }
    return undefined;
  }

  /** False when the key was there before. */
  private addArgument(key: Uint8Array): boolean {
    const { argumentKeys } = this;
    if (argumentKeys.some(known => known.length === key.length && known.every((byte, i) => byte === key[i]))) {
      return false;
    }
    argumentKeys.push(key);
    return true;
  }

  private passValue(p: number): number {
    const { bytes, end } = this;
    const byte = bytes[p];
    this.value++;
    if (byte === QUOTE) {
      const after = skipString(bytes, p + 1, end, false);
      this.piece(p + 1, Kind.Text);
      this.copied = after - 1;
      return after;
    }
    const isNested = byte === OPEN_BRACE || byte === OPEN_BRACKET;
    this.piece(p, isNested ? Kind.Nested : Kind.Scalar);
    this.copied = isNested ? skipNested(bytes, p, end, false) : skipScalar(bytes, p, end);
    return this.copied;
  }

  private piece(at: number, kind: Kind): void {
    const { bytes } = this;
    const length = at - this.copied;
    const rest = length % 4;
    let from = this.copied;
    for (; from + 4 <= at; from += 4) {
      this.words.push(bytes[from] | (bytes[from + 1] << 8) | (bytes[from + 2] << 16) | (bytes[from + 3] << 24));
    }
    if (rest > 0) {
      this.words.push(bytes[from] | (rest > 1 ? bytes[from + 1] << 8 : 0) | (rest > 2 ? bytes[from + 2] << 16 : 0));
    }
    this.program.push(length, (length - rest) / 4, 2 ** (8 * rest) - 1, rest, kind);
    this.copied = at;
  }

  /** `at` lies among the fixed bytes behind the value passed last. */
  private markAt(at: number): Mark {
    return { value: this.value, offset: at - this.copied };
  }
}

const FIELD_NAMES: Readonly<Record<string, Field>> = {
  ph: Field.Phase, name: Field.Name, cat: Field.Category, ts: Field.Time, dur: Field.Duration, pid: Field.Process, tid: Field.Thread, id: Field.Id, bp: Field.Bind, args: Field.Arguments,
};

function fieldOf(bytes: Uint8Array, start: number, end: number): Field {
  const text = end - start > 4 ? '' : String.fromCharCode(...bytes.subarray(start, end));
  return Object.hasOwn(FIELD_NAMES, text) ? FIELD_NAMES[text] : Field.Other;
}
