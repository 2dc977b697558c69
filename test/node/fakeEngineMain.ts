/** An engine whose methods misbehave on purpose, in the place of `workerMain`. */
import { parentPort, workerData } from 'node:worker_threads';
import type { EngineSession, SessionCallOptions } from '../../src/engine/session';
import { Cancelled, UnreadableInput } from '../../src/engine/profile/problems';
import type { EngineRequest } from '../../src/protocol/engine';
import { serveEngine } from '../../src/node/engineServer';

interface FakeParams {
  readonly path?: string;
  readonly rank?: string;
}

const column = new Float64Array([0, 1, 2, 3, 4, 5, 6, 7]);
const keep: unknown[] = [];
let busyLoopsEnded = 0;

async function call(_method: string, params: FakeParams, { signal, progress }: SessionCallOptions = {}): Promise<unknown> {
  switch (params.rank ?? params.path) {
    case 'window':
      return { lane: column.subarray(2, 5), flags: new Uint8Array([1, 2]), deep: [{ ids: Uint16Array.of(7) }], text: 'x', none: undefined };
    case 'column sum':
      return column.reduce((sum, value) => sum + value, 0);
    case 'slow':
      for (let i = 0; i < 1000; i++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        progress?.({ bytes: i, totalBytes: 1000, file: 'slow.json' });
        if (signal?.aborted === true) {
          throw new Cancelled();
        }
      }
      return 'never';
    case 'busy':
      // Gives the event loop no turn at all: only shared memory can stop it.
      while (signal?.aborted !== true) {
        Math.sqrt(2);
      }
      busyLoopsEnded++;
      throw new Cancelled();
    case 'busy loops ended':
      return busyLoopsEnded;
    case 'unreadable':
      throw new UnreadableInput({ code: 'error.not-a-profile', args: { file: 'x.json' } });
    case 'fault':
      throw new TypeError('a fault of ours');
    case 'too large an array':
      return new Float64Array(2 ** 40);
    case 'crash':
      setImmediate(() => {
        throw new Error('thrown outside every promise');
      });
      return new Promise(() => undefined);
    case 'exit':
      return process.exit(3);
    case 'heap':
      return fillHeap();
    case 'where':
      return parentPort === null ? 'process' : 'thread';
    case 'pid':
      return process.pid;
    case 'hold memory':
      keep.push(new Float64Array(8 * 1024 * 1024).fill(1));
      return keep.length;
    default:
      return params;
  }
}

/** A little at a time, with turns between: a thread that takes 16 MB past its limit before it can be stopped takes the whole process, and these tests, with it. */
async function fillHeap(): Promise<never> {
  for (;;) {
    keep.push(Array.from({ length: 5000 }, (_, i) => ({ i })));
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

const session = { call } as unknown as Pick<EngineSession, 'call'>;
if (parentPort !== null) {
  const port = parentPort;
  const { cancelFlags } = workerData as { readonly cancelFlags: Int32Array };
  serveEngine({ post: (reply, transfer) => port.postMessage(reply, transfer), onRequest: (listener) => port.on('message', listener) }, session, cancelFlags);
} else {
  serveEngine({ post: (reply) => process.send?.(reply), onRequest: (listener) => process.on('message', (request) => listener(request as EngineRequest)) }, session);
}
