import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { gzipSync } from 'node:zlib';
import { packTar, type TarSource } from 'modern-tar/fs';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { fetchFiles, type FetchResult } from './fetch';
import { absoluteThere, hostFacts } from './hostFacts';
import { quoteWord, quoteWords } from './posix';
import type { SyncProgress } from './push';
import type { Shell, ShellResult } from './shell';
import type { RunTools } from './tools';

interface AnalysisOptions {
  readonly shell: Shell;
  readonly tools: RunTools;
  readonly signal?: AbortSignal;
}

/** Nodes on a host: the one asked for, PATH's, those of version managers, those that VS Code and its kin left there. */
function nodeSearch(given: string | undefined): string {
  return String.raw`for n in ${given === undefined ? '' : quoteWord(given)} "$(command -v node 2>/dev/null)" "$(command -v nodejs 2>/dev/null)" /usr/local/bin/node /opt/node*/bin/node "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node "$HOME"/.local/bin/node "$HOME"/.fnm/node-versions/*/installation/bin/node "$HOME"/.*-server*/bin/*/node "$HOME"/.*-server*/cli/servers/*/server/node "$HOME"/.*-server*/node; do
  [ -n "$n" ] && [ -x "$n" ] || continue
  v=$("$n" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || continue
  case $v in ''|*[!0-9]*) continue;; esac
  [ "$v" -ge 20 ] && { printf '%s\n' "$n"; exit 0; }
done
exit 3`;
}

/** Path of a Node 20 or newer on the host; undefined when there is none. */
export async function findNode({ shell, tools, signal }: AnalysisOptions): Promise<string | undefined> {
  const { exit, stdout } = await shell.run(nodeSearch(tools.nodeOnHost), signal === undefined ? {} : { signal });
  return exit === 0 ? stdout.replace(/\n$/, '') : undefined;
}

/** Prints the SHA-256 over names and contents of the bundle there, or nothing. */
const HASH = 'const fs=require("fs"),c=require("crypto").createHash("sha256");for(const f of fs.readdirSync(".").filter(f=>/^(cli\\.js|.*\\.wasm)$/.test(f)).sort())c.update(f+"\\0").update(fs.readFileSync(f));console.log(c.digest("hex"))';

/**
 * Our command line on the host: sent once for each version, into a folder named by its hash, and checked by that hash each time.
 * Returns its absolute path. The bundle runs on any processor: JavaScript and WebAssembly only.
 */
export async function installCli({ shell, tools, signal }: AnalysisOptions, node: string): Promise<string> {
  const cli = tools.cli ?? '';
  const folder = path.dirname(cli);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name === path.basename(cli) || name.endsWith('.wasm')).sort();
  if (!names.includes(path.basename(cli))) {
    throw runFailure('error.run-no-cli', { file: cli });
  }
  const sources: TarSource[] = [];
  const hash = createHash('sha256');
  for (const name of names.map((file) => (file === path.basename(cli) ? 'cli.js' : file)).sort()) {
    const content = await readFile(path.join(folder, name === 'cli.js' ? path.basename(cli) : name));
    hash.update(`${name}\0`).update(content);
    sources.push({ type: 'content', content, target: name });
  }
  const wanted = hash.digest('hex');
  const { home } = await hostFacts(shell, signal);
  const there = absoluteThere(home, `.fuselens/cli/${wanted.slice(0, 16)}`);
  const abort = signal === undefined ? {} : { signal };
  const check = `cd -- ${quoteWord(there)} 2>/dev/null && ${quoteWords([node, '-e', HASH])}`;
  if ((await shell.run(check, abort)).stdout.trim() === wanted) {
    return `${there}/cli.js`;
  }
  const parts: Buffer[] = [];
  for await (const chunk of packTar(sources)) {
    parts.push(Buffer.from(chunk as Uint8Array));
  }
  const sent = await shell.run(`umask 077; t=${quoteWord(`${there}.`)}$$; mkdir -p -- "$t" && (cd -- "$t" && tar -xzof -) && { rm -rf -- ${quoteWord(there)}; mv -- "$t" ${quoteWord(there)}; }`, { input: gzipSync(Buffer.concat(parts)), ...abort });
  if (sent.exit !== 0) {
    throw failed(shell, sent);
  }
  if ((await shell.run(check, abort)).stdout.trim() !== wanted) {
    throw runFailure('error.run-cli-damaged', { host: shell.host ?? '' });
  }
  return `${there}/cli.js`;
}

export interface HostAnalysisOptions extends AnalysisOptions {
  /** The profile, absolute path on the host. */
  readonly profile: string;
  /** Local folder for the result, to be opened like a profile. */
  readonly to: string;
  readonly onProgress?: (progress: SyncProgress) => void;
}

export type HostAnalysis =
  | { readonly kind: 'columns'; readonly fetched: FetchResult }
  /** No Node there: what analysis needs was fetched instead; `reason` says so in one sentence. */
  | { readonly kind: 'files'; readonly fetched: FetchResult; readonly reason: { readonly code: string; readonly args: Readonly<Record<string, string | number>> } };

/** Analyses a profile where it lies and brings the columns here; without Node there, brings the files that analysis needs. */
export async function analyseOnHost(options: HostAnalysisOptions): Promise<HostAnalysis> {
  const { shell, tools, profile, to, signal, onProgress } = options;
  const abort = signal === undefined ? {} : { signal };
  const progress = onProgress === undefined ? {} : { onProgress };
  const node = await findNode(options);
  if (node === undefined) {
    const fetched = await fetchFiles({ shell, tools, from: profile, to, what: 'analysis', ...abort, ...progress });
    return { kind: 'files', fetched, reason: { code: 'error.run-no-node', args: { host: shell.host ?? '' } } };
  }
  const cli = await installCli(options, node);
  const made = await shell.run('umask 077; mktemp -d "${TMPDIR:-/tmp}/fuselens-columns.XXXXXX"', abort);
  const folder = made.stdout.replace(/\n$/, '');
  if (made.exit !== 0 || folder === '') {
    throw failed(shell, made);
  }
  try {
    // A file above the heap's usual limit is common: columns are outside of it, strings are not.
    const result = await shell.exec([node, '--max-old-space-size=8192', cli, 'columns', profile, '--out', folder, '--no-cache'], abort);
    if (result.exit !== 0) {
      const known = explainRunFailure(result.stderr, result.exit, { transport: false, ...(shell.host === undefined ? {} : { host: shell.host }) });
      const said = result.stderr.split('\n').find((line) => line.startsWith('fuselens: '))?.slice('fuselens: '.length);
      throw said === undefined ? new RunFailure(known) : runFailure('error.run-analysis', { host: shell.host ?? '', text: said }, result.stderr);
    }
    return { kind: 'columns', fetched: await fetchFiles({ shell, tools, from: folder, to, what: 'columns', ...abort, ...progress }) };
  } finally {
    await shell.run(`rm -rf -- ${quoteWord(folder)}`).catch(() => undefined);
  }
}

function failed(shell: Shell, { stderr, exit }: ShellResult): RunFailure {
  return new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(shell.host === undefined ? {} : { host: shell.host }) }));
}
