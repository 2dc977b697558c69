/** Events of a Kineto trace into growing columns: the visitor behind `readKinetoTrace`. */
import { EventKind, HostKind } from '../profile/columns';
import { StringTable } from '../profile/strings';
import { FlowList } from '../links/forward';
import { COMMUNICATION_NAME, Category, HOST_KIND, RANGE_NAME, categoryOf } from './kinetoCategories';
import { LaunchFlows } from './kinetoLaunchFlows';
import { KinetoMemory } from './kinetoMemory';
import { KinetoMetadata } from './kinetoMetadata';
import { SameBytes, StreamRegistry, ThreadRegistry } from './kinetoRows';
import { ArgumentKeys, FoundArguments } from './traceArguments';
import { ZERO_STAMP, type TraceClock } from './traceClock';
import { GrowingTable } from './traceColumns';
import { TraceCounters } from './traceCounters';
import { IdKeys, parseInteger } from './traceNumbers';
import type { TraceEvent, TraceVisitor } from './traceScanner';
import { decodeText, type TextOddities } from './traceText';
import { InputTexts, shapesText, typesText } from './kinetoInputs';

const EXTERNAL_ID = ['External id', 'external id'];
const DEVICE_KEYS = new ArgumentKeys(['correlation', 'device', 'stream', EXTERNAL_ID]);
const RUNTIME_KEYS = new ArgumentKeys(['correlation']);
const OPERATOR_KEYS = new ArgumentKeys([EXTERNAL_ID, 'Sequence number', 'Fwd thread id', 'Call stack', ['Input Dims', 'Input dims'], 'Input type']);
const PYTHON_KEYS = new ArgumentKeys(['Python id', 'Python parent id']);
const NAME_KEYS = new ArgumentKeys(['name', 'labels']);

const DEVICE_DENSE = {
  startNs: [Float64Array, NaN], durationNs: [Float64Array, NaN], name: [Uint32Array, 0], stream: [Uint16Array, 0], kind: [Uint8Array, 0],
  detailAt: [Float64Array, 0], detailLength: [Uint16Array, 0], correlation: [Int32Array, -1],
} as const;
const DEVICE_SPARSE = { externalId: [Int32Array, -1] } as const;
const HOST_DENSE = {
  startNs: [Float64Array, NaN], durationNs: [Float64Array, NaN], name: [Uint32Array, 0], kind: [Uint8Array, 0], thread: [Uint16Array, 0],
  detailAt: [Float64Array, 0], detailLength: [Uint32Array, 0],
} as const;
const HOST_SPARSE = {
  sequence: [Int32Array, -1], forwardThread: [Int32Array, -1], stack: [Uint32Array, 0], pythonId: [Int32Array, -1], pythonParent: [Int32Array, -1],
  /** Correlation of runtime calls, external id of operators: one row never has both, so one column serves. */
  link: [Int32Array, -1],
  /** Shapes and types of an operator's inputs; they go to the kernels it launched. */
  shapes: [Uint32Array, 0], dtypes: [Uint32Array, 0],
} as const;

/** Counts of one oddity: kernels apart from everything else, since only kernels are in the figures. */
export interface OddCount {
  kernels: number;
  others: number;
}

