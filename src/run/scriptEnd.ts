import { randomBytes } from 'node:crypto';
import type { ShellResult } from './shell';

/**
 * How a script ended, told by a line of its own. ssh's exit code cannot tell: 255 is a script's own 255, a killed remote shell and
 * every failure of the connection.
 */
export interface EndMark {
  readonly wrap: (script: string) => string;
  /** The result without the line; undefined when the script did not reach its end. */
  readonly read: (result: ShellResult) => ShellResult | undefined;
}

export function endMark(): EndMark {
  const word = `fuselens-end-${randomBytes(8).toString('hex')}`;
  return {
    wrap: (script) => `(\n${script}\n)\nprintf '\\n${word} %s\\n' "$?" >&2\n`,
    read: ({ stdout, stderr }) => {
      const found = new RegExp(`\\r?\\n${word} (\\d+)\\r?\\n`).exec(stderr);
      return found === null ? undefined : { exit: Number(found[1]), stdout, stderr: stderr.slice(0, found.index) + stderr.slice(found.index + found[0].length) };
    },
  };
}
