/**
 * The kernel table of an Ascend text export: `kernel_details.csv` (torch_npu, MindSpore) or `op_summary_*.csv` (msprof), of
 * any generation, into device columns. Columns it lacks are reported; damaged lines and cells cost only themselves.
 */
import { deviceBuilder, type TableBuilder } from '../profile/builders';
import { EventKind, type DeviceEvents, type StreamInfo } from '../profile/columns';
import { countOutOfOrder, startOrder } from '../profile/eventOrder';
import type { StringTable } from '../profile/strings';
import { columnName, kernelColumns, isKernelHeader, isWideHeader, KERNEL_SLOTS, type KernelSlot } from './ascendColumns';
import { classifyKernel, groupFromName, typeFromName, type KernelClass } from './ascendNames';
import { StreamRegistry } from './ascendStreams';
import { CellNumber } from './csvNumbers';
import { CsvScanner } from './csvScanner';
import { TimeBase } from './csvTime';
import { MAX_STEPS } from '../links/steps';
import { checkCancelled, type ReaderContext } from './reader';

export interface KernelTable {
  readonly events: TableBuilder<DeviceEvents>;
  /** Time of relative 0; undefined when no row has a usable start. */
  readonly baseNs: bigint | undefined;
  readonly streams: StreamRegistry;
  /** Numbers of the steps that `events.step` points to, in order of first appearance. */
  readonly steps: readonly number[];
  readonly header: readonly string[];
  readonly missing: ReadonlySet<KernelSlot>;
  readonly devices: readonly number[];
}

/** The device side of a rank, from either source. */
export interface DeviceSide {
  /** In order of start. */
  readonly events: DeviceEvents;
  readonly streams: readonly StreamInfo[];
  /** Step numbers that `events.step` points to. */
  readonly stepNumbers: readonly number[];
  readonly baseNs: bigint | undefined;
  readonly devices: readonly number[];
  readonly hasStreams: boolean;
}

/** The table alone. */
export function kernelDevice(table: KernelTable): DeviceSide {
  const { events, streams, steps, baseNs, devices } = table;
  return {
    events: inOrder(events), streams: streams.list, stepNumbers: steps, baseNs, devices,
    hasStreams: streams.list.some((stream) => stream.stream !== undefined),
  };
}

/** The finished table by start; files mostly are in that order, and then nothing has to be moved. */
export function inOrder(events: TableBuilder<DeviceEvents>, order = startOrder(events.columns.startNs, events.count)): DeviceEvents {
  return events.finish(order.every((row, i) => row === i) ? undefined : order);
}

/** Every core seen so far; interned first, because `core` is a 16-bit string id. */
const CORES = ['AI_CORE', 'AI_VECTOR_CORE', 'MIX_AIC', 'MIX_AIV', 'AI_CPU', 'HOST_CPU', 'DSA_SQE', 'HCCL', 'COMMUNICATION', 'KERNEL_AICORE', 'KERNEL_AIVEC', 'KERNEL_MIX_AIC', 'KERNEL_MIX_AIV', 'MEMCPY_ASYNC', 'PCIE_DMA_SQE', 'SDMA_SQE', 'Other'];
export const MAX_CORE_ID = 0xffff;

const NAME = KERNEL_SLOTS.indexOf('name');
const START = KERNEL_SLOTS.indexOf('start');
const DURATION = KERNEL_SLOTS.indexOf('duration');
const TYPE = KERNEL_SLOTS.indexOf('type');
const CORE = KERNEL_SLOTS.indexOf('core');
const STREAM = KERNEL_SLOTS.indexOf('stream');
const DEVICE = KERNEL_SLOTS.indexOf('device');
const STEP = KERNEL_SLOTS.indexOf('step');
const SHAPES = KERNEL_SLOTS.indexOf('shapes');
const DTYPES = KERNEL_SLOTS.indexOf('dtypes');

const { Ok: OK, Damaged: DAMAGED } = CellNumber;

/** Bytes of a row, a little less than seen on real files; sizes the table so that it seldom grows. */
const rowBytes = (columns: number): number => 30 + 6 * columns;

export function internCores(strings: StringTable): void {
  CORES.forEach((core) => strings.intern(core));
}

/** Reads one kernel table; see `readKernelTables`. */
export function readKernelTable(context: ReaderContext, path: string, strings: StringTable): Promise<KernelTable | undefined> {
  return readKernelTables(context, [path], strings);
}

/**
 * Reads the kernel table of one rank, which large exports split over several files with the same columns. Undefined, with a
 * problem, when the first file is empty or its first line is no kernel header; the caller then looks for kernels elsewhere.
 */
