import { constants } from 'node:os';
import { writeRefusal } from '../node/writeRefusal';
import { runChild } from './childProcess';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { hostFacts } from './hostFacts';
import { RemoteShell } from './remoteShell';
import type { Shell } from './shell';
import type { RunTools } from './tools';

interface RsyncOptions {
  readonly tools: RunTools;
  readonly direction: 'push' | 'fetch';
  readonly local: string;
  /** Absolute. */
  readonly remote: string;
  /** Relative, with `/`. */
  readonly files: readonly string[];
  readonly signal?: AbortSignal;
  /** Bytes of the whole transfer that are done. */
  readonly onBytes?: (bytes: number) => void;
}

/** Whether rsync is there on both sides. Its own word for "no" is an exit code after the connection, so it is asked before. */
export async function canRsync(shell: Shell, tools: RunTools): Promise<boolean> {
  if (!(shell instanceof RemoteShell) || !(await hostFacts(shell)).programs.has('rsync')) {
    return false;
  }
  return runChild(tools.rsync ?? 'rsync', ['--version']).then(({ exit }) => exit === 0, () => false);
}

/**
 * Copies the named files, compressed; what was cut off is gone on with next time (`.fuselens-part` beside the file). Never deletes.
 * Returns the bytes over the wire.
 */
export async function runRsync(shell: Shell, { tools, direction, local, remote, files, signal, onBytes }: RsyncOptions): Promise<number> {
  if (!(shell instanceof RemoteShell)) {
    throw runFailure('error.run-no-program', { file: 'rsync' });
  }
  const rsh = [tools.ssh ?? 'ssh', ...await shell.connectionArguments()].map(rshWord).join(' ');
  const there = `${shell.host}:${remote.replace(/\/$/, '')}/`;
  const here = `${local.replace(/\/$/, '')}/`;
  const args = [
    // A link to a file here goes as that file; a link on a host is never made here.
    '-t', '-p', ...(direction === 'push' ? ['-L'] : []), '-z', '-s', '--files-from=-', '--from0', '--partial-dir=.fuselens-part', '--no-inc-recursive', '--info=progress2,stats1', '--outbuf=L', '-e', rsh, '--',
    ...(direction === 'push' ? [here, there] : [there, here]),
  ];
  let text = '';
  const { exit, stderr } = await runChild(tools.rsync ?? 'rsync', args, {
    input: files.map((file) => `${file}\0`).join(''), environment: { ...await shell.environment(), LC_ALL: 'C' },
    ...(signal === undefined ? {} : { signal }),
    onStdout: (chunk) => {
      text = `${text}${Buffer.from(chunk).toString()}`.slice(-4000);
      const done = [...text.matchAll(/([\d,]+)\s+\d+%/g)].at(-1)?.[1];
      if (done !== undefined) {
        onBytes?.(Number(done.replaceAll(',', '')));
      }
    },
  });
  if (exit !== 0) {
    if (/is your shell clean\?/.test(stderr)) {
      throw runFailure('error.run-rsync-shell', { host: shell.host }, stderr);
    }
    const refusal = direction === 'fetch' ? refusalHere(stderr) : undefined;
    if (refusal !== undefined) {
      throw refusal;
    }
    const transport = exit === 255 || exit === 12 || exit === 30;
    throw new RunFailure(explainRunFailure(stderr, exit, { host: shell.host, transport }));
  }
  const moved = /sent ([\d,]+) bytes\s+received ([\d,]+) bytes/.exec(text);
  return moved === null ? 0 : Number(moved[direction === 'push' ? 1 : 2].replaceAll(',', ''));
}

/** What the file system here refused; rsync names the temporary file beside the wanted one (`.NAME.Xa1b2c`). */
function refusalHere(stderr: string): RunFailure | undefined {
  const found = /\[(?:receiver|generator)\] \w+(?:\(\))? (?:of )?"(.+?)"[^\n]*failed: [^\n]*\((\d+)\)/.exec(stderr);
  const code = found === null ? undefined : Object.entries(constants.errno).find(([, number]) => number === Number(found[2]))?.[0];
  if (found === null || code === undefined) {
    return undefined;
  }
  const file = found[1].replace(/([^/]*)$/, (name) => name.replace(/^\.(.+)\.[A-Za-z0-9]{6}$/, '$1'));
  const refusal = writeRefusal(file, Object.assign(new Error(code), { code }));
  return refusal === undefined ? undefined : runFailure(refusal.code, refusal.args, stderr);
}

/** rsync splits `-e` at blanks and knows both quotes but no backslash. */
function rshWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : word.includes('"') ? `'${word}'` : `"${word}"`;
}
