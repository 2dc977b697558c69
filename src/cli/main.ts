import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { isComputing, serveCommandThread, startCommandThread } from './commandThread';
import type { CliIo } from './io';

/**
 * What a thread of its own will run is loaded there alone: this one must be up at once. So everything but this file is imported where
 * it is needed.
 */
const load = async () => import('./runCommand');

/** What a command that is told to stop may still take to remove what it was writing. */
const GRACE_MS = 300;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/** As shells count a program that a signal ended. */
const exitOf = (signal: Signal): number => 128 + constants.signals[signal];

/** The process round `runCommand`: streams, signals, exit code. */
function main(args: readonly string[]): void {
  // `fuselens … | head` closes the pipe early: that is no failure worth words.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      process.exit(0);
    }
    void say('error.write', { file: 'stdout', reason: error.code ?? error.message }, []).then(() => process.exit(2));
  });
  const io: Omit<CliIo, 'signal'> = {
    out: (text) => new Promise((resolve) => { process.stdout.write(text, () => resolve()); }),
    err: (text) => { process.stderr.write(text); },
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    errIsTerminal: process.stderr.isTTY,
    environment: process.env,
  };
  const ended = isComputing(args[0]) ? compute(args, io) : converse(args, io);
  ended.then(
    (code) => { process.exitCode = code; },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
      process.exitCode = 2;
    },
  );
}

async function say(code: string, sentenceArgs: Readonly<Record<string, string>>, args: readonly string[]): Promise<void> {
  const [{ translateFor }, { text }] = await Promise.all([load(), import('../protocol/text')]);
  process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}fuselens: ${text(code, sentenceArgs, translateFor(args))}\n`);
}

/** Any signal ends it, at once. */
function compute(args: readonly string[], io: Omit<CliIo, 'signal'>): Promise<number> {
  const thread = startCommandThread(__filename, args, io);
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      process.once(signal, () => process.exit(exitOf(signal)));
      void Promise.all([thread.stop(GRACE_MS), say('cli.stopped', {}, args)]).then(() => process.exit(exitOf(signal)));
    });
  }
  return thread.ended;
}

/** Commands that follow runs: Ctrl+C stops the run, which takes time; a terminal that closes and a polite kill let go of it. */
async function converse(args: readonly string[], io: Omit<CliIo, 'signal'>): Promise<number> {
  const stop = new AbortController();
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      stop.abort(signal);
      // A second one ends a wait that does not listen.
      process.once(signal, () => process.exit(exitOf(signal)));
    });
  }
  return (await load()).runCommand(args, { ...io, signal: stop.signal });
}

if (isMainThread) {
  main(process.argv.slice(2));
} else {
  void serveCommandThread();
}