export class KinetoCollector implements TraceVisitor {
  readonly strings = new StringTable();
  readonly device: GrowingTable<typeof DEVICE_DENSE, typeof DEVICE_SPARSE>;
  readonly host: GrowingTable<typeof HOST_DENSE, typeof HOST_SPARSE>;
  readonly threads = new ThreadRegistry();
  readonly streams = new StreamRegistry();
  readonly flows = new FlowList();
  private readonly launchFlows = new LaunchFlows();
  /** Device events that no correlation but a launch flow leads to their call. */
  launchedByFlow = 0;
  readonly memory = new KinetoMemory();
  readonly counters = new TraceCounters();
  readonly metadata = new KinetoMetadata();
  readonly missingDuration: OddCount = { kernels: 0, others: 0 };
  readonly negativeDuration: OddCount = { kernels: 0, others: 0 };
  completeEvents = 0;
  /** Rows of `B` events without their `E` yet, by thread, innermost last. */
  private readonly openRanges = new Map<number, number[]>();
  mtia = false;
  /** Distinct names read with backslashes as path text, and with bytes that are no clean UTF-8. */
  literalNames = 0;
  badNames = 0;
  private readonly categories = new StringTable();
  private readonly categoryIds: Category[] = [];
  private readonly categoryTexts = Array.from({ length: 32 }, () => new SameBytes());
  private readonly categoryOfLength: Category[] = new Array<Category>(32).fill(Category.Other);
  private readonly instantNames = new StringTable();
  private readonly instantKinds: Instant[] = [];
  /** Events of kinds that are not shown (ends without a beginning …), by `ph`. */
  readonly skipped = new Float64Array(256);
  private readonly shapes = new InputTexts(this.strings, shapesText);
  private readonly types = new InputTexts(this.strings, typesText);
  private readonly communication: (boolean | undefined)[] = [];
  private readonly range: (boolean | undefined)[] = [];
  private readonly oddities: TextOddities = { literalBackslashes: false, badEncoding: false };
  private readonly correlations = new NarrowIds();
  private readonly flowIds = new IdKeys();
  private readonly deviceArguments = new FoundArguments(DEVICE_KEYS);
  private readonly runtimeArguments = new FoundArguments(RUNTIME_KEYS);
  private readonly operatorArguments = new FoundArguments(OPERATOR_KEYS);
  private readonly pythonArguments = new FoundArguments(PYTHON_KEYS);
  private readonly nameArguments = new FoundArguments(NAME_KEYS);

  /** `fractionRead` as `GrowingTable` wants it. */
  constructor(readonly clock: TraceClock, fractionRead: () => number = () => NaN) {
    this.device = new GrowingTable(DEVICE_DENSE, DEVICE_SPARSE, fractionRead);
    this.host = new GrowingTable(HOST_DENSE, HOST_SPARSE, fractionRead);
  }

  topLevel(key: string, bytes: Uint8Array, start: number, end: number): void {
    this.metadata.add(key, bytes, start, end);
  }

  event(event: TraceEvent): void {
    switch (event.phase) {
      case 0x58: // X
        this.complete(event);
        break;
      case 0x4d: // M
        this.name(event);
        break;
      case 0x73: case 0x66: case 0x74: // s f t
        this.flow(event);
        break;
      case 0x42: // B
        this.begin(event);
        break;
      case 0x45: // E
        this.finish(event);
        break;
      case 0x69: case 0x49: // i I
        this.instant(event);
        break;
      case 0x43: // C
        this.counters.add(event, this.clock);
        break;
      default:
        this.skip(event);
    }
  }

  private complete(event: TraceEvent): void {
    this.completeEvents++;
    const category = this.category(event);
    const name = event.nameStart < 0 ? 0 : this.strings.internBytes(event.bytes, event.nameStart, event.nameEnd, this.decode);
    const start = this.clock.relative(event.bytes, event.timeStart, event.timeEnd);
    let duration = this.clock.duration(event.bytes, event.durationStart, event.durationEnd);
    if (!(duration >= 0)) {
      const counts = duration < 0 ? this.negativeDuration : this.missingDuration;
      counts[category === Category.Kernel ? 'kernels' : 'others']++;
      duration = NaN;
    }
    if (category <= Category.Set) {
      this.addDevice(event, category, name, start, duration);
    } else {
      this.addHost(event, category, name, start, duration);
    }
  }

  /** A range in two events: its row waits for the end on its thread, where ranges nest. */
  private begin(event: TraceEvent): void {
    const category = this.category(event);
    if (category <= Category.Set) {
      this.skip(event);
      return;
    }
    this.completeEvents++;
    const name = event.nameStart < 0 ? 0 : this.strings.internBytes(event.bytes, event.nameStart, event.nameEnd, this.decode);
    this.addHost(event, category, name, this.clock.relative(event.bytes, event.timeStart, event.timeEnd), NaN);
    const row = this.host.count - 1;
    const thread = this.host.columns.thread[row];
    const open = this.openRanges.get(thread);
    if (open === undefined) {
      this.openRanges.set(thread, [row]);
    } else {
      open.push(row);
    }
  }

