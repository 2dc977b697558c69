import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Cancelled } from '../engine/profile/problems';
import { runFailure } from './failure';
import type { ShellOptions, ShellResult } from './shell';

interface ChildOptions extends ShellOptions {
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** In a process group of its own, which an abort ends as a whole. */
  readonly ownGroup?: boolean;
  /** Bytes sent before `input`. */
  readonly preamble?: Uint8Array;
  /** For programs that do as they please: killed when an abort has not ended them after so long, and not waited for once they have ended, whoever still holds their pipes. */
  readonly patienceMs?: number;
}

/** Output kept in memory; what is larger has to be streamed. */
const MOST_TEXT = 64 * 1024 * 1024;
/** Of what a program complains about, the last words are kept. */
const MOST_WORDS = 1024 * 1024;

/** Runs one program to its end without a shell. Rejects with `RunFailure` when it cannot be started, with `Cancelled` after an abort. */
export function runChild(file: string, args: readonly string[], options: ChildOptions = {}): Promise<ShellResult> {
  const { signal, input, onStdout, onStderr, preamble } = options;
  if (signal?.aborted === true) {
    return Promise.reject(new Cancelled());
  }
  return new Promise((resolve, reject) => {
    const ownGroup = options.ownGroup === true && process.platform !== 'win32';
    const hasInput = input !== undefined || preamble !== undefined;
    const child = spawn(file, args, {
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'], windowsHide: true, detached: ownGroup,
      ...(options.environment === undefined ? {} : { env: options.environment }), ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let kept = 0;
    let failed: Error | undefined;
    let taking = Promise.resolve();
    let words = 0;
    let patience: ReturnType<typeof setTimeout> | undefined;
    const end = (signalName: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void => {
      if (ownGroup && child.pid !== undefined) {
        try {
          process.kill(-child.pid, signalName);
          return;
        } catch {
          // The group is gone already.
        }
      }
      child.kill(signalName);
    };
    const abort = (): void => {
      failed ??= new Cancelled();
      end();
      if (options.patienceMs !== undefined) {
        patience = setTimeout(() => end('SIGKILL'), options.patienceMs);
      }
    };
    signal?.addEventListener('abort', abort, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => {
      if (onStdout === undefined) {
        kept += chunk.length;
        if (kept <= MOST_TEXT) {
          stdout.push(chunk);
        }
        return;
      }
      child.stdout?.pause();
      taking = taking.then(() => onStdout(chunk)).then(() => { child.stdout?.resume(); }, (error: unknown) => {
        failed ??= error instanceof Error ? error : new Error(String(error));
        child.stdout?.resume();
        end();
      });
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr.push(chunk);
      words += chunk.length;
      while (words > MOST_WORDS && stderr.length > 1) {
        words -= stderr.shift()?.length ?? 0;
      }
      onStderr?.(chunk.toString());
    });
    if (child.stdin !== null) {
      // A program that ends early closes the pipe: its exit code tells more than EPIPE.
      pipeline(Readable.from(inputOf(preamble, input)), child.stdin).catch(() => undefined);
    }
    child.once('error', (error: NodeJS.ErrnoException) => {
      signal?.removeEventListener('abort', abort);
      const code = error.code === 'ENOENT' ? 'error.run-no-program' : error.code === 'E2BIG' ? 'error.run-too-long' : 'error.run-no-start';
      reject(runFailure(code, { file, text: error.message }, error.message));
    });
    child.once('exit', () => {
      clearTimeout(patience);
      if (options.patienceMs !== undefined) {
        patience = setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
        }, options.patienceMs);
      }
      // A shared connection of ssh holds the pipes of a session that nobody waits for any more, until what runs there ends.
      if (failed instanceof Cancelled) {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }
    });
    child.once('close', (code, signalName) => {
      clearTimeout(patience);
      signal?.removeEventListener('abort', abort);
      taking.then(() => {
        if (failed !== undefined) {
          reject(failed);
          return;
        }
        const exit = code ?? 128 + (signalName === null ? 0 : constants.signals[signalName]);
        resolve({ exit, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() });
      }, reject);
    });
  });
}

async function* inputOf(preamble: Uint8Array | undefined, input: ShellOptions['input']): AsyncGenerator<Uint8Array> {
  if (preamble !== undefined) {
    yield preamble;
  }
  if (typeof input === 'string') {
    yield Buffer.from(input);
  } else if (input instanceof Uint8Array) {
    yield input;
  } else if (input !== undefined) {
    yield* input;
  }
}
