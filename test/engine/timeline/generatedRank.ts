import { HostKind, EventKind, type DeviceEvents, type HostEvents, type RankData } from '../../../src/engine/profile/columns';
import { deviceBuilder, hostBuilder } from '../../../src/engine/profile/builders';
import { StringTable } from '../../../src/engine/profile/strings';
import { FAMILIES } from '../../../src/engine/analysis/families';

/** Small, fast, seeded: the same rank on every machine. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface DeviceRow {
  readonly start: number;
  readonly duration: number;
  readonly kind?: EventKind;
  readonly stream?: number;
  readonly family?: number;
  readonly name?: string;
  readonly type?: string;
  readonly shapes?: string;
  readonly launch?: number;
  readonly op?: number;
  readonly step?: number;
}

export interface HostRow {
  readonly start: number;
  readonly duration: number;
  readonly kind?: HostKind;
  readonly thread?: number;
  readonly name?: string;
  readonly stack?: string;
  readonly forward?: number;
}

/** A rank from rows, sorted as readers deliver it; indexes in `launch`, `op` and `forward` mean sorted positions. */
export function rankOf(device: readonly DeviceRow[], host: readonly HostRow[] = [], steps: RankData['steps'] = []): RankData {
  const strings = new StringTable();
  const sortedDevice = [...device].sort((a, b) => a.start - b.start || (Number.isNaN(a.start) ? 1 : 0));
  const sortedHost = [...host].sort((a, b) => a.start - b.start || b.duration - a.duration);
  const devices = deviceBuilder(device.length);
  for (const row of sortedDevice) {
    const i = devices.add();
    const { columns } = devices;
    columns.startNs[i] = row.start;
    columns.durationNs[i] = row.duration;
    columns.kind[i] = row.kind ?? EventKind.Compute;
    columns.stream[i] = row.stream ?? 0;
    columns.family[i] = row.family ?? 0;
    columns.name[i] = strings.intern(row.name ?? 'kernel');
    columns.type[i] = strings.intern(row.type ?? '');
    columns.shapes[i] = strings.intern(row.shapes ?? '');
    columns.launch[i] = row.launch ?? -1;
    columns.op[i] = row.op ?? -1;
    columns.step[i] = row.step ?? -1;
  }
  const hosts = hostBuilder(host.length);
  for (const row of sortedHost) {
    const i = hosts.add();
    const { columns } = hosts;
    columns.startNs[i] = row.start;
    columns.durationNs[i] = row.duration;
    columns.kind[i] = row.kind ?? HostKind.Operator;
    columns.thread[i] = row.thread ?? 0;
    columns.name[i] = strings.intern(row.name ?? 'op');
    columns.stack[i] = strings.intern(row.stack ?? '');
    columns.forward[i] = row.forward ?? -1;
  }
  return wrap(strings, devices.finish(), hosts.finish(), steps);
}

export function wrap(strings: StringTable, deviceEvents: DeviceEvents, hostEvents: HostEvents, steps: RankData['steps']): RankData {
  const streams = 1 + deviceEvents.stream.reduce((most, stream) => Math.max(most, stream), 0);
  const threads = 1 + hostEvents.thread.reduce((most, thread) => Math.max(most, thread), 0);
  return {
    backend: 'ascend', rank: 0, device: '0', host: undefined, baseNs: 1_700_000_000_000_000_000n, strings, deviceEvents, hostEvents,
    streams: Array.from({ length: streams }, (_, i) => ({ device: 0, stream: String(i + 7), label: `Stream ${i + 7}` })),
    threads: Array.from({ length: threads }, (_, i) => ({ process: 'python', thread: String(100 + i), label: i === 0 ? 'Main thread' : `Thread ${100 + i}` })),
    steps,
    coverage: { kernels: true, stepIds: true, streams: true, shapes: true, types: true, hostOperators: true, launches: true, pythonFrames: true, callStacks: false },
    detailSource: { kind: 'none' }, deviceDetailSource: { kind: 'none' }, tables: [], memory: [], communication: [], links: [], facts: {},
  };
}

