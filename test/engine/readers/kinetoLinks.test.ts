import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { RankData } from '../../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../../src/engine/profile/problems';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

interface TraceEvent {
  readonly ph: string;
  readonly cat?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

interface Read {
  readonly rank: RankData;
  readonly problems: readonly Problem[];
}

describe('Kineto: links without a correlation, order, units and ids that disagree', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuselens-links-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function read(trace: object): Promise<Read> {
    const file = path.join(folder, 'trace.json');
    await writeFile(file, JSON.stringify(trace));
    const problems = new ProblemList();
    return { rank: await readKinetoTrace({ port: nodeFilePort(), problems }, file), problems: problems.toArray() };
  }

  /** Each device event with its launch and operator, as text. */
  const links = ({ deviceEvents: device, hostEvents: host, strings }: RankData): readonly string[] =>
    Array.from({ length: device.count }, (_, row) => [device.name[row], device.launch[row] < 0 ? -1 : host.name[device.launch[row]], device.op[row] < 0 ? -1 : host.name[device.op[row]]]
      .map((id, i) => `${id < 0 ? '-' : strings.get(id)}${i === 1 && id >= 0 ? ` at ${host.startNs[device.launch[row]]}` : ''}`).join(' | '));

  const counted = (problems: readonly Problem[], wanted: string): number => problems.filter(({ kind }) => kind === wanted).reduce((sum, { count }) => sum + count, 0);

  const on = (tid: number) => ({ pid: 1, tid });
  const op = (name: string, ts: number, dur: number, args: object = {}) => ({ ph: 'X', cat: 'cpu_op', name, ...on(1), ts, dur, args });
  const call = (ts: number, args: object = {}) => ({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', ...on(1), ts, dur: 2, args });
  const kernel = (name: string, ts: number, args: object = {}) => ({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts, dur: 3, args: { device: 0, stream: 7, ...args } });
  const arrow = (id: number, from: number, to: number) => [{ ph: 's', cat: 'ac2g', name: 'ac2g', id, ...on(1), ts: from }, { ph: 'f', bp: 'e', cat: 'ac2g', name: 'ac2g', id, pid: 0, tid: 7, ts: to }];

  it('follows launch flows where neither kernel nor call names a correlation', async () => {
    const { rank, problems } = await read({ traceEvents: [
      op('aten::mm', 10, 10), call(12), op('aten::add', 30, 10), call(32), kernel('gemm', 50), kernel('add', 60), kernel('alone', 70),
      ...arrow(5, 12, 50), ...arrow(6, 32, 60), { ph: 'f', bp: 'e', cat: 'ac2g', name: 'ac2g', id: 9, pid: 0, tid: 7, ts: 70 },
    ] });
    assert.deepEqual(links(rank), ['gemm | cudaLaunchKernel at 2000 | aten::mm', 'add | cudaLaunchKernel at 22000 | aten::add', 'alone | - | -']);
    assert.deepEqual([counted(problems, 'launch-by-flow'), counted(problems, 'no-launch')], [2, 1]);
  });

  it('never joins kernels through -1, 0 or a flow id that starts twice', async () => {
    const { rank, problems } = await read({ traceEvents: [
      call(12, { correlation: -1 }), call(32, { correlation: 0 }), kernel('a', 50, { correlation: -1 }), kernel('b', 60, { correlation: 0 }), kernel('c', 70),
      ...arrow(5, 12, 70), { ph: 's', cat: 'ac2g', name: 'ac2g', id: 5, ...on(1), ts: 32 },
    ] });
    assert.deepEqual(links(rank), ['a | - | -', 'b | - | -', 'c | - | -']);
    assert.equal(counted(problems, 'launch-by-flow'), 0);
  });

  for (const displayTimeUnit of ['ns', 'ms'] as const) {
    it(`takes ts and dur for µs with displayTimeUnit ${displayTimeUnit}`, async () => {
      const { rank } = await read({ displayTimeUnit, traceEvents: [kernel('a', 1_000_000.125, { correlation: 1 }), kernel('b', 1_000_010, { correlation: 2 })] });
      assert.deepEqual([[...rank.deviceEvents.startNs], [...rank.deviceEvents.durationNs], rank.baseNs], [[0, 9875], [3000, 3000], 1_000_000_125n]);
    });
  }

  it('puts events in order and counts those that stood out of it, by stream', async () => {
    const other = { ...kernel('other stream', 5), tid: 8, args: { device: 0, stream: 8 } };
    const { rank, problems } = await read({ traceEvents: [kernel('c', 30), kernel('a', 10), kernel('b', 20), other, kernel('d', 40)] });
    assert.deepEqual(links(rank).map((text) => text.split(' | ')[0]), ['other stream', 'a', 'b', 'c', 'd']);
    assert.equal(counted(problems, 'out-of-order'), 2);
    const sorted = await read({ traceEvents: [other, kernel('a', 10), kernel('b', 20), kernel('b', 20), kernel('c', 30)] });
    assert.equal(counted(sorted.problems, 'out-of-order'), 0);
  });

  it('follows the launch where an external id names another operator, and counts that', async () => {
    const pairs = Array.from({ length: 10 }, (_, i) => [
      op(`aten::op${i}`, 100 * i + 1000, 50, { 'External id': 500 + i }), call(100 * i + 1005, { correlation: i + 1 }),
      kernel(`k${i}`, 100 * i + 1020, { correlation: i + 1, 'External id': i < 7 ? 500 + i : 500 }),
    ]);
    const { rank, problems } = await read({ traceEvents: pairs.flat() });
    assert.deepEqual(links(rank), pairs.map((_, i) => `k${i} | cudaLaunchKernel at ${100_000 * i + 5000} | aten::op${i}`));
    assert.deepEqual(problems.filter(({ kind }) => kind === 'external-ids-disagree').map(({ count, args }) => [count, args?.['total']]), [[3, 10]]);
  });

  it('finds on real traces, by flow alone, what their correlations say', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    this.timeout(60_000);
    for (const name of ['cuda-a100-event-sync-multistream/event_sync_trace.json.gz', 'rocm-mi210-gpu-only/gpu_only_trace.json.gz', 'cuda-gp100-gpu-user-annotation/step_based_trace_2543932.json.gz']) {
      const bytes = await readFile(sharedPath('kineto', ...name.split('/')));
      const trace = JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as { readonly traceEvents: readonly TraceEvent[] };
      const bare = trace.traceEvents.map((event) => {
        const { correlation, ...args } = event.args ?? {};
        return event.ph === 'X' && correlation !== undefined ? { ...event, args } : event;
      });
      const [told, byFlow] = [await read(trace), await read({ ...trace, traceEvents: bare })];
      const wanted = links(told.rank).filter((text) => !text.includes('| - |'));
      assert.ok(wanted.length > 5, name);
      assert.deepEqual(links(byFlow.rank), links(told.rank), name);
      assert.equal(counted(byFlow.problems, 'launch-by-flow'), wanted.length, name);
    }
  });
});
