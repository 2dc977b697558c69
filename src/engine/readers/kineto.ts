/**
 * PyTorch's Kineto traces: Chrome trace-event JSON, plain, gzip, zip or tar, of every era from 2020 on (category names,
 * integer µs, 16+3-digit absolute µs, `baseTimeNanoseconds`), from CUDA, ROCm, MTIA and CPU-only builds. One file = one rank.
 *
 * Format: pytorch/kineto `libkineto/src/output_json.cpp`; the traps met in real files are named where they are handled.
 * Figures mean what the definitions in `docs/` say: kernels are events of category `kernel`; communication is a kernel
 * whose name contains nccl or rccl.
 */
import { DeviceFlag, HostKind, type DetailSource, type DeviceEvents, type HostEvents, type RankData } from '../profile/columns';
import { countOutOfOrder } from '../profile/eventOrder';
import { UnreadableInput } from '../profile/problems';
import { linkForward } from '../links/forward';
import { operatorsOf } from '../links/frames';
import { linkByExternalId, linkLaunches, linkOperators, type ExternalIdOutcome, type LaunchOutcome } from '../links/launches';
import { assignSteps, findSteps } from '../links/steps';
import { containerOf, openBytes, type ContainerKind } from './archive';
import { KinetoCollector } from './kinetoCollector';
import { reportProblems } from './kinetoProblems';
import type { ReaderContext } from './reader';
import { TraceClock, ZERO_STAMP, believableRange, dropUnbelievable } from './traceClock';
import { rankOfName } from './traceDetect';
import { scanTrace, type ScanOutcome } from './traceScanner';
import type { DecimalTime } from './traceNumbers';
import { orderByStart } from './traceSort';
import { RowOrder } from './traceColumns';

export interface KinetoOptions {
  /** Member of an archive; needed when the archive holds several traces. */
  readonly member?: string;
  /** As found by detection; told from the file's head when absent. */
  readonly container?: ContainerKind;
}

/** Reads one rank. Throws `Cancelled`, or `UnreadableInput` when the file holds no events. */
export async function readKinetoTrace(context: ReaderContext, path: string, options: KinetoOptions = {}): Promise<RankData> {
  const container = options.container ?? (await containerOf(context.port, path));
  let pass = await readPass(context, path, container, options.member, undefined);
  const betterBase = pass.collector.clock.betterBase();
  if (betterBase !== undefined) {
    // The first stamp was the odd one out: everything else was too far from it to be exact.
    pass = await readPass(context, path, container, options.member, betterBase);
  }
  return assemble(context, path, options.member, pass);
}

export interface KinetoPass {
  readonly collector: KinetoCollector;
  readonly outcome: ScanOutcome;
  /** Why the compressed input ended early. */
  readonly cut: string | undefined;
  /** The arguments went to the spill store. */
  readonly spilled: boolean;
}

async function readPass(context: ReaderContext, path: string, container: ContainerKind, member: string | undefined, base: DecimalTime | undefined): Promise<KinetoPass> {
  const { port, progress } = context;
  const totalBytes = (await port.stat(path))?.size ?? 0;
  let cut: string | undefined;
  let bytesRead = 0;
  const bytes = openBytes(port, path, member, container, {
    onRead: read => {
      bytesRead = read;
      progress?.({ bytes: read, totalBytes, file: path });
    },
    onCut: reason => {
      cut = reason;
    },
    ...(context.chunkSize === undefined ? {} : { chunkSize: context.chunkSize }),
  });
  const collector = new KinetoCollector(new TraceClock(base), () => bytesRead / totalBytes);
  const spill = container !== 'plain' && base === undefined ? context.spill : undefined;
  const outcome = await scanTrace(bytes, collector, {
    signal: context.signal,
    ...(spill === undefined ? {} : { onChunk: (offset: number, chunk: Uint8Array) => spill.store.append(offset, chunk) }),
  });
  collector.end();
  await spill?.store.finish();
  return { collector, outcome, cut, spilled: spill !== undefined };
}

