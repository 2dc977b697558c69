import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { directEngine } from '../../src/node/directEngine';
import { EngineError, startEngine } from '../../src/node/engineClient';
import { engineEnvironment } from '../../src/node/environment';
import type { Engine } from '../../src/protocol/engine';
import { hasSharedData, sharedPath } from '../sharedData';
import { buildWorker } from './buildWorker';

const PROFILES = {
  'Ascend database': sharedPath('ascend', 'msinsight-alexnet', 'db', 'level2'),
  'Ascend text': sharedPath('ascend', 'msinsight-qwen3-4rank'),
  'Nsight Systems': sharedPath('kineto', 'nsys-saxpy-mpi'),
  'Kineto, compressed': sharedPath('kineto', 'cuda-h100-vit-infer-stacks'),
} as const;

async function firstRank(engine: Engine, profile: string): Promise<string> {
  const { ranks } = await engine.call('open', { path: profile });
  const rank = ranks.find(({ readable }) => readable);
  assert.ok(rank, profile);
  return rank.id;
}

describe('the built worker', function () {
  this.timeout(60_000);
  let script: string;
  let folder: string;
  before(async function () {
    if (!hasSharedData()) {
      console.log('    needs ../shared/data: skipped');
      this.skip();
    }
    script = await buildWorker(path.resolve(__dirname, '../../src/node/workerMain.ts'));
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-worker-test-'));
  });
  after(() => {
    if (script !== undefined) {
      rmSync(path.dirname(script), { recursive: true });
      rmSync(folder, { recursive: true });
    }
  });

  for (const home of ['thread', 'process'] as const) {
    for (const [name, profile] of Object.entries(PROFILES)) {
      it(`says in a ${home} what the engine says in this thread: ${name}`, async () => {
        const here = directEngine(engineEnvironment({}));
        const there = startEngine({ script, home, settings: { cacheFolder: path.join(folder, 'cache') } });
        try {
          assert.deepEqual(await there.call('open', { path: profile }), await here.call('open', { path: profile }));
          const rank = await firstRank(there, profile);
          await firstRank(here, profile);
          assert.deepEqual(await there.call('load', { rank }), await here.call('load', { rank }));
          const expected = await here.call('overview', { rank });
          assert.deepEqual(await there.call('overview', { rank }), expected);
          assert.deepEqual(await there.call('timelineLayout', { rank }), await here.call('timelineLayout', { rank }));
          // Once more from the cache.
          await there.call('release', { rank });
          assert.deepEqual(await there.call('overview', { rank }), expected);
        } finally {
          await there.dispose();
        }
      });
    }
  }

  it('says what is wrong with a path, in a code', async () => {
    const engine = startEngine({ script });
    const missing = path.join(folder, 'nothing here');
    await assert.rejects(engine.call('open', { path: missing }), (error: unknown) => error instanceof EngineError && error.code === 'error.not-found' && error.args?.['file'] === missing);
    await engine.dispose();
  });

  it('leaves the profile as it was', async () => {
    const copy = path.join(folder, '性能 100% #1');
    cpSync(PROFILES['Ascend database'], copy, { recursive: true });
    const listing = (): readonly string[] => readdirSync(copy, { recursive: true }).map(String).sort();
    const before = listing();
    const engine = startEngine({ script, settings: { cacheFolder: path.join(folder, 'cache') } });
    await engine.call('overview', { rank: await firstRank(engine, copy) });
    await engine.dispose();
    assert.deepEqual(listing(), before);
  });

  it('gives memory back when profiles are opened and closed over and over', async () => {
    const engine = directEngine(engineEnvironment({}));
    const once = async (): Promise<void> => {
      const rank = await firstRank(engine, PROFILES['Ascend text']);
      await engine.call('overview', { rank });
      assert.equal(await engine.call('release', { rank }), true);
    };
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // Buffers go some turns after the collection that found them unused: asked until two answers agree.
    const buffers = async (): Promise<number> => {
      let last = NaN;
      for (let turn = 0; turn < 50; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        collect();
        const now = process.memoryUsage().arrayBuffers;
        if (now === last) {
          break;
        }
        last = now;
      }
      return last;
    };
    await once();
    const before = await buffers();
    for (let i = 0; i < 20; i++) {
      await once();
    }
    // Twenty ranks kept would be more than twice this.
    const growth = (await buffers()) - before;
    assert.ok(growth < 6 * 1024 * 1024, `${(growth / 1024 / 1024).toFixed(1)} MB more`);
  });
});
