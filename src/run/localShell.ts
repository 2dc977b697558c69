import { runChild } from './childProcess';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { LARGEST_ARGUMENT, quoteWords } from './posix';
import { endMark } from './scriptEnd';
import type { Shell, ShellOptions, ShellResult } from './shell';

/** This machine's own `sh`, with the same promises as a host's. */
export class LocalShell implements Shell {
  readonly host = undefined;

  async run(script: string, options: ShellOptions = {}): Promise<ShellResult> {
    const mark = endMark();
    const bytes = Buffer.from(mark.wrap(script));
    const small = bytes.length < LARGEST_ARGUMENT;
    const args = small ? ['-c', bytes.toString()] : ['-c', `eval "$(head -c ${bytes.length})"`];
    const result = await runChild('sh', args, { ...options, ownGroup: true, ...(small ? {} : { preamble: bytes }) }).catch((error: unknown) => {
      throw error instanceof RunFailure && error.explanation.code === 'error.run-no-program' ? runFailure('error.run-no-shell-here', {}, error.explanation.raw) : error;
    });
    const ended = mark.read(result);
    if (ended === undefined) {
      throw new RunFailure(explainRunFailure(result.stderr, result.exit, { transport: false }));
    }
    return ended;
  }

  exec(argv: readonly string[], options: ShellOptions = {}): Promise<ShellResult> {
    return this.run(`exec ${quoteWords(argv)}`, options);
  }

  async dispose(): Promise<void> {
    // Nothing is kept open.
  }
}
