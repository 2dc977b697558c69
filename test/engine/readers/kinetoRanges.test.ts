import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HostKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../../src/engine/profile/problems';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { nodeFilePort } from '../../../src/node/filePort';

describe('Kineto: ranges in two events, and many steps', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuselens-ranges-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function read(events: readonly unknown[]): Promise<{ readonly rank: RankData; readonly problems: readonly Problem[] }> {
    const file = path.join(folder, 'trace.json');
    await writeFile(file, JSON.stringify({ schemaVersion: 1, traceEvents: events }));
    const problems = new ProblemList();
    return { rank: await readKinetoTrace({ port: nodeFilePort(), problems }, file), problems: problems.toArray() };
  }

  const ranges = ({ hostEvents: host, strings, threads }: RankData): unknown[] =>
    Array.from({ length: host.count }, (_, row) => [strings.get(host.name[row]), threads[host.thread[row]].thread, host.startNs[row], host.durationNs[row]]);

  it('pairs B and E by thread, innermost first', async () => {
    const on = (tid: number) => ({ pid: 1, tid, cat: 'user_annotation' });
    const { rank, problems } = await read([
      { ph: 'B', name: 'outer', ...on(1), ts: 1000 }, { ph: 'B', name: 'other thread', ...on(2), ts: 1001 }, { ph: 'B', name: 'inner', ...on(1), ts: 1002.5 },
      { ph: 'E', ...on(1), ts: 1003 }, { ph: 'E', ...on(2), ts: 1010 }, { ph: 'E', ...on(1), ts: 1020 },
    ]);
    assert.deepEqual(ranges(rank), [['outer', '1', 0, 20_000], ['other thread', '2', 1000, 9000], ['inner', '1', 2500, 500]]);
    assert.ok([...rank.hostEvents.kind].every((kind) => kind === HostKind.Annotation));
    assert.ok(!problems.some(({ kind }) => kind === 'events-not-shown' || kind === 'missing-duration'));
  });

  it('knows no duration for a range without its end, and counts ends without a beginning', async () => {
    const { rank, problems } = await read([
      { ph: 'E', pid: 1, tid: 1, ts: 900 }, { ph: 'B', name: 'open', pid: 1, tid: 1, ts: 1000 }, { ph: 'X', name: 'x', cat: 'cpu_op', pid: 1, tid: 1, ts: 1001, dur: 1 },
    ]);
    assert.deepEqual(ranges(rank), [['open', '1', 0, NaN], ['x', '1', 1000, 1000]]);
    assert.deepEqual(problems.filter(({ kind }) => kind === 'missing-duration').map(({ args }) => [args?.['kernels'], args?.['others']]), [[0, 1]]);
    assert.deepEqual(problems.filter(({ kind }) => kind === 'events-not-shown').map(({ count, args }) => [count, args?.['phases']]), [[1, 'E']]);
  });

  it('counts kinds of events that it does not show, and counters not among them', async () => {
    const { problems } = await read([
      { ph: 'C', name: 'HBM', pid: 1, ts: 900, args: { 'Read(MB/s)': 1 } }, { ph: 'C', name: 'HBM', pid: 1, ts: 901, args: { 'Read(MB/s)': 2 } }, { ph: 'E', pid: 1, tid: 1, ts: 902 }, { ph: 'N', pid: 1, tid: 1, ts: 903, id: 1 },
      { ph: 'X', name: 'x', cat: 'cpu_op', pid: 1, tid: 1, ts: 1001, dur: 1 },
    ]);
    assert.deepEqual(problems.filter(({ kind }) => kind.endsWith('not-shown')).map(({ kind, count, args }) => [kind, count, args?.['phases']]), [['events-not-shown', 2, 'E, N']]);
  });

  it('tells 100,000 steps apart, and says how many there are beyond', async function () {
    this.timeout(60_000);
    const events = Array.from({ length: 100_003 }, (_, n) => [
      { ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${n}`, pid: 1, tid: 1, ts: 1000 + 10 * n, dur: 9 },
      { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 1002 + 10 * n, dur: 1, args: { correlation: n + 1 } },
      { ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 1004 + 10 * n, dur: 1, args: { correlation: n + 1, device: 0, stream: 7 } },
    ]).flat();
    const { rank, problems } = await read(events);
    assert.equal(rank.steps.length, 100_000);
    assert.ok([...rank.deviceEvents.step].every((step, row) => step === (row < 100_000 ? row : -1)));
    assert.deepEqual(problems.filter(({ kind }) => kind === 'too-many-steps').map(({ count }) => count), [3]);
  });
});
