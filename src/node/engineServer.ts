import type { EngineSession } from '../engine/session';
import { Cancelled, UnreadableInput } from '../engine/profile/problems';
import type { EngineProgress, EngineReply, EngineRequest } from '../protocol/engine';
import { EngineError } from './engineError';
import { packForTransfer } from './transfer';

/** The server's end of the line to a client: a worker's port or a child process's IPC. */
export interface ServerChannel {
  post(reply: EngineReply, transfer: readonly ArrayBuffer[]): void;
  onRequest(listener: (request: EngineRequest) => void): void;
}

/** Progress is for eyes: this many milliseconds lie between two messages of one call. */
const PROGRESS_INTERVAL_MS = 50;

/**
 * Answers a client's calls with a session. `cancelFlags` is memory shared with the client: it makes a cancel visible to a
 * loop that does not give the event loop a turn, where a message would wait until the loop is over.
 */
export function serveEngine(channel: ServerChannel, session: Pick<EngineSession, 'call'>, cancelFlags?: Int32Array): void {
  const running = new Map<number, AbortController>();

  const answer = async (request: EngineRequest & { readonly kind: 'call' }): Promise<void> => {
    const { id } = request;
    const controller = new AbortController();
    running.set(id, controller);
    let lastProgress = 0;
    const progress = (state: EngineProgress): void => {
      const now = performance.now();
      if (now - lastProgress >= PROGRESS_INTERVAL_MS || state.bytes >= state.totalBytes) {
        lastProgress = now;
        channel.post({ id, kind: 'progress', progress: { bytes: state.bytes, totalBytes: state.totalBytes, file: state.file } }, []);
      }
    };
    try {
      const result = await session.call(request.method, request.params as never, { signal: watched(controller.signal, cancelFlags, id), progress });
      const { value, transfer } = packForTransfer(result);
      channel.post({ id, kind: 'result', result: value }, transfer);
    } catch (error) {
      const { code, args, detail } = asEngineError(error);
      channel.post({ id, kind: 'error', code, ...(args === undefined ? {} : { args }), ...(detail === undefined ? {} : { detail }) }, []);
    } finally {
      running.delete(id);
    }
  };

  channel.onRequest((request) => {
    switch (request.kind) {
      case 'call':
        void answer(request);
        break;
      case 'cancel':
        running.get(request.id)?.abort();
        break;
    }
  });
}

/** Slot of a call in the shared flags; the client writes the call's id there to cancel it. */
const cancelSlot = (flags: Int32Array, id: number): number => id % flags.length;

function watched(signal: AbortSignal, flags: Int32Array | undefined, id: number): AbortSignal {
  if (flags !== undefined) {
    Object.defineProperty(signal, 'aborted', { get: () => Atomics.load(flags, cancelSlot(flags, id)) === id });
  }
  return signal;
}

/** Any failure as a code: what readers say on purpose, a cancel, memory that ran out, or a fault of ours. */
export function asEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) {
    return error;
  }
  if (error instanceof UnreadableInput) {
    return new EngineError(error.detail.code, error.detail.args);
  }
  if (error instanceof Cancelled) {
    return new EngineError('error.cancelled');
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const outOfMemory = error instanceof RangeError && /allocation failed|array length|invalid string length/i.test(error.message);
  return outOfMemory ? new EngineError('error.out-of-memory', {}, text) : new EngineError('error.internal', { reason: firstLine(text) }, text);
}

const firstLine = (text: string): string => text.split('\n', 1)[0];
