/**
 * Counters of a trace (`ph` C): each number in `args` is a series of its own, told apart by process, name, key and what else
 * identifies it (`id` of the event, `acc_id` among the arguments). What is no number makes the series unknown from then on,
 * and is counted; so is what has no usable time. However many values a file holds, about a million are kept.
 */
import type { CounterSeries } from '../profile/columns';
import type { ProblemList } from '../profile/problems';
import { StringTable } from '../profile/strings';
import { CounterBuilder } from './counterBuilder';
import { counterName } from './counterNames';
import { BACKSLASH, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, isSpace, skipNested, skipScalar, skipString } from './jsonScanner';
import { SameBytes } from './kinetoRows';
import type { TraceClock } from './traceClock';
import type { TraceEvent } from './traceEvent';
import type { EventLayout } from './traceLayout';
import { parseDecimal, parseInteger } from './traceNumbers';
import { decodeText } from './traceText';

/** Series of one trace, and values of all of them together, before all are thinned to about half. */
const MOST_SERIES = 1000;
export const MOST_VALUES = 1 << 20;
/** Shorter series are not thinned when the total is too large: they are not what fills it. */
const SHORT_SERIES = 256;
/** Distinct names; processes, keys and identities have a sixteenth of it. Together they fit a double. */
const MOST_NAMES = 1 << 16;
const MOST_OTHERS = 1 << 12;
/** Arguments that say which unit is counted, not how much. */
const IDENTITY = /(?:^|[ _])id$/i;

interface Growing {
  readonly process: number;
  readonly name: number;
  readonly key: number;
  readonly apart: number;
  readonly values: CounterBuilder;
}

export class TraceCounters {
  private readonly processes = new StringTable();
  private readonly processNames = new Map<number, string>();
  /** Counters of a process come together. */
  private readonly sameProcess = new SameBytes();
  private lastProcess = 0;
  private readonly names = new StringTable();
  private readonly keys = new StringTable();
  private readonly apart = new StringTable();
  /** Of events with one small number as identity among the arguments, the usual case: key and value → `apart`. */
  private readonly apartOf = new Map<number, number>();
  /** Keys of the arguments, for the layouts met lately. */
  private readonly plans: { readonly layout: EventLayout; readonly keys: Uint32Array }[] = [];
  private readonly isIdentity: (boolean | undefined)[] = [];
  private readonly series = new Map<number, Growing>();
  private held = 0;
  private unplaced = 0;
  private notNumbers = 0;
  private beyond = 0;
  /** Arguments of the event at hand: key, range of the value. */
  private readonly found: { key: number; start: number; end: number }[] = [];

  nameProcess({ bytes, processStart, processEnd }: TraceEvent, name: string): void {
    if (processStart >= 0 && this.processes.size < MOST_OTHERS) {
      this.processNames.set(this.processes.internBytes(bytes, processStart, processEnd), name);
    }
  }

  add(event: TraceEvent, clock: TraceClock): void {
    const { bytes } = event;
    if (this.names.size >= MOST_NAMES || this.keys.size >= MOST_OTHERS - 16 || this.apart.size >= MOST_OTHERS || this.processes.size >= MOST_OTHERS) {
      this.beyond++;
      return;
    }
    const time = clock.beside(bytes, event.timeStart, event.timeEnd);
    const count = this.readArguments(event);
    if (!this.sameProcess.matches(bytes, event.processStart, event.processEnd)) {
      this.lastProcess = event.processStart < 0 ? 0 : this.processes.internBytes(bytes, event.processStart, event.processEnd);
    }
    const process = this.lastProcess;
    const name = event.nameStart < 0 ? 0 : this.names.internBytes(bytes, event.nameStart, event.nameEnd, decodeText);
    const apart = this.identity(event, count);
    let numbers = 0;
    for (let i = 0; i < count; i++) {
      const { key, start, end } = this.found[i];
      if (this.isIdentity[key] !== true) {
        numbers++;
        this.put(process, name, key, apart, time, parseDecimal(bytes, start, end));
      }
    }
    this.notNumbers += numbers === 0 ? 1 : 0;
  }

  private put(process: number, name: number, key: number, apart: number, time: number, value: number): void {
    if (Number.isNaN(time)) {
      this.unplaced++;
      return;
    }
    const id = ((process * MOST_NAMES + name) * MOST_OTHERS + key) * MOST_OTHERS + apart;
    let series = this.series.get(id);
    if (series === undefined) {
      if (this.series.size >= MOST_SERIES) {
        this.beyond++;
        return;
      }
      series = { process, name, key, apart, values: new CounterBuilder() };
      this.series.set(id, series);
    }
    const before = series.values.count;
    series.values.add(time, value);
    this.notNumbers += Number.isNaN(value) ? 1 : 0;
    this.held += series.values.count - before;
    if (this.held >= MOST_VALUES) {
      this.thinAll();
    }
  }

  private thinAll(): void {
    this.held = 0;
    for (const { values } of this.series.values()) {
      if (values.count > SHORT_SERIES) {
        values.thin();
      }
      this.held += values.count;
    }
  }

