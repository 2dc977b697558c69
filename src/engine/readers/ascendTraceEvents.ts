/**
 * First pass over `trace_view.json` (torch_npu, MindSpore) or `msprof_*.json`: slices and flows into columns. What a process
 * is may be told after its events, so slices are kept as they come and sorted into host and device afterwards.
 *
 * Facts of the format: `ts` is text with three decimals, `dur` a number; the file is a bare array; `async_npu` flow ids are
 * the kernel's start in ns, above 2^53, so they are turned into times relative to the base and never rounded; several
 * `HostToDevice` ends can share one id; at Level0 their starts lie on a process without name or slices.
 */
import { TableBuilder } from '../profile/builders';
import type { StringTable } from '../profile/strings';
import { LaneRegistry } from './ascendLanes';
import { ArgumentKeys, FoundArguments } from './traceArguments';
import type { TraceClock } from './traceClock';
import { TraceCounters } from './traceCounters';
import { IdKeys, parseInteger } from './traceNumbers';
import type { TraceEvent, TraceVisitor } from './traceScanner';
import { decodeText, parseLenient } from './traceText';

const PHASE_SLICE = 0x58; // X
const PHASE_META = 0x4d; // M
const PHASE_START = 0x73; // s
const PHASE_STEP = 0x74; // t
const PHASE_END = 0x66; // f
const PHASE_COUNTER = 0x43; // C

/** Categories that matter; everything else is `None`. */
export const Category = { None: 0, Operator: 1, PythonFrame: 2, Enqueue: 3, Dequeue: 4, TorchToNpu: 5, HostToDevice: 6, Forward: 7, Queue: 8 } as const;
export type Category = (typeof Category)[keyof typeof Category];

const CATEGORIES: Readonly<Record<string, Category>> = {
  cpu_op: Category.Operator, user_annotation: Category.Operator, python_function: Category.PythonFrame, enqueue: Category.Enqueue, dequeue: Category.Dequeue,
  async_npu: Category.TorchToNpu, HostToDevice: Category.HostToDevice, fwdbwd: Category.Forward, async_task_queue: Category.Queue,
};

/** Slices in file order. `first`, `second`: sequence and forward thread of operators, id and parent of frames, correlation of queue events. */
export interface FlatSlices {
  readonly count: number;
  readonly startNs: Float64Array;
  readonly durationNs: Float64Array;
  readonly name: Uint32Array;
  readonly lane: Uint32Array;
  readonly category: Uint8Array;
  readonly detailAt: Float64Array;
  readonly detailLength: Uint32Array;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly stack: Uint32Array;
  readonly taskType: Uint32Array;
  readonly stream: Uint32Array;
}

/** Ends of flows in file order. */
export interface FlatFlows {
  readonly count: number;
  readonly id: Float64Array;
  readonly timeNs: Float64Array;
  readonly lane: Uint32Array;
  readonly isStart: Uint8Array;
}

/** Tasks on the planes of collectives; `slice` is their row among the slices. */
export interface FlatTasks {
  readonly count: number;
  readonly slice: Uint32Array;
  readonly source: Int32Array;
  readonly destination: Int32Array;
  readonly bytes: Float64Array;
  readonly transport: Uint32Array;
  readonly link: Uint32Array;
}

/** Rows at first: a slice takes some 300 bytes of the file. */
const FIRST_ROWS = 4096;

const sliceTable = (): TableBuilder<FlatSlices> => new TableBuilder<FlatSlices>({
  startNs: [Float64Array, NaN], durationNs: [Float64Array, NaN], name: [Uint32Array, 0], lane: [Uint32Array, 0], category: [Uint8Array, 0], detailAt: [Float64Array, 0], detailLength: [Uint32Array, 0],
  first: [Int32Array, -1], second: [Int32Array, -1], stack: [Uint32Array, 0], taskType: [Uint32Array, 0], stream: [Uint32Array, 0],
}, FIRST_ROWS);

const flowTable = (): TableBuilder<FlatFlows> => new TableBuilder<FlatFlows>({ id: [Float64Array, NaN], timeNs: [Float64Array, NaN], lane: [Uint32Array, 0], isStart: [Uint8Array, 0] }, FIRST_ROWS);

const MAX_RANK = 0x7fff_ffff;

const taskTable = (): TableBuilder<FlatTasks> => new TableBuilder<FlatTasks>({
  slice: [Uint32Array, 0], source: [Int32Array, -1], destination: [Int32Array, -1], bytes: [Float64Array, NaN], transport: [Uint32Array, 0], link: [Uint32Array, 0],
}, FIRST_ROWS);

