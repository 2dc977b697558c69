import { spawn } from 'node:child_process';
import * as path from 'node:path';
import * as vscode from 'vscode';

export interface CliOutcome {
  readonly code: number | null;
  readonly stdout: string;
  /** The last line of what the command said on its error stream: its one sentence when it failed. */
  readonly lastWords: string;
}

/**
 * Runs our own command-line tool (`dist/cli.js`) in a process of its own, for work that writes files: what it does here and
 * in a terminal is then the same. Killed on abort. `environment` is added to ours.
 */
export function runCli(extensionPath: string, args: readonly string[], signal?: AbortSignal, environment: NodeJS.ProcessEnv = {}): Promise<CliOutcome> {
  return new Promise((resolve, reject) => {
    const language = vscode.env.language.toLowerCase().startsWith('zh') ? ['--lang', 'zh-cn'] : [];
    const child = spawn(process.execPath, [path.join(extensionPath, 'dist', 'cli.js'), ...args, ...language], {
      env: { ...process.env, ...environment, ELECTRON_RUN_AS_NODE: '1' }, stdio: ['ignore', 'pipe', 'pipe'], signal,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout = (stdout + chunk.toString()).slice(-100_000)));
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-10_000)));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, lastWords: stderr.trim().split(/[\r\n]+/).at(-1) ?? '' }));
  });
}
