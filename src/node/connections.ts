import { fork } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import type { EngineReply, EngineRequest } from '../protocol/engine';
import { EngineError } from './engineError';
import type { EngineSettings } from './settings';

/** The client's end of the line to an engine in another thread or process. */
export interface Connection {
  post(request: EngineRequest): void;
  /** Ends the other side; resolves when its memory is given back. */
  close(): Promise<void>;
  /** Memory shared with the engine where there is such a thing. */
  readonly cancelFlags: Int32Array | undefined;
}

export interface ConnectionOptions {
  readonly script: string;
  readonly settings: EngineSettings;
  /** Most megabytes of JavaScript heap; columns are not counted, they live outside the heap. */
  readonly heapLimitMb: number;
  readonly execArgv: readonly string[];
  readonly onReply: (reply: EngineReply) => void;
  /** Called once when the engine ends without having been asked to. */
  readonly onCrash: (error: EngineError) => void;
}

const CANCEL_SLOTS = 1024;
/** How much of a dying process's last words is kept for the report. */
const STDERR_TAIL = 4000;

/** An engine in a worker thread: starts in about 50 ms and moves typed arrays without copying. */
export function connectThread(options: ConnectionOptions): Connection {
  const cancelFlags = new Int32Array(new SharedArrayBuffer(CANCEL_SLOTS * 4));
  const worker = new Worker(options.script, {
    workerData: { settings: options.settings, cancelFlags },
    resourceLimits: { maxOldGenerationSizeMb: options.heapLimitMb },
    execArgv: [...options.execArgv],
  });
  let closing = false;
  let crash: EngineError | undefined;
  worker.on('message', options.onReply);
  worker.on('error', (error: NodeJS.ErrnoException) => {
    crash = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? new EngineError('error.engine-out-of-memory', {}, error.message)
      : new EngineError('error.engine-crashed', { reason: error.message }, error.stack);
  });
  const ended = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      resolve();
      if (!closing) {
        options.onCrash(crash ?? new EngineError('error.engine-crashed', { reason: `exit ${code}` }));
      }
    });
  });
  return {
    cancelFlags,
    post: (request) => worker.postMessage(request),
    close: async () => {
      closing = true;
      await worker.terminate();
      await ended;
    },
  };
}

/** An engine in a process of its own: running out of memory there never takes this process down. */
export function connectProcess(options: ConnectionOptions): Connection {
  const child = fork(options.script, [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${options.heapLimitMb}`, ...options.execArgv],
    env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', FUSELENS_ENGINE_SETTINGS: JSON.stringify(options.settings) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let closing = false;
  let lastWords = '';
  let startFailure: string | undefined;
  child.stderr?.on('data', (bytes: Buffer) => {
    lastWords = (lastWords + bytes.toString()).slice(-STDERR_TAIL);
  });
  child.on('message', (reply) => options.onReply(reply as EngineReply));
  const ended = new Promise<void>((resolve) => {
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      resolve();
      if (!closing) {
        closing = true;
        options.onCrash(crashOf(code, signal, startFailure ?? lastWords));
      }
    };
    child.on('error', (error) => {
      startFailure = error.message;
      // A process that never started has no exit event.
      if (child.pid === undefined) {
        end(null, null);
      }
    });
    child.on('exit', end);
  });
  return {
    cancelFlags: undefined,
    post: (request) => {
      child.send(request, () => undefined);
    },
    close: async () => {
      closing = true;
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The kernel's out-of-memory killer sends SIGKILL; V8 aborts with its own words on stderr. */
function crashOf(code: number | null, signal: NodeJS.Signals | null, words: string): EngineError {
  const outOfMemory = signal === 'SIGKILL' || /heap out of memory|allocation failed|Array buffer allocation/i.test(words);
  const reason = signal ?? (code === null ? 'could not start' : `exit ${code}`);
  return outOfMemory ? new EngineError('error.engine-out-of-memory', {}, words) : new EngineError('error.engine-crashed', { reason }, words);
}