export async function readKernelTables(context: ReaderContext, paths: readonly string[], strings: StringTable): Promise<KernelTable | undefined> {
  const { port, problems } = context;
  let reader: KernelTableReader | undefined;
  for (const path of paths) {
    const file = port.basename(path);
    const size = (await port.stat(path))?.size ?? 0;
    if (size === 0) {
      problems.add('ascend-file-empty', file, { args: { file } });
      continue;
    }
    reader ??= new KernelTableReader(context, strings);
    const scanner = reader.startFile(file, size);
    let bytes = 0;
    for await (const chunk of port.stream(path, { chunkSize: context.chunkSize ?? 1024 * 1024 })) {
      checkCancelled(context);
      scanner.push(chunk);
      bytes += chunk.length;
      context.progress?.({ bytes, totalBytes: size, file });
      if (scanner.stopped) {
        break;
      }
    }
    scanner.finish();
  }
  return reader?.finish();
}

/** What is known of one (name, type, core). */
interface ClassEntry {
  readonly type: number;
  readonly core: number;
  readonly derivedType: number;
  /** Communication group in the name, '' unnamed; undefined for all that is no communication. */
  readonly group: string | undefined;
  readonly class: KernelClass;
  readonly next: ClassEntry | undefined;
}

class KernelTableReader {
  private file = '';
  private files = 0;
  private events: TableBuilder<DeviceEvents> = deviceBuilder(16);
  private readonly base = new TimeBase();
  private readonly streams = new StreamRegistry();
  private readonly steps = new Map<number, number>();
  private readonly devices = new Set<number>();
  private header: readonly string[] = [];
  /** By name id; a name may come with several types or cores. */
  private readonly classes: ClassEntry[] = [];
  private lastStream = -1;
  private lastStreamId = -1;
  private lastDevice = -2;
  private missing = new Set<KernelSlot>();
  private derivedTypes = 0;

  constructor(private readonly context: ReaderContext, private readonly strings: StringTable) {
    internCores(strings);
  }

  /** The scanner to feed with the file's bytes. */
  startFile(file: string, size: number): CsvScanner {
    this.file = file;
    this.files++;
    return new CsvScanner({
      header: (cells) => this.takeHeader(cells, size),
      row: (row) => this.takeRow(row),
      damaged: (line, reason) => this.problem(`ascend-csv-${reason}`, line),
    });
  }

  finish(): KernelTable | undefined {
    if (this.header.length === 0) {
      return undefined;
    }
    if (this.events.count === 0) {
      this.context.problems.add('ascend-no-kernel-rows', this.file, { args: { file: this.file } });
    }
    this.reportMissing();
    return {
      events: this.events, baseNs: this.base.baseNs, streams: this.streams, steps: [...this.steps.keys()], header: this.header,
      missing: this.missing, devices: [...this.devices],
    };
  }

  private takeHeader(cells: readonly string[], size: number): readonly number[] | undefined {
    if (!isKernelHeader(cells)) {
      this.context.problems.add(isWideHeader(cells) ? 'ascend-csv-utf16' : 'ascend-not-a-kernel-table', this.file, { severity: this.files === 1 ? 'error' : 'warning', args: { file: this.file } });
      return undefined;
    }
    if (this.header.length === 0) {
      this.header = cells;
      this.events = deviceBuilder(Math.ceil(size / rowBytes(cells.length)));
    }
    const columns = kernelColumns(cells);
    this.missing = new Set(KERNEL_SLOTS.filter((_, slot) => columns[slot] < 0));
    return columns;
  }

  private takeRow(row: CsvScanner): void {
    const timed = row.microseconds(START);
    if (timed === DAMAGED && this.isRepeatedHeader(row)) {
      this.problem('ascend-header-repeated', row.line, 'info');
      return;
    }
    if (!row.has(NAME) || !row.has(START) || !row.has(DURATION)) {
      this.problem('ascend-row-short', row.line);
      return;
    }
    const event = this.events.add();
    // Only now: adding may have replaced the columns by longer ones.
    const { columns } = this.events;
    columns.startNs[event] = timed === OK ? this.relative(row) : NaN;
    if (Number.isNaN(columns.startNs[event])) {
      this.problem('ascend-unknown-start', row.line);
    }
    columns.durationNs[event] = this.duration(row);
    const name = row.intern(NAME, this.strings);
    columns.name[event] = name;
    const type = row.intern(TYPE, this.strings);
    const core = row.intern(CORE, this.strings);
    columns.core[event] = core <= MAX_CORE_ID ? core : 0;
    columns.shapes[event] = row.intern(SHAPES, this.strings);
    columns.dtypes[event] = row.intern(DTYPES, this.strings);
    let kernel: ClassEntry | undefined = this.classes[name];
    while (kernel !== undefined && (kernel.type !== type || kernel.core !== core)) {
      kernel = kernel.next;
    }
    kernel ??= this.classify(name, type, core);
    columns.type[event] = kernel.derivedType;
    columns.kind[event] = kernel.class.kind;
    columns.flags[event] = kernel.class.flags;
    columns.stream[event] = this.stream(row, kernel.group);
    columns.step[event] = this.step(row);
    columns.detailAt[event] = row.offset;
    // Details are looked up in the first file only.
    columns.detailLength[event] = row.length <= 0xffff && this.files === 1 ? row.length : 0;
    if (name === 0) {
      this.problem('ascend-unnamed', row.line, 'info');
    }
  }

