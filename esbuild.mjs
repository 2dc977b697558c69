/**
 * Builds everything that runs into `dist/`: `node esbuild.mjs [--production] [--watch]`.
 * `--production` minifies and leaves source maps out; `--watch` rebuilds on change (F5 uses it).
 */
import { context } from 'esbuild';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { bundledPackages, mainBundleProblems } from './scripts/bundleRules.mjs';

const root = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
process.chdir(root);
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

const shared = {
  bundle: true,
  metafile: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': production ? '"production"' : '"development"' },
};
const node = {
  ...shared,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Its ESM entry needs import.meta.url, which a CommonJS bundle does not have.
  // The main file of jsonc-parser is UMD, whose require() no bundler can follow.
  alias: { 'web-tree-sitter': './node_modules/web-tree-sitter/web-tree-sitter.cjs', 'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js' },
  // Loaded only where the host has it.
  external: ['vscode', 'node:sqlite'],
};
const browser = { ...shared, platform: 'browser', format: 'iife', target: 'chrome128', loader: { '.ttf': 'dataurl', '.svg': 'text' } };

const entries = [
  { out: 'dist/extension.js', source: 'src/extension.ts', options: node },
  { out: 'dist/worker.js', source: 'src/node/workerMain.ts', options: node },
  { out: 'dist/cli.js', source: 'src/cli/main.ts', options: { ...node, banner: { js: '#!/usr/bin/env node' } } },
  ...['overview', 'timeline', 'fingerprints', 'compare'].map(name => ({ out: `dist/webview/${name}.js`, source: `webview/${name}/main.ts`, options: browser })),
];

/** Files that the bundles open at run time. */
const assets = [
  ['node_modules/web-tree-sitter/web-tree-sitter.wasm', 'dist/web-tree-sitter.wasm'],
  ['node_modules/tree-sitter-python/tree-sitter-python.wasm', 'dist/tree-sitter-python.wasm'],
  ['node_modules/node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm', 'dist/node-sqlite3-wasm.wasm'],
  ['node_modules/@vscode/codicons/dist/codicon.css', 'dist/codicons/codicon.css'],
  ['node_modules/@vscode/codicons/dist/codicon.ttf', 'dist/codicons/codicon.ttf'],
];

/** The licences of what is bundled travel with it. */
function writeNotices(metafiles) {
  const parts = bundledPackages(metafiles).map(name => {
    const folder = path.join('node_modules', name);
    const { version, license } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const file = fs.readdirSync(folder).find(entry => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? '' : fs.readFileSync(path.join(folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}`;
  });
  const codicons = '@vscode/codicons (icons: CC-BY-4.0, code: MIT)\n\nhttps://github.com/microsoft/vscode-codicons';
  fs.writeFileSync('dist/THIRD_PARTY_NOTICES.txt', [...parts, codicons].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n');
}

/** What an earlier build left in `dist` and this one did not write. */
function removeLeftovers(metafiles) {
  const written = new Set([...metafiles.flatMap(({ outputs }) => Object.keys(outputs)), ...assets.map(([, to]) => to), 'dist/THIRD_PARTY_NOTICES.txt']);
  for (const entry of fs.readdirSync('dist', { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name).replaceAll(path.sep, '/');
    if (entry.isFile() && !written.has(file)) {
      fs.rmSync(file);
    }
  }
}

console.log('build: start');
for (const [from, to] of assets) {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.copyFileSync(from, to);
}
const contexts = await Promise.all(entries.map(({ source, out, options }) => context({ ...options, entryPoints: [source], outfile: out })));
if (watch) {
  await Promise.all(contexts.map(each => each.watch()));
  console.log('build: watching');
} else {
  try {
    const results = await Promise.all(contexts.map(each => each.rebuild()));
    const metafiles = results.map(result => result.metafile);
    writeNotices(metafiles);
    const main = metafiles.find(metafile => 'dist/extension.js' in metafile.outputs);
    removeLeftovers(metafiles);
    const problems = main === undefined ? [] : mainBundleProblems(main, 'dist/extension.js');
    problems.forEach(problem => console.error(`build: ${problem}`));
    process.exitCode = problems.length > 0 ? 1 : 0;
    for (const { out } of entries) {
      if (out === 'dist/cli.js') {
        fs.chmodSync(out, 0o755);
      }
      console.log(`build: ${out} ${(fs.statSync(out).size / 1024).toFixed(0)} kB`);
    }
  } catch {
    // esbuild has printed what is wrong.
    process.exitCode = 1;
  }
  await Promise.all(contexts.map(each => each.dispose()));
}
