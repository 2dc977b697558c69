import { FAMILIES } from '../../protocol/families';
import { EventKind, HostKind, type RankData } from '../../engine/profile/columns';
import { SubLanes } from './subLanes';

/**
 * A plain Chrome trace that Perfetto and chrome://tracing read: streams, host threads, Python frames, steps, counters, and an arrow from
 * each launch to its kernels. Format: "Trace Event Format", complete (X), metadata (M), counter (C) and flow (s, f) events.
 *
 * Both viewers drop or misplace slices that overlap on one track, so overlapping events go to extra tracks of the same name.
 * Times are exact decimals of microseconds relative to `baseTimeNanoseconds`.
 */
export interface PerfettoRank {
  readonly data: RankData;
  readonly label: string;
  /** Place of the rank among those written; keeps process ids apart. */
  readonly index: number;
}

const CHUNK = 64 * 1024;
/** Python frames and operators of one thread nest by time only roughly; apart, each nests by itself. */
const PYTHON_TRACK = 500_000;
const PROCESSES_PER_RANK = 1000;

export function perfettoHead(baseNs: bigint): string {
  return `{"displayTimeUnit":"ms","baseTimeNanoseconds":${baseNs},"traceEvents":[\n{"ph":"M","pid":0,"tid":0,"name":"trace_source","args":{"name":"FuseLens"}}`;
}

export const PERFETTO_TAIL = '\n]}\n';

/** The events of one rank as chunks of text, each starting with a comma; `baseNs` is the zero of the whole file. */
export function* perfettoRank({ data, label, index }: PerfettoRank, baseNs: bigint): Generator<string> {
  const writer = new TraceWriter(Number(data.baseNs - baseNs), index * PROCESSES_PER_RANK);
  for (const chunk of writer.device(data, label)) {
    yield chunk;
  }
  for (const chunk of writer.host(data, label)) {
    yield chunk;
  }
  for (const chunk of writer.counters(data, label)) {
    yield chunk;
  }
}

class TraceWriter {
  private buffer: string[] = [];
  private size = 0;
  private readonly lanes = new SubLanes();
  private readonly named = new Set<number>();

  constructor(private readonly shiftNs: number, private readonly firstProcess: number) {}

  *device(data: RankData, label: string): Generator<string> {
    const { deviceEvents: events, strings } = data;
    const process = this.firstProcess + 1;
    this.metadata('process_name', process, 0, `${label}: device ${data.device ?? ''}`.trim());
    for (let row = 0; row < events.count; row++) {
      const start = events.startNs[row];
      if (Number.isNaN(start)) {
        continue;
      }
      const duration = Number.isNaN(events.durationNs[row]) ? 0 : events.durationNs[row];
      const stream = events.stream[row];
      const track = this.track(process, stream, start, start + duration, data.streams[stream]?.label ?? '');
      const details: Record<string, string> = { kind: KINDS[events.kind[row]] ?? '', family: FAMILIES[events.family[row]] ?? 'other' };
      const type = strings.get(events.type[row]);
      const core = strings.get(events.core[row]);
      const shapes = strings.get(events.shapes[row]);
      const dtypes = strings.get(events.dtypes[row]);
      Object.assign(details, type === '' ? {} : { type }, core === '' ? {} : { core }, shapes === '' ? {} : { shapes }, dtypes === '' ? {} : { dtypes });
      const step = data.steps[events.step[row]];
      if (step !== undefined) {
        details.step = step.name;
      }
      this.slice(strings.get(events.name[row]), KINDS[events.kind[row]] ?? 'kernel', process, track, start, duration, details);
      const launch = events.launch[row];
      if (launch >= 0 && !Number.isNaN(data.hostEvents.startNs[launch])) {
        this.flow(row, process, track, start, data, launch);
      }
      yield* this.full();
    }
    yield* this.rest();
  }

  *host(data: RankData, label: string): Generator<string> {
    const { hostEvents: events, strings } = data;
    const process = this.firstProcess + 2;
    if (events.count > 0) {
      this.metadata('process_name', process, 0, `${label}: host`);
    }
    for (let row = 0; row < events.count; row++) {
      const start = events.startNs[row];
      if (Number.isNaN(start)) {
        continue;
      }
      const duration = Number.isNaN(events.durationNs[row]) ? 0 : events.durationNs[row];
      const thread = events.thread[row];
      const python = events.kind[row] === HostKind.Python;
      const name = data.threads[thread]?.label ?? '';
      const track = this.nested(process, python ? thread + PYTHON_TRACK : thread, start, start + duration, python ? `${name} (Python)` : name);
      const stack = strings.get(events.stack[row]);
      this.slice(strings.get(events.name[row]), HOST_KINDS[events.kind[row]] ?? 'host', process, track, start, duration, stack === '' ? {} : { stack });
      yield* this.full();
    }
    yield* this.rest();
  }

