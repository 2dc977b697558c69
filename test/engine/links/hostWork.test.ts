import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isHostWork, workOf } from '../../../src/engine/links/hostWork';
import { DeviceFlag, EventKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList } from '../../../src/engine/profile/problems';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

describe('work of a run on the CPU', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuselens-work-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function read(traceEvents: readonly object[]): Promise<RankData> {
    const file = path.join(folder, 'trace.json');
    await writeFile(file, JSON.stringify({ traceEvents }));
    return readKinetoTrace({ port: nodeFilePort(), problems: new ProblemList() }, file);
  }

  const op = (name: string, ts: number, dur: number, args: object = {}, tid = 1) => ({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid, ts, dur, args });
  const names = ({ deviceEvents: events, strings }: RankData): readonly string[] => Array.from({ length: events.count }, (_, i) => strings.get(events.name[i]));

  it('takes what computes: a known operator as a whole, others by what they are made of, views never', async () => {
    const rank = await read([
      { ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#3', pid: 1, tid: 1, ts: 0, dur: 200 },
      { ph: 'X', cat: 'user_annotation', name: 'ProfilerStep#4', pid: 1, tid: 1, ts: 200, dur: 200 },
      op('aten::linear', 10, 20), op('aten::t', 11, 2), op('aten::matmul', 14, 15), op('aten::mm', 15, 10),
      op('aten::to', 40, 20), op('aten::_to_copy', 41, 18), op('aten::empty_strided', 42, 2), op('aten::copy_', 45, 10),
      op('aten::float_power', 70, 20), op('aten::pow', 72, 10), op('my::kernel', 100, 10), op('aten::never_heard_of', 120, 10), op('aten::view', 125, 1),
      op('aten::reshape', 140, 20), op('aten::clone', 142, 10), op('aten::item', 170, 5), op('aten::mul_', 210, 5), op('gloo:all_reduce', 220, 50, {}, 2),
    ]);
    assert.ok(isHostWork(rank));
    const work = workOf(rank);
    assert.deepEqual(names(work), ['aten::linear', 'aten::_to_copy', 'aten::pow', 'my::kernel', 'aten::never_heard_of', 'aten::clone', 'aten::mul_', 'gloo:all_reduce']);
    const { kind, step, stream, startNs, durationNs, op: ops, count } = work.deviceEvents;
    assert.deepEqual([...kind], [...Array<number>(count - 1).fill(EventKind.Compute), EventKind.Communication]);
    assert.deepEqual([...step], [0, 0, 0, 0, 0, 0, 1, 1]);
    assert.equal(new Set(stream.slice(0, 7)).size, 1);
    assert.notEqual(stream[7], stream[0]);
    assert.deepEqual([...startNs].map((ns, i) => [ns - startNs[0], durationNs[i]]).slice(0, 2), [[0, 20_000], [31_000, 18_000]]);
    assert.deepEqual([...ops].map((row) => rank.hostEvents.startNs[row]), [...startNs]);
    // The rank itself is as it was: no kernels.
    assert.equal(rank.deviceEvents.count, 0);
    assert.equal(workOf(rank), work);
  });

  it('knows the backward of an operator', async () => {
    const rank = await read([
      op('aten::mul', 10, 5, { 'Sequence number': 4, 'Fwd thread id': 0 }),
      op('autograd::engine::evaluate_function: MulBackward0', 30, 20, { 'Sequence number': 4, 'Fwd thread id': 1 }), op('MulBackward0', 31, 15, { 'Sequence number': 4, 'Fwd thread id': 1 }), op('aten::mul', 32, 5),
    ]);
    const work = workOf(rank);
    assert.deepEqual(names(work), ['aten::mul', 'aten::mul']);
    assert.deepEqual([...work.deviceEvents.flags], [0, DeviceFlag.Backward]);
  });

  it('leaves a rank with a device alone', async () => {
    const rank = await read([op('aten::mul', 10, 5), { ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 20, dur: 3, args: { device: 0, stream: 7 } }]);
    assert.equal(workOf(rank), rank);
  });

  for (const name of hasSharedData() ? ['cpu-toy/ddp2-torchrun.rank0.steps3-5.pt.trace.json.gz'] : []) {
    it(`counts every multiplication of a recorded run: ${name}`, async () => {
      const file = sharedPath('kineto', name);
      const events = (JSON.parse(gunzipSync(await readFile(file)).toString()) as { readonly traceEvents: readonly { readonly cat?: string; readonly name: string; readonly tid: number; readonly ts: number; readonly dur?: number }[] }).traceEvents.filter(({ cat }) => cat === 'cpu_op');
      // Slow and obvious: an operator of the two that lies in none of them.
      const wanted = events.filter(({ name: each }) => each === 'aten::linear' || each === 'aten::mm');
      const outermost = wanted.filter((one) => !wanted.some((other) => other !== one && other.tid === one.tid && other.ts <= one.ts && one.ts + (one.dur ?? 0) <= other.ts + (other.dur ?? 0) && (other.dur ?? 0) > (one.dur ?? 0)));
      const rank = await readKinetoTrace({ port: nodeFilePort(), problems: new ProblemList() }, file);
      const found = names(workOf(rank));
      assert.ok(outermost.length > 0);
      for (const each of ['aten::linear', 'aten::mm']) {
        assert.equal(found.filter((one) => one === each).length, outermost.filter((one) => one.name === each).length, each);
      }
    });
  }
});
