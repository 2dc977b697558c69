/**
 * Runs a view's bundle in plain headless Chromium against an engine in this process: quick to start, with a latency to put
 * between the two, all four themes, and screenshots. `npx tsx test/webview/harness.ts [PROFILE]` serves a page to play with.
 */
import { build } from 'esbuild';
import { existsSync } from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import type { RankData } from '../../src/engine/profile/columns';
import { timelineMethods, type TimelineMethod } from '../../src/engine/timeline/methods';
import type { ProfileSummary } from '../../src/protocol/engine';
import type { ViewKind, ViewState } from '../../src/protocol/webview';
import { BODY_CLASS, themeVariables, type ThemeName } from './themes';
import { encode } from './wire';

const ROOT = path.resolve(__dirname, '../..');
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export type Call = (method: string, params: unknown) => unknown;

/** What is shown: a profile's summary, where to start, and who answers. */
export interface Subject {
  readonly profile: ProfileSummary;
  readonly state: ViewState;
  readonly call: Call;
  /** What the page is told first, where it is no view of one profile. */
  readonly init?: object;
}

/** A rank in memory, as its own little profile. */
export function subjectOf(rank: RankData, view: ViewKind = 'timeline', step?: number): Subject {
  const profile: ProfileSummary = {
    path: '/generated', name: 'generated', format: 'generated', backend: rank.backend, problems: [], alternative: undefined,
    ranks: [{ id: 'r0', label: 'generated', rank: rank.rank, group: '', format: 'generated', bytes: 0, readable: true }],
  };
  return {
    profile, state: { version: 1, path: '/generated', view, rank: 'r0', ...(step === undefined ? {} : { step }) },
    call: (method, params) => (timelineMethods[method as TimelineMethod] as (rank: RankData, params: unknown, environment: object) => unknown)(rank, params, {}),
  };
}

async function bundle(entry: string): Promise<{ readonly js: string; readonly css: string }> {
  const result = await build({ entryPoints: [path.join(ROOT, entry)], bundle: true, write: false, outdir: 'out', format: 'iife', target: 'chrome128', logLevel: 'error', loader: { '.ttf': 'dataurl', '.svg': 'text' } });
  const text = (extension: string): string => result.outputFiles.find((file) => file.path.endsWith(extension))?.text ?? '';
  return { js: text('.js'), css: text('.css') };
}

/** What `harness.move(frames)` in the page returns: milliseconds a frame, and how many windows were asked for. */
export interface Motion {
  readonly script: readonly number[];
  readonly interval: readonly number[];
  readonly requests: number;
}

export interface Harness {
  readonly url: string;
  open(options?: { readonly theme?: ThemeName; readonly latency?: number; readonly width?: number; readonly height?: number; readonly language?: string; readonly bundle?: Readonly<Record<string, string>> }): Promise<Page>;
  close(): Promise<void>;
}

/** Waits until an expression in the page is true. Asked again from here each time: in the page itself its security policy forbids that. */
export async function waitUntil(page: Page, expression: string): Promise<void> {
  for (const end = Date.now() + 30_000; !(await page.evaluate<boolean>(expression));) {
    if (Date.now() > end) {
      throw new Error(`never true: ${expression}`);
    }
    await page.waitForTimeout(20);
  }
}

/** True where the harness can run; a test that cannot says which line would make it run. */
export function canRun(): boolean {
  return existsSync(CHROMIUM);
}

export async function startHarness(subject: Subject, view: ViewKind | 'compare' = 'timeline'): Promise<Harness> {
  const [viewFiles, pageFiles] = await Promise.all([bundle(`webview/${view}/main.ts`), bundle('test/webview/page.ts')]);
  let html = '';
  const files: Readonly<Record<string, () => readonly [string, string]>> = {
    '/': () => ['text/html', html], '/view.js': () => ['text/javascript', viewFiles.js], '/view.css': () => ['text/css', viewFiles.css], '/page.js': () => ['text/javascript', pageFiles.js],
  };
  const codicons = path.join(ROOT, 'node_modules/@vscode/codicons/dist');
  const server = http.createServer((request, response) => {
    const name = (request.url ?? '/').split('?')[0];
    if (request.method === 'POST' && name === '/call') {
      void answer(subject, request, response);
      return;
    }
    const file = files[name];
    if (file !== undefined) {
      const [type, text] = file();
      response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(text);
    } else if (name.startsWith('/codicon.')) {
      void import('node:fs/promises').then(({ readFile }) => readFile(path.join(codicons, path.basename(name)))).then((bytes) => response.writeHead(200, { 'content-type': name.endsWith('.css') ? 'text/css' : 'font/ttf' }).end(bytes));
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  html = pageHtml(subject, 'dark');
  let browser: Browser | undefined;
  return {
    url,
    open: async ({ theme = 'dark', latency = 0, width = 1400, height = 900, language = 'en', bundle: strings = {} } = {}) => {
      browser ??= await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
      const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
      html = pageHtml(subject, theme, language, strings);
      await page.goto(`${url}?latency=${latency}`);
      return page;
    },
    close: async () => {
      await browser?.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(subject: Subject, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk as Buffer);
  }
  try {
    const { method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: unknown };
    response.writeHead(200).end(encode(await subject.call(method, params)));
  } catch (error) {
    response.writeHead(500).end(encode(error instanceof Error ? error.stack ?? error.message : String(error)));
  }
}

/** The same policy as the real page, but for the harness's own script and its requests. */
function pageHtml({ profile, state, init: own }: Subject, theme: ThemeName, language = 'en', bundle: Readonly<Record<string, string>> = {}): string {
  const init = JSON.stringify({ ...(own ?? { view: state.view, profile, state }), language, bundle }).replaceAll('<', '\\u003c');
  return `<!DOCTYPE html><html lang="${language}" style="${themeVariables(theme, ROOT)}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' data:; font-src 'self'; style-src 'self' 'unsafe-inline'; script-src 'nonce-harness'; connect-src 'self'">
<link rel="stylesheet" href="/codicon.css" id="vscode-codicon-stylesheet"><link rel="stylesheet" href="/view.css"></head>
<body class="${BODY_CLASS[theme]}" data-view="${state.view}"><script nonce="harness">window.harnessInit = ${init};</script><script nonce="harness" src="/page.js"></script><script nonce="harness" src="/view.js"></script></body></html>`;
}

/** A profile on disk, read by the real engine. */
export async function subjectAt(profilePath: string, options: { readonly view?: ViewKind; readonly rank?: number; readonly step?: number } = {}): Promise<Subject> {
  const { EngineSession } = await import('../../src/engine/session');
  const { engineEnvironment } = await import('../../src/node/environment');
  const session = new EngineSession(engineEnvironment({}));
  const profile = await session.call('open', { path: profilePath });
  const rank = profile.ranks.filter(({ readable }) => readable)[options.rank ?? 0];
  return {
    profile, state: { version: 1, path: profilePath, view: options.view ?? 'timeline', rank: rank.id, ...(options.step === undefined ? {} : { step: options.step }) },
    call: (method, params) => session.call(method as 'load', params as { rank: string }),
  };
}
