import { url as debuggerUrl } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { CliIo } from './io';

/** Commands that compute for long without a pause: in the thread that hears signals, Ctrl+C would wait until they are done. */
const COMPUTING: ReadonlySet<string> = new Set(['analyze', 'columns', 'compare', 'export', 'fuse', 'inspect', 'sample']);

/** A debugger that was asked for looks at the first thread. */
export const isComputing = (command: string | undefined): boolean => command !== undefined && COMPUTING.has(command) && debuggerUrl() === undefined;

interface ThreadData {
  readonly args: readonly string[];
  readonly columns: number | undefined;
  readonly errIsTerminal: boolean;
  /** One number: 1 once the user wants an end. A loop without a pause sees it, where a message would wait. */
  readonly stopped: Int32Array;
}

type FromThread =
  | { readonly kind: 'out'; readonly id: number; readonly text: string }
  | { readonly kind: 'err'; readonly text: string }
  | { readonly kind: 'end'; readonly code: number }
  | { readonly kind: 'fault'; readonly text: string };

/** Answers to a thread: the text of this number was taken. */
interface Written {
  readonly id: number;
}

export interface CommandThread {
  /** Exit code; rejects with the text of a mistake of our own. */
  readonly ended: Promise<number>;
  /** Asks the command to end, so that it can tidy up, and hears nothing of it any more; resolves when it has, or when time is up. */
  readonly stop: (graceMs: number) => Promise<void>;
}

/** Runs a command in a thread of its own, with the same script as this process. */
export function startCommandThread(script: string, args: readonly string[], io: Pick<CliIo, 'out' | 'err' | 'columns' | 'errIsTerminal'>): CommandThread {
  const stopped = new Int32Array(new SharedArrayBuffer(4));
  const data: ThreadData = { args, columns: io.columns, errIsTerminal: io.errIsTerminal, stopped };
  const worker = new Worker(script, {
    workerData: data,
    // Without it a thread gets less than the process would.
    resourceLimits: { maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20) },
  });
  let deaf = false;
  const ended = new Promise<number>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      switch (message.kind) {
        case 'out':
          if (!deaf) {
            void io.out(message.text).then(() => worker.postMessage({ id: message.id } satisfies Written));
          }
          break;
        case 'err':
          if (!deaf) {
            io.err(message.text);
          }
          break;
        case 'end':
          worker.unref();
          resolve(message.code);
          break;
        case 'fault':
          reject(new Error(message.text));
          break;
      }
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the thread of the command ended (${code})`)));
  });
  return {
    ended,
    stop: async (graceMs) => {
      deaf = true;
      Atomics.store(stopped, 0, 1);
      worker.postMessage({ id: 0 } satisfies Written);
      await Promise.race([ended.catch(() => undefined), new Promise((resolve) => { setTimeout(resolve, graceMs).unref(); })]);
    },
  };
}

/** The other end: runs the command that this thread was started for. */
export async function serveCommandThread(): Promise<void> {
  const port = parentPort;
  if (port === null) {
    return;
  }
  const { args, columns, errIsTerminal, stopped } = workerData as ThreadData;
  const stop = new AbortController();
  Object.defineProperty(stop.signal, 'aborted', { get: () => Atomics.load(stopped, 0) === 1 });
  const post = (message: FromThread): void => port.postMessage(message);
  const waiting = new Map<number, () => void>();
  let last = 0;
  port.on('message', ({ id }: Written) => {
    if (Atomics.load(stopped, 0) === 1) {
      stop.abort('SIGINT');
    }
    waiting.get(id)?.();
    waiting.delete(id);
  });
  const { runCommand } = await import('./runCommand');
  await runCommand(args, {
    out: (text) => new Promise((resolve) => {
      waiting.set(++last, resolve);
      post({ kind: 'out', id: last, text });
    }),
    err: (text) => post({ kind: 'err', text }),
    columns, errIsTerminal, environment: process.env, signal: stop.signal,
  }).then(
    (code) => post({ kind: 'end', code }),
    (error: unknown) => post({ kind: 'fault', text: error instanceof Error ? error.stack ?? error.message : String(error) }),
  );
}