/** Odd on purpose: overlaps, equal starts, zero and unknown durations, unknown starts, nested host events. */
export function oddRank(seed: number, events: number): RankData {
  const random = randomFrom(seed);
  const pick = (n: number): number => Math.floor(random() * n);
  const device: DeviceRow[] = [];
  let clock = 1000;
  for (let i = 0; i < events; i++) {
    clock += pick(4) === 0 ? 0 : pick(3000);
    const kind = pick(10);
    const duration = pick(30) === 0 ? NaN : pick(12) === 0 ? 0 : pick(8) === 0 ? pick(60_000) : pick(2500);
    device.push({
      start: pick(200) === 0 ? NaN : clock, duration, kind: kind < 7 ? EventKind.Compute : kind === 7 ? EventKind.Communication : kind === 8 ? EventKind.Copy : EventKind.Set,
      stream: pick(3), family: pick(FAMILIES.length), name: `kernel${pick(9)}`, type: `Type${pick(4)}`, shapes: pick(2) === 0 ? '16,4096;4096,32' : '',
    });
  }
  const host: HostRow[] = [];
  for (let i = 0; i < events / 4; i++) {
    const start = 1000 + pick(clock);
    host.push({ start, duration: pick(4000), thread: pick(2), kind: pick(7) as HostKind, name: `op${pick(12)}` });
  }
  return rankOf(device, host, [{ name: 'ProfilerStep#1', number: 1, startNs: 1000, durationNs: Math.floor(clock / 2), source: 'profiler' }, { name: 'ProfilerStep#2', number: 2, startNs: NaN, durationNs: NaN, source: 'profiler' }]);
}

/**
 * A training-like rank of `kernels` kernels: layers of kernels back to back on a compute stream, collectives beside it,
 * operators and launches on two host threads, Python frames above.
 */
export function largeRank(kernels: number, seed = 1): RankData {
  const random = randomFrom(seed);
  const strings = new StringTable();
  const names = ['MatMulV3', 'Cast', 'Pows', 'ReduceMean', 'Adds', 'Rsqrt', 'Mul', 'Silu', 'StridedSlice', 'ChunkFwd', 'Add', 'Transpose'].map((type) => ({ type: strings.intern(type), name: strings.intern(`aclnn${type}_${type}AiCore_${type}`) }));
  const family = [0, 4, 2, 2, 2, 2, 3, 3, 4, 1, 3, 4];
  const mean = [120_000, 30_000, 39_000, 41_000, 8000, 9000, 62_000, 48_000, 3000, 90_000, 20_000, 15_000];
  const allReduce = strings.intern('hcom_allReduce_');
  const forward = strings.intern('model/layer.py(29): forward');
  const step = strings.intern('train.py(101): train_step');
  const aten = ['mm', 'to', 'pow', 'mean', 'add', 'rsqrt', 'mul', 'silu', 'slice', 'chunk', 'add', 'transpose'].map((name) => strings.intern(`aten::${name}`));
  const launchName = strings.intern('AscendCL@aclopExecute');
  const devices = deviceBuilder(kernels + 16);
  const hosts = hostBuilder(kernels * 2 + 16);
  const d = devices.columns;
  const addHost = (start: number, duration: number, name: number, kind: HostKind, thread: number): number => {
    const i = hosts.add();
    const h = hosts.columns;
    h.startNs[i] = start;
    h.durationNs[i] = duration;
    h.name[i] = name;
    h.kind[i] = kind;
    h.thread[i] = thread;
    return i;
  };
  let device = 2_000_000;
  let host = 0;
  let layerStart = -1;
  for (let i = 0; i < kernels; i++) {
    const token = i % names.length;
    if (token === 0) {
      layerStart = host;
      if (i % (names.length * 40) === 0) {
        addHost(host, 40 * 12 * 9000, step, HostKind.Python, 0);
      }
      addHost(host, 12 * 9000 - 100, forward, HostKind.Python, 0);
    }
    const op = addHost(host, 8000, aten[token], HostKind.Operator, 0);
    const launch = addHost(host + 2000, 3000, launchName, HostKind.Runtime, 1);
    const row = devices.add();
    const duration = Math.round(mean[token] * (0.5 + random()));
    if (i % 600 === 599) {
      d.startNs[row] = device;
      d.durationNs[row] = 1_500_000;
      d.name[row] = allReduce;
      d.kind[row] = EventKind.Communication;
      d.family[row] = FAMILIES.indexOf('communication');
      d.stream[row] = 1;
    } else {
      device = Math.max(device, host + 3000);
      d.startNs[row] = device;
      d.durationNs[row] = duration;
      d.name[row] = names[token].name;
      d.type[row] = names[token].type;
      d.family[row] = family[token];
      device += duration + Math.round(random() * 4000) + (i % 20_000 === 0 ? 30_000_000 : 0);
    }
    d.launch[row] = launch;
    d.op[row] = op;
    host = Math.max(host + 9000, device - 4_000_000);
    void layerStart;
  }
  return wrap(strings, devices.finish(), hosts.finish(), [{ name: 'ProfilerStep#5', number: 5, startNs: 0, durationNs: device, source: 'profiler' }]);
}