  private finish(event: TraceEvent): void {
    const row = this.openRanges.get(this.threads.indexOf(event))?.pop();
    if (row === undefined) {
      this.skip(event);
      return;
    }
    const columns = this.host.columns;
    const duration = this.clock.relative(event.bytes, event.timeStart, event.timeEnd) - columns.startNs[row];
    if (duration >= 0 && duration < Infinity) {
      columns.durationNs[row] = duration;
    } else {
      (duration < 0 ? this.negativeDuration : this.missingDuration).others++;
    }
  }

  /** To be called when the file has been read: ranges nobody ended have no known duration, and launch flows stand in for missing ids. */
  end(): void {
    for (const open of this.openRanges.values()) {
      this.missingDuration.others += open.length;
    }
    this.openRanges.clear();
    const { host } = this;
    this.launchedByFlow = this.launchFlows.apply({
      device: this.device.columns, host: { count: host.count, ...host.columns },
      correlationOf: row => (host.optional.link?.[row] ?? 0) - 1,
      newCorrelation: row => {
        const key = this.correlations.fresh();
        (host.optional.link ?? host.sparseColumn('link'))[row] = key + 1;
        return key;
      },
    });
  }

  private addDevice(event: TraceEvent, category: Category, name: number, start: number, duration: number): void {
    const { bytes } = event;
    const found = this.deviceArguments;
    found.readEvent(event);
    const row = this.device.add();
    const columns = this.device.columns;
    columns.startNs[row] = start;
    columns.durationNs[row] = duration;
    columns.name[row] = name;
    columns.kind[row] = category === Category.Copy ? EventKind.Copy : category === Category.Set ? EventKind.Set
      : this.isCommunication(name) ? EventKind.Communication : EventKind.Compute;
    const ownDevice = found.start[1] >= 0;
    const ownStream = found.start[2] >= 0;
    columns.stream[row] = this.streams.indexOf(bytes,
      ownDevice ? found.start[1] : event.processStart, ownDevice ? found.end[1] : event.processEnd,
      ownStream ? found.start[2] : event.threadStart, ownStream ? found.end[2] : event.threadEnd);
    columns.correlation[row] = this.correlations.keyOf(bytes, found.start[0], found.end[0]);
    this.launchFlows.deviceEvent(event, row, columns.correlation[row]);
    if (event.argsStart >= 0) {
      columns.detailAt[row] = event.bytesAt + event.argsStart;
      columns.detailLength[row] = Math.min(event.argsEnd - event.argsStart, 0xffff);
    }
    if (found.start[3] >= 0) {
      (this.device.optional.externalId ?? this.device.sparseColumn('externalId'))[row] = this.correlations.keyOf(bytes, found.start[3], found.end[3]) + 1;
    }
  }

  private addHost(event: TraceEvent, category: Category, name: number, start: number, duration: number): void {
    const row = this.host.add();
    const columns = this.host.columns;
    columns.startNs[row] = start;
    columns.durationNs[row] = duration;
    columns.name[row] = name;
    columns.thread[row] = this.threads.indexOf(event);
    if (event.argsStart >= 0) {
      columns.detailAt[row] = event.bytesAt + event.argsStart;
      columns.detailLength[row] = event.argsEnd - event.argsStart;
    }
    let kind = HOST_KIND[category];
    switch (category) {
      case Category.Operator:
        if (this.isRange(name)) {
          kind = HostKind.Annotation;
        }
        this.operatorDetails(event, row);
        break;
      case Category.Runtime: {
        const found = this.runtimeArguments;
        found.readEvent(event);
        if (found.start[0] >= 0) {
          (this.host.optional.link ?? this.host.sparseColumn('link'))[row] = this.correlations.keyOf(event.bytes, found.start[0], found.end[0]) + 1;
        }
        break;
      }
      case Category.Python: {
        const found = this.pythonArguments;
        found.readEvent(event);
        if (found.start[0] >= 0) {
          (this.host.optional.pythonId ?? this.host.sparseColumn('pythonId'))[row] = smallInteger(event.bytes, found.start[0], found.end[0]) + 1;
        }
        if (found.start[1] >= 0) {
          (this.host.optional.pythonParent ?? this.host.sparseColumn('pythonParent'))[row] = smallInteger(event.bytes, found.start[1], found.end[1]) + 1;
        }
        break;
      }
      default:
        break;
    }
    columns.kind[row] = kind;
  }

