import assert from 'node:assert/strict';
import { bundledPackages, mainBundleProblems } from '../../scripts/bundleRules.mjs';

function metafile(...files: readonly string[]): Parameters<typeof mainBundleProblems>[0] {
  return { outputs: { 'dist/extension.js': { inputs: Object.fromEntries(files.map(file => [file, { bytesInOutput: 10 }])) } } };
}

describe('what may be in the main bundle', () => {
  it('takes the host, node and protocol', () => {
    assert.deepEqual(mainBundleProblems(metafile('src/extension.ts', 'src/host/a.ts', 'src/node/b.ts', 'src/protocol/c.ts', 'src/engine/port.ts'), 'dist/extension.js'), []);
  });

  it('refuses the engine and browser code, each by name', () => {
    const problems = mainBundleProblems(metafile('src/engine/readers/csv.ts', 'webview/overview/main.ts'), 'dist/extension.js');
    assert.equal(problems.length, 2);
    assert.match(problems[0], /src\/engine\/readers\/csv\.ts/);
    assert.match(problems[1], /webview\/overview\/main\.ts/);
  });

  it('ignores what was shaken out', () => {
    assert.deepEqual(mainBundleProblems({ outputs: { 'dist/extension.js': { inputs: { 'src/engine/session.ts': { bytesInOutput: 0 } } } } }, 'dist/extension.js'), []);
  });

  it('names the packages whose licences must travel along', () => {
    assert.deepEqual(bundledPackages([metafile('node_modules/fflate/esm/browser.js', 'node_modules/@vscode/l10n/dist/main.js', 'node_modules/a/node_modules/b/x.js', 'src/a.ts')]), ['@vscode/l10n', 'b', 'fflate']);
  });
});
