import type { CallOptions, Engine, EngineMethod, EngineParams, EngineProgress, EngineReply, EngineResult } from '../protocol/engine';
import { connectProcess, connectThread, type Connection } from './connections';
import { EngineError } from './engineError';
import { largestFileBytes } from './largestFile';
import type { EngineSettings } from './settings';

export { EngineError } from './engineError';
export type { EngineSettings } from './settings';

export interface EngineOptions {
  /** The built worker script (`dist/worker.js`). */
  readonly script: string;
  readonly settings?: EngineSettings;
  /**
   * Where the engine lives. `auto` looks at the first path it is asked to open: a thread, or a process of its own when a
   * file there is larger than `processOverBytes`, so that running out of memory never takes this process down.
   */
  readonly home?: 'thread' | 'process' | 'auto';
  /** Default 1 GiB. */
  readonly processOverBytes?: number;
  readonly heapLimitMb?: number;
  readonly execArgv?: readonly string[];
  /** The engine died. Every waiting call has been rejected with this error; start a new engine to go on. */
  readonly onCrash?: (error: EngineError) => void;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: EngineError) => void;
  readonly progress: ((progress: EngineProgress) => void) | undefined;
}

const DEFAULT_PROCESS_OVER = 1024 ** 3;
const DEFAULT_HEAP_MB = 4096;

/** Starts an engine outside this thread. Nothing runs until the first call. */
export function startEngine(options: EngineOptions): Engine {
  return new EngineClient(options);
}

class EngineClient implements Engine {
  private readonly waiting = new Map<number, Waiting>();
  private connection: Promise<Connection> | undefined;
  private lastId = 0;
  private ended: EngineError | undefined;

  constructor(private readonly options: EngineOptions) {}

  async call<M extends EngineMethod>(method: M, params: EngineParams<M>, { signal, progress }: CallOptions = {}): Promise<EngineResult<M>> {
    if (this.ended !== undefined) {
      throw this.ended;
    }
    if (signal?.aborted === true) {
      throw new EngineError('error.cancelled');
    }
    this.connection ??= this.connect(params);
    const id = (this.lastId = (this.lastId % 0x7fffffff) + 1);
    let stop: (() => void) | undefined;
    try {
      return await new Promise<EngineResult<M>>((resolve, reject) => {
        this.waiting.set(id, { resolve, reject, progress });
        stop = () => this.cancel(id);
        signal?.addEventListener('abort', stop, { once: true });
        // Parameters that cannot be sent fail the call, as a lost connection does: else nobody would ever answer.
        this.connection?.then((connection) => {
          if (this.waiting.has(id)) {
            connection.post({ id, kind: 'call', method, params });
          }
        }).catch((error: unknown) => reject(new EngineError('error.engine-crashed', { reason: String(error) })));
      });
    } finally {
      this.waiting.delete(id);
      if (stop !== undefined) {
        signal?.removeEventListener('abort', stop);
      }
    }
  }

  async dispose(): Promise<void> {
    this.end(new EngineError('error.engine-disposed'));
    await (await this.connection?.catch(() => undefined))?.close();
  }

  /** The caller is answered at once; the engine is told, and its own late answer falls on deaf ears. */
  private cancel(id: number): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    waiting?.reject(new EngineError('error.cancelled'));
    void this.connection?.then(({ cancelFlags, post }) => {
      if (cancelFlags !== undefined) {
        Atomics.store(cancelFlags, id % cancelFlags.length, id);
      }
      post({ id, kind: 'cancel' });
    }).catch(() => undefined);
  }

  private async connect(params: unknown): Promise<Connection> {
    const { script, settings = {}, heapLimitMb = DEFAULT_HEAP_MB, execArgv = [] } = this.options;
    const home = await this.chooseHome(params);
    const connect = home === 'process' ? connectProcess : connectThread;
    return connect({
      script, settings, heapLimitMb, execArgv,
      onReply: (reply) => this.receive(reply),
      onCrash: (error) => {
        if (this.end(error)) {
          this.options.onCrash?.(error);
        }
      },
    });
  }

  private async chooseHome(params: unknown): Promise<'thread' | 'process'> {
    const { home = 'auto', processOverBytes = DEFAULT_PROCESS_OVER } = this.options;
    if (home !== 'auto') {
      return home;
    }
    const path = (params as { readonly path?: unknown } | undefined)?.path;
    return typeof path === 'string' && (await largestFileBytes(path, processOverBytes)) > processOverBytes ? 'process' : 'thread';
  }

  private receive(reply: EngineReply): void {
    const waiting = this.waiting.get(reply.id);
    switch (reply.kind) {
      case 'progress':
        waiting?.progress?.(reply.progress);
        break;
      case 'result':
        waiting?.resolve(reply.result as never);
        break;
      case 'error':
        waiting?.reject(new EngineError(reply.code, reply.args, reply.detail));
        break;
    }
  }

  /** False when it had ended before. */
  private end(reason: EngineError): boolean {
    if (this.ended !== undefined) {
      return false;
    }
    this.ended = reason;
    for (const { reject } of this.waiting.values()) {
      reject(reason);
    }
    this.waiting.clear();
    return true;
  }
}