  private operatorDetails(event: TraceEvent, row: number): void {
    const { host, operatorArguments: found } = this;
    const { bytes } = event;
    found.readEvent(event);
    if (found.start[0] >= 0) {
      (host.optional.link ?? host.sparseColumn('link'))[row] = this.correlations.keyOf(bytes, found.start[0], found.end[0]) + 1;
    }
    if (found.start[1] >= 0) {
      (host.optional.sequence ?? host.sparseColumn('sequence'))[row] = smallInteger(bytes, found.start[1], found.end[1]) + 1;
    }
    if (found.start[2] >= 0) {
      (host.optional.forwardThread ?? host.sparseColumn('forwardThread'))[row] = smallInteger(bytes, found.start[2], found.end[2]) + 1;
    }
    if (found.start[3] >= 0) {
      (host.optional.stack ?? host.sparseColumn('stack'))[row] = this.strings.internBytes(bytes, found.start[3], found.end[3], this.decode);
    }
    const shapes = found.start[4] < 0 ? 0 : this.shapes.idOf(bytes, found.start[4], found.end[4]);
    if (shapes !== 0) {
      (host.optional.shapes ?? host.sparseColumn('shapes'))[row] = shapes;
    }
    const types = found.start[5] < 0 ? 0 : this.types.idOf(bytes, found.start[5], found.end[5]);
    if (types !== 0) {
      (host.optional.dtypes ?? host.sparseColumn('dtypes'))[row] = types;
    }
  }

  private category(event: TraceEvent): Category {
    const { layout } = event;
    if (layout === undefined) {
      return this.categoryOf(event);
    }
    if (layout.note < 0) {
      layout.note = this.categoryOf(event);
    }
    return layout.note as Category;
  }

  private categoryOf(event: TraceEvent): Category {
    if (event.categoryStart < 0) {
      return Category.Other;
    }
    // A handful of categories take turns: one remembered text for each length.
    const length = (event.categoryEnd - event.categoryStart) & 31;
    if (this.categoryTexts[length].matches(event.bytes, event.categoryStart, event.categoryEnd)) {
      return this.categoryOfLength[length];
    }
    const id = this.categories.internBytes(event.bytes, event.categoryStart, event.categoryEnd);
    let category = this.categoryIds[id];
    if (category === undefined) {
      const text = this.categories.get(id);
      category = categoryOf(text);
      this.categoryIds[id] = category;
      this.mtia ||= text.startsWith('mtia_');
    }
    this.categoryOfLength[length] = category;
    return category;
  }

  private isCommunication(name: number): boolean {
    return (this.communication[name] ??= COMMUNICATION_NAME.test(this.strings.get(name)));
  }

  private isRange(name: number): boolean {
    return (this.range[name] ??= RANGE_NAME.test(this.strings.get(name)));
  }

  /** Called once a distinct byte sequence. */
  private readonly decode = (bytes: Uint8Array, start: number, end: number): string => {
    this.oddities.literalBackslashes = false;
    this.oddities.badEncoding = false;
    const text = decodeText(bytes, start, end, this.oddities);
    this.literalNames += this.oddities.literalBackslashes ? 1 : 0;
    this.badNames += this.oddities.badEncoding ? 1 : 0;
    return text;
  };

