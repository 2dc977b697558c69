import { constants } from 'node:os';
import { text } from '../protocol/text';
import { runCommand } from './runCommand';
import type { CliIo } from './io';

/** The process round `runCommand`: streams, signals, exit code. */
function main(): void {
  const stop = new AbortController();
  process.once('SIGINT', () => {
    stop.abort('SIGINT');
    // A second signal ends a read that does not listen.
    process.once('SIGINT', () => process.exit(128 + constants.signals.SIGINT));
  });
  // A terminal that closes and a polite kill let go of runs; only Ctrl+C ends them.
  process.once('SIGTERM', () => stop.abort('SIGTERM'));
  process.once('SIGHUP', () => stop.abort('SIGHUP'));
  // `fuselens … | head` closes the pipe early: that is no failure worth words.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      process.stderr.write(`fuselens: ${text('error.write', { file: 'stdout', reason: error.code ?? error.message })}\n`);
    }
    process.exit(error.code === 'EPIPE' ? 0 : 2);
  });
  const io: CliIo = {
    out: (text) => new Promise((resolve) => { process.stdout.write(text, () => resolve()); }),
    err: (text) => { process.stderr.write(text); },
    columns: process.stdout.isTTY ? process.stdout.columns : undefined,
    errIsTerminal: process.stderr.isTTY,
    environment: process.env,
    signal: stop.signal,
  };
  runCommand(process.argv.slice(2), io).then(
    (code) => { process.exitCode = code; },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack ?? error.message : String(error)}\n`);
      process.exitCode = 2;
    },
  );
}

main();