  /** What of the event identifies its series beside the name: 0 for nothing. */
  private identity(event: TraceEvent, count: number): number {
    let first = -1;
    for (let i = 0; i < count; i++) {
      const { key } = this.found[i];
      if ((this.isIdentity[key] ??= IDENTITY.test(this.keys.get(key)))) {
        if (first >= 0 || event.idStart >= 0) {
          return this.identityText(event, count);
        }
        first = i;
      }
    }
    if (first < 0) {
      return event.idStart < 0 ? 0 : this.identityText(event, count);
    }
    const { key, start, end } = this.found[first];
    const number = start < 0 ? 0 : parseInteger(event.bytes, start, end);
    if (!(number >= 0 && number < MOST_OTHERS) || (end - start > 1 && event.bytes[start] === 0x30)) {
      return this.identityText(event, count);
    }
    const short = key * MOST_OTHERS + number;
    let apart = this.apartOf.get(short);
    if (apart === undefined) {
      apart = this.identityText(event, count);
      this.apartOf.set(short, apart);
    }
    return apart;
  }

  private identityText({ bytes, idStart, idEnd }: TraceEvent, count: number): number {
    let text = idStart < 0 ? '' : decodeText(bytes, idStart, idEnd);
    for (let i = 0; i < count; i++) {
      const { key, start, end } = this.found[i];
      if (this.isIdentity[key] === true) {
        text += `${text === '' ? '' : ' · '}${this.keys.get(key)} ${start < 0 ? '' : decodeText(bytes, start, end)}`;
      }
    }
    return text === '' ? 0 : this.apart.intern(text);
  }

  /** Fills `found`; how many there are. Values that are no text and no number keep their bytes, which then are no number either. */
  private readArguments(event: TraceEvent): number {
    const { bytes, argsStart, argsEnd, literalBackslashes: literal, layout } = event;
    if (layout !== undefined) {
      const keys = this.keysOf(layout);
      for (let i = 0; i < keys.length; i++) {
        const slot = (this.found[i] ??= { key: 0, start: 0, end: 0 });
        slot.key = keys[i];
        slot.start = event.valueStart[layout.firstArgument + i];
        slot.end = event.valueEnd[layout.firstArgument + i];
      }
      return keys.length;
    }
    let count = 0;
    let p = argsStart + 1;
    while (argsStart >= 0 && p < argsEnd) {
      while (isSpace(bytes[p]) || bytes[p] === COMMA) {
        p++;
      }
      if (bytes[p] !== QUOTE) {
        break;
      }
      const key = ++p;
      while (bytes[p] !== QUOTE && p < argsEnd) {
        p += bytes[p] === BACKSLASH && !literal ? 2 : 1;
      }
      const keyEnd = p++;
      while (isSpace(bytes[p]) || bytes[p] === COLON) {
        p++;
      }
      const first = bytes[p];
      const isText = first === QUOTE;
      const start = isText ? p + 1 : p;
      p = isText ? skipString(bytes, start, argsEnd, literal) : first === OPEN_BRACE || first === OPEN_BRACKET ? skipNested(bytes, start, argsEnd, literal) : skipScalar(bytes, start, argsEnd);
      if (p < 0) {
        break;
      }
      const slot = (this.found[count++] ??= { key: 0, start: 0, end: 0 });
      slot.key = this.keys.size >= MOST_OTHERS ? 0 : this.keys.internBytes(bytes, key, keyEnd, decodeText);
      slot.start = start;
      slot.end = isText ? p - 1 : p;
    }
    return count;
  }

  private keysOf(layout: EventLayout): Uint32Array {
    for (const plan of this.plans) {
      if (plan.layout === layout) {
        return plan.keys;
      }
    }
    const keys = Uint32Array.from(layout.argumentKeys, (key) => this.keys.internBytes(key, 0, key.length, decodeText));
    this.plans.push({ layout, keys });
    return keys;
  }

  /** The finished series in order of appearance; undefined when there are none. `place` turns a time as read into one to keep, or NaN. */
  finish(problems: ProblemList, where: string, place: (timeNs: number) => number): readonly CounterSeries[] | undefined {
    let thinned = 0;
    const list: CounterSeries[] = [];
    for (const { process, name, key, apart, values } of this.series.values()) {
      const { timeNs, value, unplaced } = values.finish(place);
      this.unplaced += unplaced;
      thinned += values.count < values.recorded ? 1 : 0;
      const named = counterName(this.names.get(name), this.keys.get(key), [this.apart.get(apart)]);
      if (named.scale !== 1) {
        value.forEach((one, i) => (value[i] = one * named.scale));
      }
      if (timeNs.length > 0) {
        list.push({ group: this.processNames.get(process) ?? this.processes.get(process), name: named.name, unit: named.unit, timeNs, value });
      }
    }
    const report = (kind: string, count: number): void => {
      if (count > 0) {
        problems.add(kind, where, { severity: 'info', count });
      }
    };
    report('counters-without-time', this.unplaced);
    report('counters-not-numbers', this.notNumbers);
    report('counters-thinned', thinned);
    report('counters-beyond', this.beyond);
    return list.length === 0 ? undefined : list;
  }
}
