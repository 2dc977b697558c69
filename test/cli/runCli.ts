import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../../src/cli/runCommand';

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the command in this process, without a cache and without a terminal. */
export async function cli(args: readonly string[], options: { readonly columns?: number; readonly signal?: AbortSignal } = {}): Promise<CliResult> {
  const out: string[] = [];
  const err: string[] = [];
  const takesCache = args[0] === 'analyze' || args[0] === 'export' || args[0] === 'compare';
  const code = await runCommand(takesCache ? [...args, '--no-cache'] : args, {
    out: (text) => { out.push(text); return Promise.resolve(); },
    err: (text) => { err.push(text); },
    columns: options.columns, errIsTerminal: false, environment: {}, signal: options.signal ?? new AbortController().signal,
  });
  return { code, out: out.join(''), err: withoutProgress(err.join('')) };
}

/** Progress comes after some seconds, so on a busy machine only; what else is said must not depend on that. */
export function withoutProgress(text: string): string {
  return text.replace(/^.*MB\/s[)）]\n/gm, '');
}

/** A folder that goes away with the suite. */
export function temporaryFolder(): { readonly path: (...parts: readonly string[]) => string } {
  let folder: string | undefined;
  after(() => {
    if (folder !== undefined) {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  return {
    path: (...parts) => {
      folder ??= mkdtempSync(path.join(tmpdir(), 'fuselens-cli-'));
      return path.join(folder, ...parts);
    },
  };
}