const OPERATOR_KEYS = new ArgumentKeys(['Sequence number', 'Fwd thread id', 'Call stack']);
const FRAME_KEYS = new ArgumentKeys(['Python id', 'Python parent id']);
const QUEUE_KEYS = new ArgumentKeys(['correlation_id']);
const TASK_KEYS = new ArgumentKeys(['src rank', 'dst rank', 'size(Byte)', 'transport type', 'link type']);
const DEVICE_KEYS = new ArgumentKeys(['Task Type', ['Stream Id', 'Physic Stream Id', 'stream id']]);

export class AscendTraceEvents implements TraceVisitor {
  readonly slices = sliceTable();
  readonly lanes = new LaneRegistry();
  readonly flows = { torchToNpu: flowTable(), hostToDevice: flowTable(), forward: flowTable() };
  readonly tasks = taskTable();
  negativeDurations = 0;
  readonly counters = new TraceCounters();
  /** Events of other kinds, by `ph`. */
  readonly skipped = new Float64Array(256);
  private readonly categories: Category[] = [];
  private readonly categoryNames: StringTable;
  private readonly ids = new IdKeys();
  private readonly operator = new FoundArguments(OPERATOR_KEYS);
  private readonly frame = new FoundArguments(FRAME_KEYS);
  private readonly queue = new FoundArguments(QUEUE_KEYS);
  private readonly device = new FoundArguments(DEVICE_KEYS);
  private readonly task = new FoundArguments(TASK_KEYS);

  constructor(private readonly strings: StringTable, readonly clock: TraceClock, categoryNames: StringTable) {
    this.categoryNames = categoryNames;
  }

  event(event: TraceEvent): void {
    switch (event.phase) {
      case PHASE_SLICE:
        this.slice(event);
        break;
      case PHASE_META:
        this.meta(event);
        break;
      case PHASE_START:
      case PHASE_STEP:
      case PHASE_END:
        this.flow(event);
        break;
      case PHASE_COUNTER:
        this.counters.add(event, this.clock);
        break;
      default:
        this.skipped[event.phase]++;
    }
  }

  private slice(event: TraceEvent): void {
    const { slices, clock } = this;
    const { bytes } = event;
    const category = this.category(event);
    const row = slices.add();
    const block = slices.columns;
    const start = clock.relative(bytes, event.timeStart, event.timeEnd);
    const duration = clock.duration(bytes, event.durationStart, event.durationEnd);
    block.startNs[row] = Number.isFinite(start) ? start : NaN;
    block.durationNs[row] = duration >= 0 ? duration : NaN;
    this.negativeDurations += duration < 0 ? 1 : 0;
    block.name[row] = this.text(event, event.nameStart, event.nameEnd);
    const lane = this.lanes.indexOf(event);
    block.lane[row] = lane;
    block.category[row] = category;
    if (event.argsStart < 0) {
      return;
    }
    block.detailAt[row] = event.bytesAt + event.argsStart;
    block.detailLength[row] = event.argsEnd - event.argsStart;
    this.sliceArguments(event, category, lane, row);
  }

  private sliceArguments(event: TraceEvent, category: Category, lane: number, row: number): void {
    const { slices } = this;
    switch (category) {
      case Category.Operator: {
        const found = this.read(this.operator, event);
        this.setInteger('first', row, event, found, 0);
        this.setInteger('second', row, event, found, 1);
        if (found.start[2] >= 0) {
          slices.columns.stack[row] = this.strings.internBytes(event.bytes, found.start[2], found.end[2], decodeStack);
        }
        break;
      }
      case Category.PythonFrame: {
        const found = this.read(this.frame, event);
        this.setInteger('first', row, event, found, 0);
        this.setInteger('second', row, event, found, 1);
        break;
      }
      case Category.Enqueue:
      case Category.Dequeue:
        this.setInteger('first', row, event, this.read(this.queue, event), 0);
        break;
      default: {
        const kind = this.lanes.kind(lane);
        if (kind === 'communication') {
          this.communicationTask(event, row);
          break;
        }
        if (kind !== 'hardware' && kind !== 'unnamed') {
          break;
        }
        const found = this.read(this.device, event);
        if (found.start[0] >= 0) {
          slices.columns.taskType[row] = this.text(event, found.start[0], found.end[0]);
        }
        if (found.start[1] >= 0) {
          slices.columns.stream[row] = this.text(event, found.start[1], found.end[1]);
        }
      }
    }
  }

