/**
 * Runs the mocha suite of `test/extension` inside an extension host: in the VS Code server through Chromium, or with
 * `--desktop` in desktop VS Code (downloaded by @vscode/test-electron, or the one named by FUSELENS_VSCODE).
 * The counts go into the file named by FUSELENS_RESULT. `--bundle-only` stops before running (F5 uses it).
 */
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { format } from 'node:util';
import { findChromium, root, runFolder } from './environment.mjs';
import { startServer, writeSettings } from './vscodeServer.mjs';

const CHROMIUM_FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
/** Chatter of the workbench, and a logger of the server that is not installed and not needed. */
const NOISE = /workbench\/workbench\.js:\d|spdlog/;
const result = process.env.FUSELENS_RESULT ?? path.join(runFolder, 'suite-result.json');
const tests = path.join(root, 'dist-test/index.js');

/** One file with all tests, one that runs it: mocha stays outside, its globals are set when the first is loaded. */
async function bundleSuite() {
  const files = fs.readdirSync(path.join(root, 'test/extension'), { recursive: true }).filter(name => name.endsWith('.test.ts')).sort();
  const shared = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', external: ['vscode', 'mocha'], sourcemap: 'inline', logLevel: 'warning', absWorkingDir: root };
  const contents = files.map(name => `import ${JSON.stringify(`./${name.replaceAll(path.sep, '/')}`)};`).join('\n');
  await build({ ...shared, stdin: { contents, resolveDir: path.join(root, 'test/extension'), loader: 'ts' }, outfile: 'dist-test/suite.test.js' });
  await build({ ...shared, entryPoints: ['test/extension/index.ts'], outfile: tests });
}

/** Tests write into their workspace, so each run gets a fresh one. */
function freshWorkspace() {
  const workspace = path.join(runFolder, 'suite-workspace');
  fs.rmSync(workspace, { recursive: true, force: true });
  fs.cpSync(path.join(root, 'test/extension/workspace'), workspace, { recursive: true });
  return workspace;
}

async function runInBrowser(workspace, environment) {
  const folder = path.join(runFolder, 'suite-server');
  fs.rmSync(folder, { recursive: true, force: true });
  writeSettings(folder, {});
  // In a built VS Code the test payload of the URL is ignored without the smoke-test driver.
  const server = await startServer({ folder, smokeTest: true, environment });
  const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_FLAGS });
  try {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    const uri = file => `vscode-remote://${new URL(server.url).host}${encodeURI(file)}`;
    const payload = JSON.stringify([['extensionDevelopmentPath', uri(root)], ['extensionTestsPath', uri(tests)], ['skipWelcome', 'true']]);
    let inSuite = false;
    const lines = [];
    const print = (_type, args) => {
      const line = format(...args);
      lines.push(line);
      if (line.includes('##suite-begin')) {
        inSuite = true;
      } else if (line.includes('##suite-end')) {
        inSuite = false;
      } else if (inSuite && !NOISE.test(line)) {
        console.log(line);
      }
    };
    return await new Promise((resolve, reject) => {
      const fail = reason => page.screenshot({ path: path.join(runFolder, 'suite-failed.png') }).catch(() => undefined).then(() => {
        reject(new Error(`${reason}; see .e2e/suite-failed.png. Last lines:\n${lines.slice(-30).join('\n')}`));
      });
      const timer = setTimeout(() => void fail('The suite gave no exit code in 10 minutes'), 600000);
      page.on('crash', () => void fail('The page crashed'));
      void (async () => {
        await page.exposeFunction('codeAutomationExit', code => {
          clearTimeout(timer);
          resolve(code);
        });
        await page.exposeFunction('codeAutomationLog', print);
        await page.goto(`${server.url}?folder=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(payload)}`);
      })().catch(error => fail(String(error)));
    });
  } finally {
    await browser.close();
    server.stop();
  }
}

async function runOnDesktop(workspace, environment) {
  const { runTests } = await import('@vscode/test-electron');
  const vscodeExecutablePath = process.env.FUSELENS_VSCODE;
  const userData = fs.mkdtempSync(path.join(os.tmpdir(), 'fuselens-'));
  return runTests({
    ...(vscodeExecutablePath === undefined ? {} : { vscodeExecutablePath }),
    extensionDevelopmentPath: root,
    extensionTestsPath: tests,
    extensionTestsEnv: environment,
    launchArgs: [workspace, '--disable-extensions', '--disable-workspace-trust', '--user-data-dir', userData],
  });
}

fs.mkdirSync(runFolder, { recursive: true });
fs.rmSync(result, { force: true });
await bundleSuite();
if (process.argv.includes('--bundle-only')) {
  process.exit(0);
}
const environment = { FUSELENS_RESULT: result, FUSELENS_ROOT: root };
const desktop = process.argv.includes('--desktop');
let code = 1;
try {
  code = await (desktop ? runOnDesktop : runInBrowser)(freshWorkspace(), environment);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (desktop && process.env.FUSELENS_VSCODE === undefined) {
    console.error('If VS Code cannot be downloaded here, name an installed one: FUSELENS_VSCODE=/path/to/code npm test -- --desktop');
  }
}
if (!fs.existsSync(result)) {
  console.error('The suite ended without a result.');
}
process.exit(code === 0 && fs.existsSync(result) ? 0 : 1);
