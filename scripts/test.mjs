/**
 * `npm test`: lint, types, unit tests, the suite inside an extension host, and the stories against a packaged extension.
 * Works right after `git clone`: installs what is missing and says so. A part that cannot run here is counted as skipped,
 * with the one line that would make it run.
 *
 * node scripts/test.mjs [part ...] [--desktop] [--grep TEXT] [files of unit tests or stories]
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureChromium, ensureDependencies, ensureServer, root, runFolder } from './environment.mjs';

const PARTS = ['lint', 'types', 'unit', 'extension', 'e2e'];
const options = process.argv.slice(2);
const desktop = options.includes('--desktop');
const grep = options.includes('--grep') ? ['--grep', options[options.indexOf('--grep') + 1]] : [];
const named = options.filter(option => PARTS.includes(option));
const files = options.filter(option => option.endsWith('.ts'));
const wanted = new Set(named.length > 0 ? named : PARTS);
const outcomes = [];

function run(command, args, environment = {}) {
  return new Promise(resolve => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...environment } });
    child.once('error', () => resolve(1));
    child.once('exit', code => resolve(code ?? 1));
  });
}

function record(part, started, { passed, failed, skips = [] }) {
  outcomes.push({ part, passed, failed, skips, seconds: (Date.now() - started) / 1000 });
}

function skip(part, { reason, remedy }) {
  console.log(`\n${part}: skipped, ${reason}. To run it:\n  ${remedy}`);
  outcomes.push({ part, passed: 0, failed: 0, skips: [`${part}: ${reason}`], seconds: 0 });
}

/** A check without tests of its own counts as one. */
async function check(part, script, args = []) {
  const started = Date.now();
  const code = await run(process.execPath, [script, ...args]);
  record(part, started, code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 });
  return code === 0;
}

/** Runs something that leaves its counts in FUSELENS_RESULT; without that file it has failed. */
async function counted(part, args) {
  const started = Date.now();
  const result = path.join(runFolder, `${part}-result.json`);
  fs.rmSync(result, { force: true });
  console.log(`\n== ${part}`);
  const code = await run(process.execPath, args, { FUSELENS_RESULT: result });
  const counts = fs.existsSync(result) ? JSON.parse(fs.readFileSync(result, 'utf8')) : { passed: 0, failed: 0 };
  const broken = code !== 0 && counts.failed === 0 ? 1 : 0;
  if (counts.passed + counts.failed + broken === 0) {
    console.error(`${part}: ran no test`);
  }
  record(part, started, { ...counts, failed: counts.failed + (counts.passed + counts.failed === 0 ? 1 : broken) });
}

function mocha(specs, extra = []) {
  return ['node_modules/mocha/bin/mocha.js', '--reporter', path.join(root, 'scripts/countingReporter.cjs'), ...grep, ...extra, ...specs];
}

function testFiles(folder, suffix) {
  const at = path.join(root, folder);
  const names = fs.existsSync(at) ? fs.readdirSync(at, { recursive: true }) : [];
  return names.filter(name => name.endsWith(suffix)).map(name => path.join(folder, name)).sort();
}

async function unit() {
  const apart = ['extension', 'e2e', 'bench'].map(folder => path.join('test', folder) + path.sep);
  const specs = files.length > 0 ? files : testFiles('test', '.test.ts').filter(name => !apart.some(folder => name.startsWith(folder)));
  await counted('unit', mocha(specs));
}

async function extension() {
  const obstacle = desktop ? undefined : ensureServer() ?? ensureChromium();
  if (obstacle !== undefined) {
    skip('extension', obstacle);
    return;
  }
  await counted('extension', ['scripts/runExtensionSuite.mjs', ...(desktop ? ['--desktop'] : [])]);
}

async function stories() {
  const obstacle = desktop ? { reason: 'the stories run in the browser', remedy: 'npm run test:e2e' } : ensureServer() ?? ensureChromium();
  if (obstacle !== undefined) {
    skip('e2e', obstacle);
    return;
  }
  // What a user gets: the stories install the package. A busy browser loses a click now and then; what fails twice is a fault.
  if (await check('package', 'scripts/package.mjs')) {
    await counted('e2e', mocha(files.length > 0 ? files : testFiles('test/e2e', '.story.ts'), ['--timeout', '180000', '--retries', '1']));
  }
}

function report() {
  const sum = key => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  const totals = { passed: sum('passed'), failed: sum('failed'), skips: outcomes.flatMap(({ skips }) => skips) };
  console.log('');
  for (const { part, passed, failed, skips, seconds } of outcomes) {
    const skipped = skips.length > 0 ? `, ${skips.length} skipped` : '';
    console.log(`  ${part.padEnd(10)} ${String(passed).padStart(5)} passed, ${failed} failed${skipped}  (${seconds.toFixed(0)} s)`);
  }
  totals.skips.forEach(title => console.log(`  skipped: ${title}`));
  fs.writeFileSync(path.join(runFolder, 'totals.json'), JSON.stringify(totals));
  console.log(`${totals.passed} passed, ${totals.failed} failed${totals.skips.length > 0 ? `, ${totals.skips.length} skipped` : ''}`);
  process.exitCode = totals.failed > 0 ? 1 : 0;
}

fs.mkdirSync(runFolder, { recursive: true });
if (!ensureDependencies()) {
  console.error('The packages could not be installed: npm ci says why.');
  process.exit(1);
}
// Two cores: lint and types side by side, everything else one after the other.
await Promise.all([
  wanted.has('lint') ? check('lint', 'node_modules/eslint/bin/eslint.js', ['.', '--max-warnings', '0']) : undefined,
  wanted.has('types') ? check('types', 'scripts/types.mjs') : undefined,
]);
const needsBuild = wanted.has('unit') || wanted.has('extension');
if (!needsBuild || (await check('build', 'esbuild.mjs'))) {
  if (wanted.has('unit')) {
    await unit();
  }
  if (wanted.has('extension')) {
    await extension();
  }
  if (wanted.has('e2e')) {
    await stories();
  }
}
report();
