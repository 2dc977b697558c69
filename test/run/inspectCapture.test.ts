import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { EngineSession } from '../../src/engine/session';
import { engineEnvironment } from '../../src/node/environment';
import { MESSAGES, text } from '../../src/protocol/text';
import { inspectCapture, type CaptureInspection } from '../../src/run/inspectCapture';
import type { CaptureSettings } from '../../src/run/runSettings';

interface Note {
  readonly rank: number;
  readonly state: string;
  readonly [field: string]: unknown;
}

/** A recording as Kineto writes it: marks of steps, operators, and kernels where there is a device. */
function trace({ rank, steps, device = true, stacks = false }: { readonly rank: number; readonly steps: readonly number[]; readonly device?: boolean; readonly stacks?: boolean }): string {
  const events = steps.flatMap((step, i) => {
    const ts = 1000 + i * 100;
    return [
      { ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts, dur: 90 },
      { ph: 'X', cat: 'cpu_op', name: 'aten::mul', pid: 1, tid: 1, ts: ts + 5, dur: 5, args: { 'External id': i + 1 } },
      ...(stacks ? [{ ph: 'X', cat: 'python_function', name: 'model.py(3): forward', pid: 1, tid: 1, ts: ts + 1, dur: 50, args: { 'Python id': i + 1 } }] : []),
      ...(device ? [
        { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: ts + 6, dur: 2, args: { correlation: i + 1 } },
        { ph: 'X', cat: 'kernel', name: 'mul_kernel', pid: 0, tid: 7, ts: ts + 20, dur: 10, args: { device: 0, stream: 7, correlation: i + 1 } },
      ] : []),
    ];
  });
  return JSON.stringify({ schemaVersion: 1, distributedInfo: { backend: 'nccl', rank, world_size: 2 }, traceEvents: events });
}