  private name(event: TraceEvent): void {
    const what = asciiOf(event.bytes, event.nameStart, event.nameEnd);
    if (what !== 'process_name' && what !== 'thread_name' && what !== 'process_labels') {
      return;
    }
    const found = this.nameArguments;
    found.readEvent(event);
    if (found.start[0] < 0) {
      return;
    }
    const text = decodeText(event.bytes, found.start[0], found.end[0]);
    if (what === 'thread_name') {
      this.threads.nameThread(event, text);
    } else if (what === 'process_name') {
      this.threads.nameProcess(event, text);
      this.counters.nameProcess(event, text);
    }
  }

  /** Launch flows repeat the correlation (and can be one-sided): they are of use only where it is missing. */
  private flow(event: TraceEvent): void {
    const category = this.category(event);
    const forward = category === Category.ForwardFlow;
    if ((!forward && (category !== Category.LaunchFlow || !this.launchFlows.wanted)) || event.phase === 0x74) {
      return;
    }
    const time = this.clock.relative(event.bytes, event.timeStart, event.timeEnd);
    const id = this.flowIds.keyOf(event.bytes, event.idStart, event.idEnd);
    const isStart = event.phase === 0x73;
    if (!Number.isFinite(time)) {
      return;
    }
    if (forward) {
      this.flows.add(id, time, this.threads.indexOf(event), isStart);
    } else if (isStart) {
      this.launchFlows.start(id, time, this.threads.indexOf(event));
    } else {
      this.launchFlows.end(event, id, time);
    }
  }

  private instant(event: TraceEvent): void {
    const name = event.nameStart < 0 ? 0 : this.instantNames.internBytes(event.bytes, event.nameStart, event.nameEnd);
    let kind = this.instantKinds[name];
    if (kind === undefined) {
      const text = this.instantNames.get(name);
      kind = text === '[memory]' ? Instant.Memory : /^(?:Iteration Start|Record Window End)/.test(text) ? Instant.Frame : Instant.Other;
      this.instantKinds[name] = kind;
    }
    if (kind === Instant.Frame) {
      return;
    }
    if (kind === Instant.Memory) {
      const time = this.clock.relative(event.bytes, event.timeStart, event.timeEnd);
      if (time !== ZERO_STAMP && this.memory.add(event, time)) {
        return;
      }
    }
    this.skip(event);
  }

  private skip(event: TraceEvent): void {
    this.skipped[event.phase]++;
  }
}

const Instant = { Memory: 0, Frame: 1, Other: 2 } as const;
type Instant = (typeof Instant)[keyof typeof Instant];

/** -1 for what is no number of 31 bits. */
function smallInteger(bytes: Uint8Array, start: number, end: number): number {
  const value = parseInteger(bytes, start, end);
  return value >= 0 && value <= 0x7fffffff ? value : -1;
}

/** Ids as 32-bit keys: -1 none; ids that do not fit get numbers of their own below -1. Equal text, equal key. */
class NarrowIds {
  private readonly wide = new IdKeys();
  private readonly others = new Map<number | symbol, number>();

  /** A key that no id has. */
  fresh(): number {
    const key = -2 - this.others.size;
    this.others.set(Symbol('made up'), key);
    return key;
  }

  keyOf(bytes: Uint8Array, start: number, end: number): number {
    if (start < 0) {
      return -1;
    }
    const id = this.wide.keyOf(bytes, start, end);
    if (id >= -1 && id <= 0x7fffffff) {
      return id;
    }
    if (Number.isNaN(id)) {
      return -1;
    }
    let key = this.others.get(id);
    if (key === undefined) {
      key = -2 - this.others.size;
      this.others.set(id, key);
    }
    return key;
  }
}

/** Short names compared as text; longer than 40 bytes is none of them. */
function asciiOf(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i >= 0 && i < end && i < start + 40; i++) {
    text += String.fromCharCode(bytes[i]);
  }
  return text;
}
