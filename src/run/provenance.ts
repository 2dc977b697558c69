import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import * as path from 'node:path';
import { runChild } from './childProcess';
import type { Provenance } from './run';
import type { RunTools } from './tools';

/** Differences above this are only counted by their hash. */
const LARGEST_PATCH = 2 * 1024 * 1024;
/** New files above this are named but not read: data, not code. */
const LARGEST_FILE = 1024 * 1024;

/** What the code in a folder is: commit, and what differs from it. Outside a repository, or without git, nothing is known. */
export async function provenanceOf(folder: string, tools: RunTools = {}, signal?: AbortSignal): Promise<{ readonly provenance: Provenance; readonly patch?: Uint8Array } | undefined> {
  const git = async (...args: readonly string[]): Promise<string | undefined> => {
    const { exit, stdout } = await runChild(tools.git ?? 'git', ['-C', folder, '-c', 'core.quotepath=off', ...args], signal === undefined ? {} : { signal });
    return exit === 0 ? stdout : undefined;
  };
  try {
    const commit = (await git('rev-parse', 'HEAD'))?.trim();
    if (commit === undefined) {
      return undefined;
    }
    const branch = (await git('rev-parse', '--abbrev-ref', 'HEAD'))?.trim();
    const base = { commit, ...(branch === undefined || branch === 'HEAD' ? {} : { branch }) };
    // Of this folder only: a large repository may hold other things that changed.
    const patch = await git('diff', '--no-ext-diff', '--no-color', '--binary', '--relative', 'HEAD', '--', '.') ?? '';
    const changed = (await git('diff', '--name-only', '-z', '--relative', 'HEAD', '--', '.') ?? '').split('\0').filter((name) => name !== '');
    const fresh = (await git('ls-files', '--others', '--exclude-standard', '-z', '--', '.') ?? '').split('\0').filter((name) => name !== '').sort();
    if (patch === '' && fresh.length === 0) {
      return { provenance: base };
    }
    const hash = createHash('sha256').update(patch);
    let parts = patch;
    for (const name of fresh) {
      const content = await smallFile(path.join(folder, name));
      hash.update(`\0${name}\0`).update(content ?? '');
      parts += content === undefined ? `# new, not kept: ${name}\n` : newFilePatch(name, content);
    }
    const bytes = Buffer.from(parts);
    const kept = bytes.length <= LARGEST_PATCH;
    return { provenance: { ...base, diffHash: hash.digest('hex'), changedFiles: [...changed, ...fresh].slice(0, 1000), patchKept: kept }, ...(kept ? { patch: bytes } : {}) };
  } catch (error) {
    if (signal?.aborted === true) {
      throw error;
    }
    return undefined;
  }
}

async function smallFile(file: string): Promise<Buffer | undefined> {
  try {
    const { size } = await stat(file);
    return size <= LARGEST_FILE ? await readFile(file) : undefined;
  } catch {
    return undefined;
  }
}

/** A new file as `git apply` takes it; what is not text is only named. */
function newFilePatch(name: string, content: Buffer): string {
  const text = content.toString();
  if (content.includes(0) || Buffer.from(text).compare(content) !== 0) {
    return `# new, not text: ${name}\n`;
  }
  const ends = text === '' || text.endsWith('\n');
  const lines = text === '' ? [] : (ends ? text.slice(0, -1) : text).split('\n');
  const head = `diff --git a/${name} b/${name}\nnew file mode 100644\n`;
  return lines.length === 0 ? head : `${head}--- /dev/null\n+++ b/${name}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}${ends ? '' : '\\ No newline at end of file\n'}`;
}
