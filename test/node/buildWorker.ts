import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

/** Bundles a worker's TypeScript as the product's build does (worker threads of older Nodes cannot load TypeScript). */
export async function buildWorker(source: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-worker-'));
  const outfile = path.join(folder, 'worker.js');
  await build({ entryPoints: [source], bundle: true, platform: 'node', format: 'cjs', target: 'node20', outfile, logLevel: 'error', external: ['node:sqlite'] });
  copyFileSync(require.resolve('node-sqlite3-wasm').replace(/\.js$/, '.wasm'), path.join(folder, 'node-sqlite3-wasm.wasm'));
  return outfile;
}