  private relative(row: CsvScanner): number {
    const { parts } = row;
    if (this.base.shouldRestart(parts)) {
      this.base.restart(parts);
      const stray = this.events.count - 1;
      this.events.columns.startNs.fill(NaN, 0, stray);
      if (stray > 0) {
        this.context.problems.add('ascend-unknown-start', `${this.file} line 2`, { count: stray, mergeKey: this.file, args: { file: this.file } });
      }
    }
    return this.base.relative(parts);
  }

  private duration(row: CsvScanner): number {
    const outcome = row.microseconds(DURATION);
    if (outcome === OK && !row.parts.negative) {
      return row.parts.whole * 1000 + row.parts.nanos;
    }
    // A duration fits a double, so even `1.2e-05` can be read.
    const value = outcome === DAMAGED ? row.number(DURATION) : NaN;
    if (value >= 0 && value < 1e15) {
      return Math.round(value * 1000);
    }
    this.problem(outcome === OK ? 'ascend-negative-duration' : 'ascend-unknown-duration', row.line);
    return NaN;
  }

  private classify(name: number, type: number, core: number): ClassEntry {
    const text = this.strings.get(name);
    const written = this.strings.get(type);
    const derived = written === '' ? typeFromName(text) : written;
    this.derivedTypes += written === '' && derived !== '' ? 1 : 0;
    const kernelClass = classifyKernel(text, derived, this.strings.get(core));
    const group = kernelClass.kind === EventKind.Communication ? groupFromName(text) ?? '' : undefined;
    const entry: ClassEntry = { type, core, derivedType: this.strings.intern(derived), group, class: kernelClass, next: this.classes[name] };
    this.classes[name] = entry;
    return entry;
  }

  private stream(row: CsvScanner, group: string | undefined): number {
    const device = this.missing.has('device') ? -1 : row.integer(DEVICE, -1);
    const stream = row.intern(STREAM, this.strings);
    if (group === undefined && device === this.lastDevice && stream === this.lastStreamId) {
      return this.lastStream;
    }
    if (device >= 0) {
      this.devices.add(device);
    }
    const text = this.strings.get(stream);
    const index = this.streams.index(device < 0 ? undefined : device, text === '' ? undefined : text, group);
    if (group === undefined) {
      this.lastDevice = device;
      this.lastStreamId = stream;
      this.lastStream = index;
    }
    return index;
  }

  private step(row: CsvScanner): number {
    const number = this.missing.has('step') ? NaN : row.integer(STEP, NaN);
    // Rows outside every step carry no number, or -1.
    if (!(number >= 0)) {
      return -1;
    }
    let index = this.steps.get(number);
    if (index === undefined) {
      index = this.steps.size;
      if (index === MAX_STEPS) {
        return -1;
      }
      this.steps.set(number, index);
    }
    return index;
  }

  private isRepeatedHeader(row: CsvScanner): boolean {
    const columns = kernelColumns(this.header);
    return row.text(NAME).trim() === this.header[columns[NAME]] && row.text(START).trim() === this.header[columns[START]];
  }

  private problem(kind: string, line: number, severity: 'info' | 'warning' = 'warning'): void {
    this.context.problems.add(kind, `${this.file} line ${line}`, { severity, mergeKey: this.file, args: { file: this.file, line } });
  }

  private reportMissing(): void {
    const worthTelling: readonly KernelSlot[] = ['type', 'core', 'stream', 'shapes', 'step'];
    const lacking = worthTelling.filter((slot) => this.missing.has(slot));
    if (lacking.length > 0) {
      this.context.problems.add('ascend-columns-missing', this.file, { severity: 'info', count: lacking.length, args: { file: this.file, columns: lacking.map(columnName).join(', ') } });
    }
    const outOfOrder = countOutOfOrder(this.events.columns.startNs, this.events.columns.stream, this.events.count);
    if (outOfOrder > 0) {
      this.context.problems.add('out-of-order', this.file, { severity: 'info', count: outOfOrder });
    }
    if (this.derivedTypes > 0) {
      this.context.problems.add('ascend-types-from-names', this.file, { severity: 'info', count: this.derivedTypes, args: { file: this.file } });
    }
  }
}