describe('what became of a capture', () => {
  let folder = '';
  let cases = 0;
  before(() => { folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-inspect-')); });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function inspect(capture: Partial<CaptureSettings>, notes: readonly Note[], traces: Readonly<Record<string, string>>, world?: number): Promise<CaptureInspection> {
    const output = path.join(folder, `run${cases++}`);
    mkdirSync(path.join(output, 'profiling_time', 'step-3'), { recursive: true });
    notes.forEach((note, i) => { writeFileSync(path.join(output, `fuselens-rank${note.rank}-${100 + i}.json`), JSON.stringify({ version: 1, world: 2, pid: 100 + i, host: 'h', steps: 5, ...note })); });
    Object.entries(traces).forEach(([name, content]) => { writeFileSync(path.join(output, 'profiling_time', 'step-3', name), content); });
    const inspection = await inspectCapture({ output, capture: { steps: [3, 5], ...capture }, session: new EngineSession(engineEnvironment({})), ...(world === undefined ? {} : { world }) });
    for (const { code, args } of inspection.findings) {
      assert.ok(code in MESSAGES, code);
      assert.doesNotMatch(text(code, args), /\{\w+[}#]/, code);
    }
    return inspection;
  }
  const codes = ({ findings }: CaptureInspection): readonly string[] => findings.map(({ code, args }) => `${code.replace('capture.found.', '')}${args.rank === undefined ? args.ranks === undefined ? '' : ` ${args.ranks}` : ` ${args.rank}`}`);
  const complete = (rank: number): Note => ({ rank, state: 'complete', recorded: [[3, 5]], results: [`profiling_time/step-3/rank${rank}.pt.trace.json`] });
  const both = (options: { readonly device?: boolean; readonly stacks?: boolean } = {}): Readonly<Record<string, string>> => Object.fromEntries([0, 1].map((rank) => [`rank${rank}.pt.trace.json`, trace({ rank, steps: [3, 4, 5], ...options })]));

  it('says nothing of a capture that is as asked, and does not take its own notes for profiles', async () => {
    const inspection = await inspect({}, [complete(0), complete(1)], both());
    assert.deepEqual(inspection.findings, []);
    assert.deepEqual(inspection.ranks.map(({ rank, steps, kernels, stacks }) => ({ rank, steps, kernels, stacks })), [0, 1].map((rank) => ({ rank, steps: [3, 4, 5], kernels: 3, stacks: false })));
    assert.equal(inspection.summary?.ranks.length, 2);
    const session = new EngineSession(engineEnvironment({}));
    const around = await session.call('open', { path: path.join(folder, 'run0') });
    assert.deepEqual([around.ranks.length, around.problems], [2, []]);
  });

  it('tells the ways in which nothing comes apart', async () => {
    assert.deepEqual(codes(await inspect({}, [], {})), ['nothing']);
    assert.deepEqual(codes(await inspect({ method: 'dynamic' }, [], {})), ['nothing-dynamic']);
    assert.deepEqual(codes(await inspect({ method: 'xtuner' }, [], {})), ['nothing-xtuner']);
    assert.deepEqual(codes(await inspect({}, [{ rank: 0, state: 'ended-before', steps: 1, world: 1 }], {})), ['ended-before 0']);
    assert.deepEqual(codes(await inspect({}, [{ rank: 0, state: 'waiting', world: 1 }], {})), ['killed-waiting 0']);
    assert.deepEqual(codes(await inspect({}, [{ rank: 0, state: 'recording', world: 1 }], {})), ['killed-recording 0']);
    assert.deepEqual(codes(await inspect({}, [{ rank: 0, state: 'failed', reason: 'OSError(28)', world: 1 }], {})), ['failed 0']);
    assert.deepEqual(codes(await inspect({}, [{ rank: 0, state: 'failed', reason: 'empty', profiler: 'torch_npu.profiler', world: 1 }], {})), ['empty 0']);
  });

  it('names ranks that left nothing, and files that are elsewhere', async () => {
    const [first] = Object.entries(both());
    const one = Object.fromEntries([first]);
    assert.deepEqual(codes(await inspect({}, [complete(0)], one)), ['missing-ranks 1']);
    assert.deepEqual(codes(await inspect({}, [complete(0), complete(1)], one)), ['not-here 1']);
    assert.deepEqual(codes(await inspect({ ranks: [0] }, [complete(0), { rank: 1, state: 'not-asked' }], one)), []);
    assert.deepEqual(codes(await inspect({ ranks: [0, 9] }, [complete(0), { rank: 1, state: 'not-asked' }], one)), ['no-such-rank 9']);
    assert.deepEqual(codes(await inspect({}, [], one, 2)), ['missing-ranks 1']);
  });

  it('finds lost steps, missing device events and missing stacks in what was recorded', async () => {
    const traces = { 'rank0.pt.trace.json': trace({ rank: 0, steps: [3, 4] }), 'rank1.pt.trace.json': trace({ rank: 1, steps: [3, 4, 5], device: false, stacks: true }) };
    const inspection = await inspect({ stacks: true }, [complete(0), complete(1)], traces);
    assert.deepEqual(codes(inspection), ['lost-steps 0', 'no-device-events 1', 'no-stacks 0']);
    assert.equal(inspection.findings[0].args.steps, '5');
    assert.deepEqual(codes(await inspect({ stacks: true }, [complete(0), complete(1)], both({ stacks: true }))), []);
  });

  it('tells an end in a recording from one between two', async () => {
    const partial = (steps: number): Note => ({ rank: 0, state: 'partial', recorded: [[3, 3]], results: ['profiling_time/step-3/rank0.pt.trace.json'], steps, world: 1 });
    const traces = { 'rank0.pt.trace.json': trace({ rank: 0, steps: [3] }) };
    for (const [steps, code] of [[4, 'partial 0'], [6, 'partial-between 0']] as const) {
      const found = await inspect({ steps: '3,5' }, [partial(steps)], traces);
      assert.deepEqual(codes(found), [code, 'lost-steps 0']);
      assert.match(text(found.findings[0].code, found.findings[0].args), /of steps 3, 5 the recording holds 3[,;]/);
    }
  });

  it('passes on that a recording was not analysed, with the command that does it', async () => {
    const output = path.join(folder, 'raw');
    const rank = path.join(output, 'profiling_time', 'step-3', 'rank0_h_1_20261130000000000_ascend_pt');
    mkdirSync(path.join(rank, 'FRAMEWORK'), { recursive: true });
    mkdirSync(path.join(rank, 'PROF_000001_20261130000000000_ABCDEFGH'), { recursive: true });
    writeFileSync(path.join(rank, 'profiler_info.json'), '{"config":{},"start_info":{},"end_info":{}}');
    const inspection = await inspectCapture({ output, capture: { steps: [3, 5] }, session: new EngineSession(engineEnvironment({})) });
    const told = inspection.findings.map(({ code, args }) => text(code, args));
    assert.ok(told.some((sentence) => /has not been analysed yet\. Run this .*analyse\(/.test(sentence)), told.join('\n'));
  });

  it('reads notes that are damaged, foreign or of another time without a fault', async () => {
    const output = path.join(folder, 'odd');
    mkdirSync(output);
    writeFileSync(path.join(output, 'fuselens-rank0-1.json'), '{"rank": 0, "sta');
    writeFileSync(path.join(output, 'fuselens-rank1-1.json'), 'null');
    writeFileSync(path.join(output, 'fuselens-rank2-1.json'), '{"rank":-1,"state":"complete"}');
    writeFileSync(path.join(output, 'fuselens-rank3-1.json'), '{"rank":3,"state":"dancing"}');
    const inspection = await inspectCapture({ output, capture: { steps: [3, 5] }, session: new EngineSession(engineEnvironment({})) });
    assert.deepEqual(codes(inspection), ['nothing']);
  });
});
