/**
 * `npm start`: a real VS Code with FuseLens on 127.0.0.1, the sample open. `npm start -- PATH` opens a profile of yours;
 * `--desktop` uses the `code` command of an installed VS Code instead of a browser; `--port N` fixes the port.
 * Settings of the demo stay in `.fuselens-demo` between runs; Ctrl+C ends everything.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureDependencies, ensureServer, root } from './environment.mjs';

const options = process.argv.slice(2);
const desktop = options.includes('--desktop');
const portAt = options.indexOf('--port');
const port = portAt < 0 ? undefined : Number(options[portAt + 1]);
const given = options.find((option, index) => !option.startsWith('--') && (portAt < 0 || index !== portAt + 1));
const demo = path.join(root, '.fuselens-demo');

function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

function runNode(args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

/** What to open: the folder shown in the Explorer, and the profiles. */
function target() {
  if (profile !== undefined) {
    return { workspace: fs.statSync(profile).isDirectory() ? profile : path.dirname(profile), profiles: [profile] };
  }
  const sample = path.join(demo, 'sample');
  const version = createHashOfCli();
  const stamp = path.join(demo, 'sample-made-by');
  if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== version) {
    console.log(`Writing the synthetic sample into ${sample} ...`);
    fs.rmSync(sample, { recursive: true, force: true });
    runNode(['dist/cli.js', 'sample', sample]);
    fs.writeFileSync(stamp, version);
  }
  return { workspace: path.join(sample, 'workspace'), profiles: [...['baseline', 'optimized'].map(name => path.join(sample, name)), path.join(sample, 'workspace/q35_npu_old.py')] };
}

/** A new build may write another sample. */
function createHashOfCli() {
  const { size } = fs.statSync(path.join(root, 'dist/cli.js'));
  return `${JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version} ${size}`;
}

async function inBrowser({ workspace, profiles }) {
  const { linkExtension, startServer, writeSettings } = await import('./vscodeServer.mjs');
  const folder = path.join(demo, 'server');
  const settingsFile = path.join(folder, 'data/User/settings.json');
  let kept = {};
  try {
    kept = JSON.parse(fs.readFileSync(settingsFile, 'utf8'));
  } catch {
    // First start, or comments in the file: begin anew.
  }
  writeSettings(folder, { ...kept, 'fuselens.openOnStart': profiles });
  linkExtension(folder, root);
  const token = randomBytes(16).toString('hex');
  const server = await startServer({ folder, token, ...(port === undefined ? {} : { port }) });
  console.log(`\nFuseLens runs in VS Code at\n\n  ${server.url}?tkn=${token}&folder=${encodeURI(workspace)}\n\nOpen it in a browser on this machine. Ctrl+C ends it.`);
  const end = () => {
    server.stop();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, end);
  }
  // npm, when it is killed, does not tell us.
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || end(), 1000).unref();
  await server.exited;
  stop(`The VS Code server has ended:\n${server.output()}`);
}

/** The packaged extension in an installed VS Code, in folders of its own: the user's settings and extensions stay untouched. */
function onDesktop({ workspace, profiles }) {
  runNode(['scripts/package.mjs']);
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const userData = path.join(demo, 'desktop');
  const apart = ['--user-data-dir', userData, '--extensions-dir', path.join(demo, 'desktop-extensions')];
  fs.mkdirSync(path.join(userData, 'User'), { recursive: true });
  fs.writeFileSync(path.join(userData, 'User/settings.json'), JSON.stringify({ 'fuselens.openOnStart': profiles, 'workbench.startupEditor': 'none', 'security.workspace.trust.enabled': false }, undefined, 2));
  const shell = process.platform === 'win32';
  const install = spawnSync('code', [...apart, '--install-extension', path.join(root, `fuselens-${version}.vsix`), '--force'], { stdio: 'inherit', shell });
  if (install.error !== undefined || install.status !== 0) {
    stop('The command `code` of an installed VS Code was not found or failed. In VS Code: "Shell Command: Install \'code\' command in PATH"; or run plain `npm start`.');
  }
  const child = spawn('code', [...apart, '--wait', '--new-window', workspace], { stdio: 'inherit', shell });
  process.once('SIGINT', () => child.kill());
  child.once('exit', code => process.exit(code ?? 0));
}

// npm changes to the project's folder; INIT_CWD is where the user typed.
const profile = given === undefined ? undefined : path.resolve(process.env.INIT_CWD ?? process.cwd(), given);
if (profile !== undefined && !fs.existsSync(profile)) {
  stop(`Nothing is there: ${profile}. Give the path of a profile folder or trace.`);
}
if (!ensureDependencies()) {
  stop('The packages could not be installed: npm ci says why.');
}
const obstacle = desktop ? undefined : ensureServer();
if (obstacle !== undefined) {
  stop(`This needs another way: ${obstacle.reason}.\nWith an installed VS Code: npm start -- --desktop`);
}
runNode(['esbuild.mjs']);
fs.mkdirSync(demo, { recursive: true });
const opened = target();
await (desktop ? onDesktop(opened) : inBrowser(opened));
