import assert from 'node:assert/strict';
import type { CallOptions, Engine, EngineMethod, EngineParams, EngineResult } from '../../src/protocol/engine';
import { isCrash, Profile } from '../../src/host/profile';
import { eventually } from './support';

interface FakeEngine extends Engine {
  disposed: boolean;
  crash: (error: unknown) => void;
}

/** Engines that answer `open` with an empty profile and never answer `overview` until they are told to. */
function fakeEngines(): { readonly engines: FakeEngine[]; readonly start: (onCrash: (error: unknown) => void) => Engine; fail?: Error } {
  const engines: FakeEngine[] = [];
  const result: ReturnType<typeof fakeEngines> = {
    engines,
    start: (onCrash) => {
      let rejectWaiting: ((error: unknown) => void) | undefined;
      const engine: FakeEngine = {
        disposed: false,
        crash: (error) => {
          rejectWaiting?.(error);
          onCrash(error);
        },
        call: <M extends EngineMethod>(method: M, _params: EngineParams<M>, { signal }: CallOptions = {}) => {
          if (method === 'open') {
            return result.fail === undefined
              ? Promise.resolve({ path: '/p', name: 'p', format: 'kineto', backend: 'cuda', ranks: [], problems: [], alternative: undefined } as unknown as EngineResult<M>)
              : Promise.reject(result.fail);
          }
          return new Promise<EngineResult<M>>((_resolve, reject) => {
            rejectWaiting = reject;
            signal?.addEventListener('abort', () => reject(Object.assign(new Error('cancelled'), { code: 'error.cancelled' })));
          });
        },
        dispose: () => {
          engine.disposed = true;
          rejectWaiting?.(Object.assign(new Error('disposed'), { code: 'error.engine-disposed' }));
          return Promise.resolve();
        },
      };
      engines.push(engine);
      return engine;
    },
  };
  return result;
}

describe('the engine of a profile', () => {
  it('is started once for many callers and ended after the last one left', async () => {
    const fake = fakeEngines();
    const profile = new Profile('/p', undefined, fake.start, 30);
    const view = profile.use();
    await Promise.all([profile.open(), profile.open(), profile.open()]);
    assert.equal(fake.engines.length, 1);
    await new Promise((resolve) => setTimeout(resolve, 80));
    assert.equal(fake.engines[0].disposed, false, 'a view still uses it');
    view.dispose();
    view.dispose();
    await eventually('the engine ends', () => fake.engines[0].disposed, (disposed) => disposed);
    assert.equal(profile.status.kind, 'idle');
    await profile.open();
    assert.equal(fake.engines.length, 2);
    profile.dispose();
    assert.equal(fake.engines[1].disposed, true);
  });

  it('is kept when a tab moves: somebody uses it again in time', async () => {
    const fake = fakeEngines();
    const profile = new Profile('/p', undefined, fake.start, 60);
    const first = profile.use();
    await profile.open();
    first.dispose();
    const second = profile.use();
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.equal(fake.engines[0].disposed, false);
    second.dispose();
    profile.dispose();
  });

  it('may crash: waiting calls fail, the profile says so, and the next call starts another', async () => {
    const fake = fakeEngines();
    const profile = new Profile('/p', undefined, fake.start, 1000);
    await profile.open();
    const waiting = assert.rejects(profile.call('overview', { rank: 'r' }), isCrash);
    await new Promise((resolve) => setTimeout(resolve, 10));
    fake.engines[0].crash(Object.assign(new Error('gone'), { code: 'error.engine-crashed' }));
    await waiting;
    assert.equal(profile.status.kind, 'failed');
    await profile.open();
    assert.equal(fake.engines.length, 2);
    assert.equal(profile.status.kind, 'ready');
    profile.dispose();
  });

  it('is ended when opening fails, and opening can be tried again', async () => {
    const fake = fakeEngines();
    fake.fail = Object.assign(new Error('no'), { code: 'error.not-a-profile', args: { file: '/p' } });
    const profile = new Profile('/p', undefined, fake.start, 1000);
    await assert.rejects(profile.open());
    assert.equal(fake.engines[0].disposed, true);
    assert.equal(profile.status.kind, 'failed');
    fake.fail = undefined;
    await profile.open();
    assert.equal(profile.status.kind, 'ready');
    profile.dispose();
  });

  it('stops a cancelled call without losing the profile', async () => {
    const fake = fakeEngines();
    const profile = new Profile('/p', undefined, fake.start, 1000);
    const abort = new AbortController();
    const call = profile.call('overview', { rank: 'r' }, { signal: abort.signal });
    await new Promise((resolve) => setTimeout(resolve, 10));
    abort.abort();
    await assert.rejects(call);
    assert.equal(profile.status.kind, 'ready');
    profile.dispose();
  });
});
