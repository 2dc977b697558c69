import type { Stats } from 'node:fs';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { createGzip } from 'node:zlib';
import { packTar } from 'modern-tar/fs';
import { Cancelled } from '../engine/profile/problems';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { absoluteThere, hostFacts } from './hostFacts';
import { listHostFiles } from './hostFiles';
import { IgnoreRules } from './ignoreRules';
import { quoteWord } from './posix';
import type { NotSent, PushOptions, PushPlan } from './push';
import { canRsync, runRsync } from './rsync';

/** Larger files are data or checkpoints, and are named instead of sent. */
const LARGEST_FILE = 50 * 1024 * 1024;

interface LocalFile {
  readonly path: string;
  readonly bytes: number;
  readonly modified: number;
}

/** What a push would send: files that are new or differ in size or time. Nothing is changed anywhere. */
export async function planPush({ shell, from, to, ignore = [], signal }: PushOptions): Promise<PushPlan> {
  const folder = absoluteThere((await hostFacts(shell, signal)).home, to);
  const { files, ignored, overLimit, notFiles } = await localFiles(from, ignore, signal);
  const there = new Map((await listHostFiles(shell, folder, signal) ?? []).map((file) => [file.path, file] as const));
  const sent = files.flatMap(({ path: name, bytes, modified }): PushPlan['files'] => {
    const other = there.get(name);
    if (other === undefined) {
      return [{ path: name, bytes, why: 'new' as const }];
    }
    const same = other.bytes === bytes && Math.abs(other.modified - modified) <= 1;
    return same ? [] : [{ path: name, bytes, why: 'changed' as const, ...(other.modified - modified > 1 ? { newerThere: true } : {}) }];
  });
  return { from, to: folder, files: sent, unchanged: files.length - sent.length, bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0), ignored, overLimit, notFiles };
}

/**
 * Sends what `plan` says (or what a new plan would): by rsync where both sides have it, else as a compressed archive over ssh.
 * Never deletes on the host. Rejects with `RunFailure`.
 */
export async function push(options: PushOptions, plan?: PushPlan): Promise<PushPlan> {
  const { shell, tools = {}, from, signal, onProgress } = options;
  const todo = plan ?? await planPush(options);
  if (todo.files.length === 0) {
    return todo;
  }
  const report = (bytes: number, file: string): void => onProgress?.({ bytes: Math.min(bytes, todo.bytes), totalBytes: todo.bytes, file });
  const made = await shell.run(`mkdir -p -- ${quoteWord(todo.to)}`, signal === undefined ? {} : { signal });
  if (made.exit !== 0) {
    throw failed(options, made.stderr, made.exit);
  }
  if (await canRsync(shell, tools)) {
    await runRsync(shell, { tools, direction: 'push', local: from, remote: todo.to, files: todo.files.map((file) => file.path), onBytes: (bytes) => report(bytes, ''), ...(signal === undefined ? {} : { signal }) });
  } else {
    let bytes = 0;
    const sizes = new Map(todo.files.map((file) => [file.path, file.bytes]));
    // An archive would hold a link itself.
    const sources = await Promise.all(todo.files.map((file) => realpath(path.join(from, file.path))));
    const archive = packTar(todo.files.map((file, i) => ({ type: 'file' as const, source: sources[i], target: file.path })), {
      map: (header) => {
        bytes += sizes.get(header.name) ?? 0;
        report(bytes, header.name);
        // The host's user owns what it unpacks.
        return { ...header, uid: 0, gid: 0, uname: '', gname: '' };
      },
    });
    const { exit, stderr } = await shell.run(`cd -- ${quoteWord(todo.to)} && tar -xzpof -`, { input: archive.pipe(createGzip({ level: 6 })), ...(signal === undefined ? {} : { signal }) });
    if (exit !== 0) {
      throw failed(options, stderr, exit);
    }
  }
  report(todo.bytes, '');
  return todo;
}

function failed({ shell }: PushOptions, stderr: string, exit: number): RunFailure {
  return new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(shell.host === undefined ? {} : { host: shell.host }) }));
}

/** Regular files and, as what they lead to, links to such files in the folder; links to folders are not followed. Sorted by path. */
async function localFiles(from: string, ignore: readonly string[], signal: AbortSignal | undefined): Promise<{ readonly files: readonly LocalFile[] } & Pick<PushPlan, 'ignored' | 'overLimit' | 'notFiles'>> {
  const rules = new IgnoreRules(ignore);
  const files: LocalFile[] = [];
  const ignored: string[] = [];
  const overLimit: { path: string; bytes: number }[] = [];
  const notFiles: NotSent[] = [];
  const inside = `${await realpath(from).catch(() => from)}${path.sep}`;
  const visit = async (folder: string): Promise<void> => {
    if (signal?.aborted === true) {
      throw new Cancelled();
    }
    const entries = (await readdir(path.join(from, folder), { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const name of ['.gitignore', ...(folder === '' ? ['.fuselensignore'] : [])]) {
      if (entries.some((entry) => entry.name === name && entry.isFile())) {
        rules.add(folder, await readFile(path.join(from, folder, name), 'utf8'));
      }
    }
    for (const entry of entries) {
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (rules.ignores(name, entry.isDirectory())) {
        ignored.push(entry.isDirectory() ? `${name}/` : name);
      } else if (entry.isDirectory()) {
        await visit(name).catch((error: unknown) => {
          if (error instanceof Cancelled) {
            throw error;
          }
          // A folder that cannot be read is named, like one that a rule leaves out.
          ignored.push(`${name}/`);
        });
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        const file = await fileAt(path.join(from, name), inside);
        if (typeof file === 'string') {
          notFiles.push({ path: name, why: file });
        } else if (file !== undefined && file.size > LARGEST_FILE) {
          overLimit.push({ path: name, bytes: file.size });
        } else if (file !== undefined) {
          files.push({ path: name, bytes: file.size, modified: Math.floor(file.mtimeMs / 1000) });
        }
      } else {
        notFiles.push({ path: name, why: 'special' });
      }
    }
  };
  await visit('').catch((error: unknown) => {
    throw error instanceof Cancelled ? error : runFailure('error.run-push-folder', { folder: from }, String(error));
  });
  return { files, ignored, overLimit, notFiles };
}

/** A file or what a link leads to, or why it is not sent; undefined: gone meanwhile. What lies outside was not asked to be sent. */
async function fileAt(at: string, inside: string): Promise<Stats | NotSent['why'] | undefined> {
  const found = await stat(at).catch(() => undefined);
  const real = await realpath(at).catch(() => undefined);
  if (found === undefined || real === undefined) {
    return (await lstat(at).catch(() => undefined))?.isSymbolicLink() === true ? 'link-to-nothing' : undefined;
  }
  if (!real.startsWith(inside)) {
    return 'link-outside';
  }
  return found.isFile() ? found : found.isDirectory() ? 'link-to-folder' : 'special';
}