function assemble(context: ReaderContext, path: string, member: string | undefined, pass: KinetoPass): RankData {
  const { collector, outcome } = pass;
  const where = member === undefined ? context.port.basename(path) : `${context.port.basename(path)} › ${member}`;
  refuseWithoutEvents(where, pass);
  const { strings, metadata } = collector;
  // Before the last columns are made: the index of a million distinct names is as large as they are.
  strings.seal();
  const sorted = sortedColumns(collector);
  const threads = collector.threads.toArray();
  const streams = collector.streams.toArray();
  const link = linkAll(sorted, collector, threads.length);
  const rank = { hostEvents: link.host, deviceEvents: sorted.device, threads };
  const steps = findSteps(link.host, strings, ...extent(rank));
  const hasLaunches = link.launches.withoutLaunch < sorted.device.count;
  assignSteps(sorted.device, link.host, steps.steps, hasLaunches);
  const evidence = countEvidence(link.host, strings.toArray());
  reportProblems(context.problems, where, {
    pass, device: sorted.device, streams, launches: link.launches, externalIds: link.externalIds, outOfOrder: sorted.outOfOrder, noUsableTime: sorted.noUsableTime, droppedSteps: steps.dropped, hasRuntime: evidence.runtime,
  });
  const counters = collector.counters.finish(context.problems, where, sorted.place);
  const devices = collector.streams.devices();
  const detailSource = detailSourceOf(context, path, member, pass.spilled);
  return {
    backend: metadata.backend({ deviceEvents: sorted.device.count, mtia: collector.mtia, ...evidence }),
    rank: metadata.rank() ?? rankOfName(member ?? context.port.basename(path)),
    device: devices.length === 1 ? devices[0] : undefined,
    host: metadata.host(),
    baseNs: (collector.clock.countsFromEpoch ? 0n : metadata.baseTimeNs()) + collector.clock.baseNs(),
    strings, deviceEvents: sorted.device, hostEvents: link.host, streams, threads, steps: steps.steps,
    coverage: {
      kernels: true, stepIds: steps.steps.some(step => step.source === 'profiler'), streams: streams.some(({ stream }) => stream !== undefined), shapes: sorted.device.shapes.some(shapes => shapes !== 0), types: false,
      hostOperators: evidence.operators, launches: hasLaunches && sorted.device.count > 0, pythonFrames: evidence.python, callStacks: sorted.hasStacks,
    },
    detailSource, deviceDetailSource: detailSource,
    tables: [], memory: collector.memory.toArray(), ...(counters === undefined ? {} : { counters }), communication: [], links: [],
    facts: { ...metadata.facts(), events: String(outcome.events) },
  };
}

/** A trace that opens must show something; everything else is one sentence. */
function refuseWithoutEvents(where: string, { collector, outcome, cut }: KinetoPass): void {
  if (collector.completeEvents > 0) {
    return;
  }
  const refuse = (code: string): never => {
    throw new UnreadableInput({ code, args: { file: where, keys: collector.metadata.keys().slice(0, 6).join(', '), count: outcome.events } });
  };
  if (outcome.bytes === 0) {
    refuse(cut === undefined ? 'error.trace-empty-file' : 'error.trace-cut-at-once');
  }
  if (outcome.empty) {
    refuse('error.trace-blank');
  }
  if (outcome.form === 'none') {
    refuse('error.trace-not-json');
  }
  if (outcome.events > 0) {
    refuse('error.trace-only-metadata');
  }
  refuse(outcome.eventsFound ? 'error.trace-no-events' : collector.metadata.eventsNull ? 'error.trace-events-null'
    : collector.metadata.size === 0 ? 'error.trace-empty-object' : 'error.trace-no-event-list');
}

interface SortedColumns {
  readonly device: DeviceEvents;
  readonly host: HostEvents;
  readonly hostLink: Int32Array;
  /** Of operators; undefined when the recording has none. */
  readonly hostShapes: Uint32Array | undefined;
  readonly hostTypes: Uint32Array | undefined;
  readonly deviceCorrelation: Int32Array;
  readonly deviceExternalId: Int32Array;
  readonly noUsableTime: { readonly kernels: number; readonly others: number };
  readonly outOfOrder: number;
  readonly hasStacks: boolean;
  /** Where a counter's stamp belongs; NaN for what is not believed. */
  readonly place: (timeNs: number) => number;
}

function sortedColumns({ device, host, clock }: KinetoCollector): SortedColumns {
  const deviceStart = device.take('startNs');
  const deviceDuration = device.take('durationNs');
  const hostStart = host.take('startNs');
  const hostDuration = host.take('durationNs');
  const range = believableRange(deviceStart, hostStart);
  const zero = clock.zeroStamp();
  const noUsableTime = { kernels: dropUnbelievable(deviceStart, deviceDuration, range, zero), others: dropUnbelievable(hostStart, hostDuration, range, zero) };
  const outOfOrder = countOutOfOrder(deviceStart, device.columns.stream, device.count);
  const deviceOrder = rowOrder(orderByStart(deviceStart));
  const hostOrder = rowOrder(orderByStart(hostStart, hostDuration));
  const inOrder = (column: Float64Array, order: RowOrder | undefined): Float64Array => order?.apply(column) ?? column;
  const devices = device.count;
  const hasStacks = host.optional.stack !== undefined;
  const hasShapes = host.optional.shapes !== undefined;
  const hasTypes = host.optional.dtypes !== undefined;
  return {
    noUsableTime, outOfOrder, hasStacks,
    place: (timeNs) => {
      const at = timeNs === ZERO_STAMP ? zero : timeNs;
      return at >= range[0] && at <= range[1] ? at : NaN;
    },
    device: {
      count: devices, startNs: inOrder(deviceStart, deviceOrder), durationNs: inOrder(deviceDuration, deviceOrder),
      name: device.take('name', deviceOrder), stream: device.take('stream', deviceOrder), kind: device.take('kind', deviceOrder),
      detailAt: device.take('detailAt', deviceOrder), detailLength: device.take('detailLength', deviceOrder),
      type: new Uint32Array(devices), core: new Uint16Array(devices), shapes: new Uint32Array(devices), dtypes: new Uint32Array(devices),
      flags: new Uint8Array(devices), family: new Uint8Array(devices), step: new Int32Array(devices).fill(-1),
      launch: new Int32Array(devices).fill(-1), op: new Int32Array(devices).fill(-1),
    },
    deviceCorrelation: device.take('correlation', deviceOrder), deviceExternalId: device.take('externalId', deviceOrder),
    host: {
      count: host.count, startNs: inOrder(hostStart, hostOrder), durationNs: inOrder(hostDuration, hostOrder),
      name: host.take('name', hostOrder), kind: host.take('kind', hostOrder), thread: host.take('thread', hostOrder),
      detailAt: host.take('detailAt', hostOrder), detailLength: host.take('detailLength', hostOrder),
      sequence: host.take('sequence', hostOrder), forwardThread: host.take('forwardThread', hostOrder), forward: EMPTY, stack: host.take('stack', hostOrder),
      pythonId: host.take('pythonId', hostOrder), pythonParent: host.take('pythonParent', hostOrder),
    },
    hostLink: host.take('link', hostOrder),
    hostShapes: hasShapes ? host.take('shapes', hostOrder) : undefined, hostTypes: hasTypes ? host.take('dtypes', hostOrder) : undefined,
  };
}