  /** Collectives themselves have none of these arguments. */
  private communicationTask(event: TraceEvent, slice: number): void {
    const { bytes } = event;
    const found = this.read(this.task, event);
    if (found.start[2] < 0 && found.start[3] < 0) {
      return;
    }
    const integer = (slot: number): number => (found.start[slot] < 0 ? NaN : parseInteger(bytes, found.start[slot], found.end[slot]));
    const row = this.tasks.add();
    const { columns } = this.tasks;
    columns.slice[row] = slice;
    // 4294967295 stands for "no other rank".
    columns.source[row] = integer(0) <= MAX_RANK ? integer(0) : -1;
    columns.destination[row] = integer(1) <= MAX_RANK ? integer(1) : -1;
    columns.bytes[row] = integer(2);
    columns.transport[row] = this.text(event, found.start[3], found.end[3]);
    columns.link[row] = this.text(event, found.start[4], found.end[4]);
  }

  private flow(event: TraceEvent): void {
    const table = this.flowTable(this.category(event));
    if (table === undefined) {
      return;
    }
    const time = this.clock.relative(event.bytes, event.timeStart, event.timeEnd);
    const row = table.add();
    const block = table.columns;
    block.id[row] = this.flowId(event);
    block.timeNs[row] = Number.isFinite(time) ? time : NaN;
    block.lane[row] = this.lanes.indexOf(event);
    block.isStart[row] = event.phase === PHASE_START ? 1 : 0;
  }

  private flowTable(category: Category): TableBuilder<FlatFlows> | undefined {
    switch (category) {
      case Category.TorchToNpu:
        return this.flows.torchToNpu;
      case Category.HostToDevice:
        return this.flows.hostToDevice;
      case Category.Forward:
        return this.flows.forward;
      default:
        return undefined;
    }
  }

  /** Small ids are themselves. A start in ns (19 digits) becomes its distance from the base plus a half: exact, and no small id. */
  private flowId(event: TraceEvent): number {
    const { bytes, idStart, idEnd } = event;
    const length = idEnd - idStart;
    if (length >= 18 && length <= 19) {
      const relative = this.clock.relative(bytes, idStart, idEnd - 3) + parseInteger(bytes, idEnd - 3, idEnd);
      if (Math.abs(relative) < 2 ** 51) {
        return relative + 0.5;
      }
    }
    return this.ids.keyOf(bytes, idStart, idEnd);
  }

  private meta(event: TraceEvent): void {
    const name = event.nameStart < 0 ? '' : decodeText(event.bytes, event.nameStart, event.nameEnd);
    if ((name !== 'process_name' && name !== 'thread_name') || event.argsStart < 0) {
      return;
    }
    const args = parseLenient(event.bytes, event.argsStart, event.argsEnd);
    const value = typeof args === 'object' && args !== null && !Array.isArray(args) ? args['name'] : undefined;
    if (typeof value !== 'string') {
      return;
    }
    if (name === 'process_name') {
      this.lanes.nameProcess(event, value);
      this.counters.nameProcess(event, value);
    } else {
      this.lanes.nameThread(event, value);
    }
  }

  private category(event: TraceEvent): Category {
    if (event.categoryStart < 0) {
      return Category.None;
    }
    const id = this.categoryNames.internBytes(event.bytes, event.categoryStart, event.categoryEnd);
    return (this.categories[id] ??= CATEGORIES[this.categoryNames.get(id)] ?? Category.None);
  }

  private text(event: TraceEvent, start: number, end: number): number {
    return start < 0 ? 0 : this.strings.internBytes(event.bytes, start, end, decodeText);
  }

  private read(found: FoundArguments, event: TraceEvent): FoundArguments {
    found.readEvent(event);
    return found;
  }

  private setInteger(column: 'first' | 'second', row: number, event: TraceEvent, found: FoundArguments, slot: number): void {
    if (found.start[slot] < 0) {
      return;
    }
    const value = parseInteger(event.bytes, found.start[slot], found.end[slot]);
    if (value >= 0 && value <= 0x7fff_ffff) {
      this.slices.columns[column][row] = value;
    }
  }
}

const decoder = new TextDecoder('utf-8');
const encoder = new TextEncoder();

/**
 * Frames joined by `;` alone, whatever line breaks the writer put behind it, so that all exports spell a stack alike. The
 * escaped breaks go first: before a path they would make lenient decoding take the whole text as Windows paths.
 */
function decodeStack(bytes: Uint8Array, start: number, end: number): string {
  const text = decoder.decode(bytes.subarray(start, end)).replaceAll(';\\r\\n', ';').replaceAll(';\\n', ';');
  if (!text.includes('\\')) {
    return text;
  }
  const rest = encoder.encode(text);
  return decodeText(rest, 0, rest.length);
}
