import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { Cancelled } from '../../engine/profile/problems';
import { runChild } from '../childProcess';
import { RunFailure } from '../failure';
import { quoteWord, quoteWords, writeFileLines } from '../posix';
import type { Shell, ShellResult } from '../shell';
import { endMarked } from './leftovers';

/** A script with the files beside it, in a folder of their own that goes away afterwards; `args` name files of that folder. */
export interface PythonJob {
  readonly files: ReadonlyMap<string, string>;
  readonly script: string;
  readonly args: readonly string[];
}

export interface PythonOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
}

/** `timeout`: ended by us. `no-python`: there is no such interpreter. */
export type PythonOutcome = (ShellResult & { readonly kind: 'ended' }) | { readonly kind: 'timeout' | 'no-python' };

/** Runs Python somewhere. Rejects with `Cancelled` after an abort, with `RunFailure` when the place cannot be reached. */
export interface PythonRunner {
  readonly host: string | undefined;
  readonly python: string;
  readonly run: (job: PythonJob, options: PythonOptions) => Promise<PythonOutcome>;
}

/** No bytecode: not beside the user's files, nor anywhere. Warnings of the user's libraries are not ours to show. */
const FLAGS = ['-B', '-W', 'ignore'];

/** Whatever the user's code starts carries it in its environment, so that nothing of it stays behind. */
const MARK = 'FUSELENS_VERIFY';
/** Asked to end, then killed. */
const PATIENCE_MS = 1000;

/** What a shell answers when there is no such program, or it may not be run. */
const NO_PROGRAM: ReadonlySet<number> = new Set([126, 127]);

/** This machine, with an interpreter by name or path. */
export function localPython(python: string, environment: NodeJS.ProcessEnv = process.env): PythonRunner {
  return {
    host: undefined, python,
    run: async ({ files, script, args }, options) => {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-verify-'));
      const mark = randomUUID();
      try {
        for (const [name, content] of files) {
          await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
          await writeFile(path.join(folder, name), content);
        }
        return await limited(options, (signal) => runChild(python, [...FLAGS, path.join(folder, script), ...args.map((name) => path.join(folder, name))], {
          signal, cwd: folder, ownGroup: true, patienceMs: PATIENCE_MS, environment: { ...environment, [MARK]: mark, PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8' },
        })).catch((error: unknown) => {
          if (error instanceof RunFailure && ['error.run-no-program', 'error.run-no-start'].includes(error.explanation.code)) {
            return { kind: 'no-python' as const };
          }
          throw error;
        });
      } finally {
        await endMarked(`${MARK}=${mark}`);
        // A folder that was made unreadable or is being filled stays an empty promise only for its own files.
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
      }
    },
  };
}

/** A host, through its shell; `setup` are lines that make the interpreter usable (`source set_env.sh`). */
export function hostPython(shell: Shell, python: string, setup: readonly string[] = []): PythonRunner {
  return {
    host: shell.host, python,
    run: async ({ files, script, args }, options) => {
      const folders = new Set([...files.keys()].map((name) => path.posix.dirname(name)).filter((name) => name !== '.'));
      const lines = [
        `mark=${MARK}=${randomUUID()}`, 'child=', 'folder=$(mktemp -d) || exit 95',
        // Whatever was started ends with it, in whatever session it hides.
        'sweep() { [ -z "$child" ] || kill -KILL "$child" 2>/dev/null; for one in $(grep -l "$mark" /proc/[0-9]*/environ 2>/dev/null); do one=${one#/proc/}; kill -KILL "${one%/environ}" 2>/dev/null; done; }',
        'trap \'sweep; rm -rf "$folder"\' EXIT', 'cd "$folder" || exit 95',
        ...[...folders].map((name) => `mkdir -p ${quoteWord(name)}`), ...[...files].map(([name, content]) => writeFileLines(name, content)),
        ...setup, 'export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8',
        // A host keeps running what we stop waiting for, so the limit holds there as well.
        `limit=; command -v timeout >/dev/null 2>&1 && limit='timeout ${Math.ceil(options.timeoutMs / 1000)}'`,
        // In the background, since a shell heeds a signal only between commands, and waits.
        'exec 3<&0', `env "$mark" $limit ${quoteWords([python, ...FLAGS, script, ...args])} </dev/null & child=$!`, 'trap "exit 143" HUP INT TERM',
        // A lost or closed connection sends no signal there, but it ends the input; what the shell then says goes nowhere and must not end it.
        'trap : PIPE', '{ trap - EXIT HUP INT TERM; cat <&3; sweep; } >/dev/null 2>&1 & watcher=$!', 'wait "$child"', 'ended=$?', 'child=', 'kill "$watcher" 2>/dev/null', 'exit "$ended"',
      ];
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => { end = resolve; });
      const outcome = await limited(options, (signal) => shell.run(`${lines.join('\n')}\n`, { signal, input: openUntil(ended) })).finally(() => end());
      return outcome.kind !== 'ended' ? outcome : outcome.exit === 124 ? { kind: 'timeout' } : NO_PROGRAM.has(outcome.exit) ? { kind: 'no-python' } : outcome;
    },
  };
}

/** An input without content that stays open until then. */
async function* openUntil(end: Promise<void>): AsyncGenerator<Uint8Array> {
  await end;
  yield new Uint8Array();
}

/** Ends a run at its limit; whether the user or the limit ended it is told apart. */
async function limited({ signal, timeoutMs }: PythonOptions, run: (signal: AbortSignal) => Promise<ShellResult>): Promise<PythonOutcome> {
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    return { kind: 'ended', ...(await run(signal === undefined ? limit : AbortSignal.any([signal, limit]))) };
  } catch (error) {
    if (error instanceof Cancelled && limit.aborted && signal?.aborted !== true) {
      return { kind: 'timeout' };
    }
    throw error;
  }
}