function rowOrder(order: Uint32Array | undefined): RowOrder | undefined {
  return order === undefined ? undefined : new RowOrder(order);
}

const EMPTY = new Int32Array(0);

interface Linked {
  readonly host: HostEvents;
  readonly launches: LaunchOutcome;
  readonly externalIds: ExternalIdOutcome;
}

function linkAll(sorted: SortedColumns, collector: KinetoCollector, threads: number): Linked {
  const { device, host, hostLink } = sorted;
  const launches = linkLaunches(device, host, sorted.deviceCorrelation, hostLink, collector.strings);
  const nesting = operatorsOf({ hostEvents: host, threads: { length: threads } });
  linkOperators(device, host, nesting);
  const externalIds = linkByExternalId(device, host, sorted.deviceExternalId, hostLink);
  for (let i = 0; i < device.count; i++) {
    const op = device.op[i];
    if (op >= 0) {
      device.shapes[i] = sorted.hostShapes?.[op] ?? 0;
      device.dtypes[i] = sorted.hostTypes?.[op] ?? 0;
    }
  }
  const forward = linkForward(host, collector.strings, nesting, collector.flows, thread => collector.threads.processOf(thread));
  const linked: HostEvents = { ...host, forward: forward ?? noForward(host) };
  if (forward !== undefined) {
    for (let i = 0; i < device.count; i++) {
      const launch = device.launch[i];
      if (launch >= 0 && nesting.findEnclosing(host.thread[launch], host.startNs[launch], op => forward[op] >= 0) >= 0) {
        device.flags[i] |= DeviceFlag.Backward;
      }
    }
  }
  return { host: linked, launches, externalIds };
}

/** Ten million rows without a forward operator share the array of another column that nobody set. */
function noForward(host: HostEvents): Int32Array {
  for (let row = 0; row < host.count; row++) {
    if (host.sequence[row] !== -1) {
      return new Int32Array(host.count).fill(-1);
    }
  }
  return host.sequence;
}

function extent({ hostEvents, deviceEvents }: Pick<RankData, 'hostEvents' | 'deviceEvents'>): readonly [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (const { count, startNs, durationNs } of [hostEvents, deviceEvents]) {
    for (let i = 0; i < count; i++) {
      if (startNs[i] === startNs[i]) {
        from = Math.min(from, startNs[i]);
        to = Math.max(to, startNs[i] + (durationNs[i] || 0));
      }
    }
  }
  return from <= to ? [from, to] : [NaN, NaN];
}

function countEvidence(host: HostEvents, names: readonly string[]): { operators: boolean; python: boolean; runtime: boolean; hipCalls: boolean; cudaCalls: boolean } {
  const seen = { operators: false, python: false, runtime: false, hipCalls: false, cudaCalls: false };
  for (let row = 0; row < host.count; row++) {
    switch (host.kind[row]) {
      case HostKind.Operator:
        seen.operators = true;
        break;
      case HostKind.Python:
        seen.python = true;
        break;
      case HostKind.Runtime:
        if (!seen.runtime || (!seen.hipCalls && !seen.cudaCalls)) {
          seen.runtime = true;
          const name = names[host.name[row]];
          seen.hipCalls ||= name.startsWith('hip');
          seen.cudaCalls ||= name.startsWith('cu');
        }
        break;
      default:
        break;
    }
  }
  return seen;
}

function detailSourceOf(context: ReaderContext, path: string, member: string | undefined, spilled: boolean): DetailSource {
  const place = { path, format: 'json', ...(member === undefined ? {} : { member }) } as const;
  return spilled && context.spill !== undefined ? { kind: 'spill', key: context.spill.key, ...place } : { kind: 'file', ...place };
}
