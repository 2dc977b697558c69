import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const packages = path.resolve(import.meta.dirname, '../../node_modules');
const BESIDE = ['node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm', 'web-tree-sitter/web-tree-sitter.wasm', 'tree-sitter-python/tree-sitter-python.wasm'];

/** Bundles what runs in a worker, or starts one, as the product's build does (worker threads of older Nodes cannot load TypeScript). */
export async function buildWorker(source: string): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-worker-'));
  const outfile = path.join(folder, 'worker.js');
  await build({
    entryPoints: [source], bundle: true, platform: 'node', format: 'cjs', target: 'node20', outfile, logLevel: 'error', external: ['node:sqlite'],
    alias: { 'web-tree-sitter': path.join(packages, 'web-tree-sitter/web-tree-sitter.cjs'), 'jsonc-parser': path.join(packages, 'jsonc-parser/lib/esm/main.js') },
  });
  BESIDE.forEach((file) => copyFileSync(path.join(packages, file), path.join(folder, path.basename(file))));
  return outfile;
}