  /** Counters and memory over time. The format cannot say that a value is not known: such values are left out. */
  *counters({ counters = [], memory }: RankData, label: string): Generator<string> {
    const process = this.firstProcess + 3;
    const series = [
      ...counters.map(({ group, name, unit, timeNs, value }) => ({ name: group === '' || name.startsWith(group) ? name : `${group} · ${name}`, unit, timeNs, value })),
      ...memory.flatMap(({ component, device, timeNs, allocatedBytes, reservedBytes, activeBytes }) =>
        Object.entries({ allocated: allocatedBytes, reserved: reservedBytes, active: activeBytes }).map(([measure, value]) => ({ name: `${component} ${device} · ${measure}`, unit: 'B', timeNs, value }))),
    ];
    if (series.length > 0) {
      this.metadata('process_name', process, 0, `${label}: counters`);
    }
    for (const { name, unit, timeNs, value } of series) {
      const head = `,\n{"ph":"C","pid":${process},"name":${JSON.stringify(name)},"args":{${JSON.stringify(unit === '' ? 'value' : unit)}:`;
      for (let i = 0; i < timeNs.length; i++) {
        if (!Number.isNaN(value[i]) && !Number.isNaN(timeNs[i])) {
          this.push(`${head}${value[i]}},"ts":${this.time(timeNs[i])}}`);
          yield* this.full();
        }
      }
    }
    yield* this.rest();
  }

  private slice(name: string, category: string, process: number, track: number, startNs: number, durationNs: number, details: Readonly<Record<string, string>>): void {
    this.push(`,\n{"ph":"X","cat":"${category}","name":${JSON.stringify(name)},"pid":${process},"tid":${track},"ts":${this.time(startNs)},"dur":${microseconds(durationNs)},"args":${JSON.stringify(details)}}`);
  }

  /** The arrow's tail lies on the thread's plain track: the launch call itself may have been moved aside, its time has not. */
  private flow(id: number, process: number, track: number, startNs: number, data: RankData, launch: number): void {
    const common = `"cat":"launch","name":"launch","id":${id + this.firstProcess * 10_000_000}`;
    const thread = data.hostEvents.thread[launch] * TRACKS;
    this.push(`,\n{"ph":"s",${common},"pid":${this.firstProcess + 2},"tid":${thread},"ts":${this.time(data.hostEvents.startNs[launch])}}`);
    this.push(`,\n{"ph":"f","bp":"e",${common},"pid":${process},"tid":${track},"ts":${this.time(startNs)}}`);
  }

  private track(process: number, lane: number, start: number, end: number, label: string): number {
    return this.name(process, lane, this.lanes.apart(process * 1_000_000 + lane, start, end), label);
  }

  private nested(process: number, lane: number, start: number, end: number, label: string): number {
    return this.name(process, lane, this.lanes.nested(process * 1_000_000 + lane, start, end), label);
  }

  private name(process: number, lane: number, sub: number, label: string): number {
    const track = lane * TRACKS + Math.min(sub, TRACKS - 1);
    const key = process * 100_000_000 + track;
    if (!this.named.has(key)) {
      this.named.add(key);
      this.metadata('thread_name', process, track, sub === 0 ? label : `${label} (${sub + 1})`);
      this.push(`,\n{"ph":"M","pid":${process},"tid":${track},"name":"thread_sort_index","args":{"sort_index":${track}}}`);
    }
    return track;
  }

  private metadata(kind: string, process: number, track: number, name: string): void {
    this.push(`,\n{"ph":"M","pid":${process},"tid":${track},"name":"${kind}","args":{"name":${JSON.stringify(name)}}}`);
  }

  private time(ns: number): string {
    return microseconds(ns + this.shiftNs);
  }

  private push(text: string): void {
    this.buffer.push(text);
    this.size += text.length;
  }

  private *full(): Generator<string> {
    if (this.size > CHUNK) {
      yield* this.rest();
    }
  }

  private *rest(): Generator<string> {
    if (this.buffer.length > 0) {
      yield this.buffer.join('');
      this.buffer = [];
      this.size = 0;
    }
  }
}

const TRACKS = 64;

const KINDS: Readonly<Record<number, string>> = { [EventKind.Compute]: 'kernel', [EventKind.Communication]: 'communication', [EventKind.Copy]: 'memcpy', [EventKind.Set]: 'memset' };
const HOST_KINDS: Readonly<Record<number, string>> = {
  [HostKind.Operator]: 'cpu_op', [HostKind.Runtime]: 'runtime', [HostKind.Python]: 'python_function', [HostKind.Annotation]: 'user_annotation', [HostKind.Enqueue]: 'enqueue',
  [HostKind.Dequeue]: 'dequeue', [HostKind.Other]: 'other',
};

/** Integer nanoseconds as an exact decimal of microseconds, without a detour through a rounded quotient. */
export function microseconds(ns: number): string {
  const whole = Math.abs(Math.round(ns));
  const fraction = String(whole % 1000).padStart(3, '0');
  return `${ns < 0 ? '-' : ''}${Math.floor(whole / 1000)}.${fraction}`;
}
