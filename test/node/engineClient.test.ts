import assert from 'node:assert/strict';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EngineError, startEngine, type EngineOptions } from '../../src/node/engineClient';
import { buildWorker } from './buildWorker';
import type { Engine, EngineProgress } from '../../src/protocol/engine';

let script = '';
const options = (more: Partial<EngineOptions> = {}): EngineOptions => ({ script, heapLimitMb: 64, ...more });

function useFakeEngine(): void {
  before(async () => {
    script = await buildWorker(path.join(__dirname, 'fakeEngineMain.ts'));
  });
  after(() => rm(path.dirname(script), { recursive: true, force: true }));
}

/** The fake engine answers by the rank it is asked for. */
const ask = (engine: Engine, what: string, call: Parameters<Engine['call']>[2] = {}): Promise<unknown> => engine.call('load', { rank: what }, call);

async function failure(promise: Promise<unknown>): Promise<EngineError> {
  const error: unknown = await promise.then((result) => assert.fail(`answered ${String(result)}`), (reason: unknown) => reason);
  assert.ok(error instanceof EngineError, String(error));
  return error;
}

for (const home of ['thread', 'process'] as const) {
  describe(`engine in a ${home}`, function () {
    this.timeout(30_000);
    useFakeEngine();
    let engine: Engine;
    let crashes: EngineError[];
    beforeEach(() => {
      crashes = [];
      engine = startEngine(options({ home, onCrash: (error) => crashes.push(error) }));
    });
    afterEach(() => engine.dispose());

    it('answers with typed arrays that are only as long as the window', async () => {
      const result = (await ask(engine, 'window')) as { lane: Float64Array; flags: Uint8Array; deep: { ids: Uint16Array }[] };
      assert.deepEqual([...result.lane], [2, 3, 4]);
      assert.ok(result.lane instanceof Float64Array && result.flags instanceof Uint8Array);
      assert.deepEqual([...result.flags, ...result.deep[0].ids], [1, 2, 7]);
      if (home === 'thread') {
        assert.equal(result.lane.buffer.byteLength, 24);
      }
      assert.equal(await ask(engine, 'column sum'), 28, 'the engine keeps its own column');
      assert.equal(await ask(engine, 'where'), home);
    });

    it('keeps many calls apart', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => ask(engine, `call ${i}`)));
      assert.deepEqual(answers, Array.from({ length: 50 }, (_, i) => ({ rank: `call ${i}` })));
    });

    it('turns failures into codes', async () => {
      const unreadable = await failure(ask(engine, 'unreadable'));
      assert.deepEqual([unreadable.code, unreadable.args], ['error.not-a-profile', { file: 'x.json' }]);
      const fault = await failure(ask(engine, 'fault'));
      assert.equal(fault.code, 'error.internal');
      assert.match(fault.detail ?? '', /a fault of ours/);
      assert.equal((await failure(ask(engine, 'too large an array'))).code, 'error.out-of-memory');
      assert.deepEqual(await ask(engine, 'still alive'), { rank: 'still alive' });
    });

    it('shows progress and stops when cancelled', async () => {
      const controller = new AbortController();
      const seen: EngineProgress[] = [];
      const call = ask(engine, 'slow', {
        signal: controller.signal,
        progress: (progress) => {
          seen.push(progress);
          controller.abort();
        },
      });
      assert.ok((await failure(call)).cancelled);
      assert.equal(seen[0].totalBytes, 1000);
      assert.equal(seen[0].file, 'slow.json');
      assert.ok((await failure(ask(engine, 'anything', { signal: controller.signal }))).cancelled);
    });

    it('rejects what waits when it crashes, and tells once', async () => {
      const waiting = failure(ask(engine, 'slow'));
      const crash = await failure(ask(engine, 'crash'));
      assert.equal(crash.code, 'error.engine-crashed');
      assert.match(crash.detail ?? '', /thrown outside every promise/);
      assert.equal((await waiting).code, 'error.engine-crashed');
      assert.equal((await failure(ask(engine, 'later'))).code, 'error.engine-crashed');
      assert.deepEqual(crashes, [crash]);
    });

    it('survives an engine that exits', async () => {
      assert.equal((await failure(ask(engine, 'exit'))).code, 'error.engine-crashed');
      assert.equal(crashes.length, 1);
    });

    it('survives an engine that runs out of memory', async () => {
      assert.equal((await failure(ask(engine, 'heap'))).code, 'error.engine-out-of-memory');
      assert.equal(crashes.length, 1);
    });

    it('rejects what waits when disposed, without calling it a crash', async () => {
      const waiting = failure(ask(engine, 'slow'));
      await ask(engine, 'warm');
      await engine.dispose();
      assert.equal((await waiting).code, 'error.engine-disposed');
      assert.equal((await failure(ask(engine, 'later'))).code, 'error.engine-disposed');
      assert.deepEqual(crashes, []);
    });
  });
}

describe('startEngine', function () {
  this.timeout(30_000);
  useFakeEngine();

  it('cancels a loop that never gives way (thread)', async () => {
    const engine = startEngine(options({ home: 'thread' }));
    const controller = new AbortController();
    const call = failure(ask(engine, 'busy', { signal: controller.signal }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    controller.abort();
    assert.ok((await call).cancelled);
    assert.equal(await ask(engine, 'busy loops ended'), 1);
    await engine.dispose();
  });

  it('reads large files in a process of their own', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'fuselens-home-'));
    await writeFile(path.join(folder, 'small.json'), '[]');
    const big = await open(path.join(folder, 'big.json'), 'w');
    await big.truncate(5000);
    await big.close();
    for (const [name, home] of [['small.json', 'thread'], ['big.json', 'process'], ['', 'process']] as const) {
      const engine = startEngine(options({ processOverBytes: 4000 }));
      await engine.call('open', { path: path.join(folder, name) });
      assert.equal(await ask(engine, 'where'), home, name);
      await engine.dispose();
    }
    await rm(folder, { recursive: true });
  });

  it('ends the child process on dispose', async () => {
    const engine = startEngine(options({ home: 'process' }));
    const pid = (await ask(engine, 'pid')) as number;
    process.kill(pid, 0);
    await engine.dispose();
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('says so when the script cannot be started', async () => {
    for (const home of ['thread', 'process'] as const) {
      const engine = startEngine(options({ home, script: path.join(__dirname, 'no such script.js') }));
      assert.equal((await failure(ask(engine, 'anything'))).code, 'error.engine-crashed');
      await engine.dispose();
    }
  });

  it('gives memory back: opening and closing many times does not add up', async () => {
    const once = async (): Promise<void> => {
      const engine = startEngine(options({ home: 'thread' }));
      assert.equal(await ask(engine, 'hold memory'), 1);
      await engine.dispose();
    };
    await once();
    await once();
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 8; i++) {
      await once();
    }
    // Eight engines held 64 MB each; kept, they would be 512 MB.
    assert.ok(process.memoryUsage.rss() - before < 200 * 1024 * 1024, `${(process.memoryUsage.rss() - before) / 1024 / 1024} MB more`);
  });
});
