/**
 * A module bundled by esbuild, as it is shipped. Run file by file through tsx, every imported constant is a getter call,
 * which slows byte loops four times.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildSync } from 'esbuild';

export function bundle(entry: string, outfile: string): void {
  buildSync({ entryPoints: [path.join(__dirname, entry)], bundle: true, platform: 'node', format: 'cjs', target: 'node20', outfile, external: ['node-sqlite3-wasm'], logLevel: 'error' });
}

/** Bundles a module and loads it into this process. */
export function loadBundled(entry: string): unknown {
  const folder = mkdtempSync(path.join(tmpdir(), 'fuselens-bundle-'));
  const outfile = path.join(folder, 'subject.cjs');
  try {
    bundle(entry, outfile);
    return createRequire(__filename)(outfile);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
