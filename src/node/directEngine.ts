import { EngineSession, type EngineEnvironment } from '../engine/session';
import type { CallOptions, Engine, EngineMethod, EngineParams, EngineResult } from '../protocol/engine';
import { EngineError } from './engineError';
import { asEngineError } from './engineServer';

/** An engine in this very thread, for the command line and for tests: same calls, same errors, no worker. */
export function directEngine(environment: EngineEnvironment): Engine {
  let session: EngineSession | undefined = new EngineSession(environment);
  return {
    async call<M extends EngineMethod>(method: M, params: EngineParams<M>, options: CallOptions = {}): Promise<EngineResult<M>> {
      if (session === undefined) {
        throw new EngineError('error.engine-disposed');
      }
      try {
        return await session.call(method, params, options);
      } catch (error) {
        throw asEngineError(error);
      }
    },
    dispose: () => {
      session = undefined;
      return Promise.resolve();
    },
  };
}
