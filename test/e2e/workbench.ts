/**
 * A real VS Code in Chromium with the packaged extension, for stories: one server and one browser for the whole run, one
 * page per story (a page costs about eight seconds, so let a story do several things).
 */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { chromium, type Browser, type Frame, type Page } from 'playwright-core';
import { findChromium, root, runFolder } from '../../scripts/environment.mjs';
import { installVsix, startServer, writeSettings } from '../../scripts/vscodeServer.mjs';

/** The theme: its name in the settings, its label in the list of themes, and the class the workbench then wears. */
const THEMES = {
  'dark': ['Dark Modern', 'Dark Modern', 'vs-dark'],
  'light': ['Light Modern', 'Light Modern', 'vs'],
  'high-contrast': ['Default High Contrast', 'Dark High Contrast', 'hc-black'],
  'high-contrast-light': ['Default High Contrast Light', 'Light High Contrast', 'hc-light'],
} as const;
export type Theme = keyof typeof THEMES;
export const ALL_THEMES = Object.keys(THEMES) as readonly Theme[];

const WAIT_MS = 40000;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const serverFolder = path.join(runFolder, 'story-server');
/** FUSELENS_SHOTS=FOLDER keeps the pictures elsewhere. */
const shots = process.env.FUSELENS_SHOTS ?? path.join(runFolder, 'shots');

type Settings = Readonly<Record<string, unknown>>;
interface Running {
  readonly server: Awaited<ReturnType<typeof startServer>>;
  readonly browser: Browser;
}
let running: Promise<Running> | undefined;
const open = new Set<Workbench>();

async function start(folder = serverFolder, trust = false): Promise<Running> {
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const vsix = path.join(root, `fuselens-${version}.vsix`);
  assert.ok(fs.existsSync(vsix), `${vsix} is missing: npm run package`);
  fs.rmSync(folder, { recursive: true, force: true });
  installVsix(folder, vsix);
  const server = await startServer({ folder, trust });
  return { server, browser: await chromium.launch({ executablePath: findChromium(), args: FLAGS }) };
}

afterEach(async function () {
  for (const workbench of open) {
    if (this.currentTest?.state === 'failed') {
      await workbench.screenshot(`failed-${this.currentTest.title.replace(/[^\w]+/g, '-').slice(0, 60)}`);
    }
    await workbench.close();
  }
});

after(async () => {
  if (running !== undefined) {
    const { server, browser } = await running;
    await browser.close();
    server.stop();
  }
});

/** An empty folder for a story to open; it is made anew. */
export function freshFolder(name: string): string {
  const folder = path.join(runFolder, 'story-workspaces', name);
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** Opens a window on `folder` (or on a workspace file, `*.code-workspace`) with the given settings; it is closed after the test, with a picture if the test failed. */
export async function openWorkbench({ folder, settings = {}, theme = 'dark' }: { readonly folder: string; readonly settings?: Settings; readonly theme?: Theme }): Promise<Workbench> {
  running ??= start();
  const { server, browser } = await running;
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const workbench = new Workbench(await context.newPage());
  open.add(workbench);
  writeSettings(serverFolder, { ...settings, 'workbench.colorTheme': THEMES[theme][0] });
  await workbench.page.goto(`${server.url}?${folder.endsWith('.code-workspace') ? 'workspace' : 'folder'}=${encodeURIComponent(folder)}`);
  await workbench.loaded();
  return workbench;
}

/** A window on a folder nobody trusts, on a server of its own that asks for trust as the desktop does. */
export async function openUntrusted(folder: string): Promise<Workbench> {
  const own = `${serverFolder}-trust`;
  const { server, browser } = await start(own, true);
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
  const workbench = new Workbench(await context.newPage(), async () => {
    await browser.close();
    server.stop();
  });
  open.add(workbench);
  writeSettings(own, { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never', 'workbench.colorTheme': THEMES.dark[0] });
  await workbench.page.goto(`${server.url}?folder=${encodeURIComponent(folder)}`);
  await workbench.loaded();
  return workbench;
}

export class Workbench {
  constructor(readonly page: Page, private readonly afterwards: () => Promise<void> = () => Promise.resolve()) {}

  /** Waits until the workbench has read the contributions of every extension. */
  async loaded(): Promise<void> {
    await this.page.locator('.part.activitybar').getByRole('tab', { name: 'FuseLens' }).waitFor({ timeout: WAIT_MS });
    await this.page.waitForFunction(`performance.getEntriesByName('code/didLoadExtensions').length > 0`, undefined, { timeout: WAIT_MS });
  }

  /** Runs a command by its title in the palette, e.g. `FuseLens: Show Overview`; waits until it is offered. */
  async command(title: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input.input');
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ has: this.page.locator('.label-name', { hasText: title }) }).first();
    // The list is made when the palette opens, so a command that appears later needs a new one.
    for (let left = 8; ; left--) {
      await this.page.keyboard.press('F1');
      await input.fill(`>${title}`);
      // What takes the focus meanwhile (a dialog that comes, a page that loads) closes the palette under the click.
      const chosen = await row.waitFor({ timeout: WAIT_MS / 8 }).then(() => row.click({ timeout: WAIT_MS / 8 })).then(() => true, () => false);
      if (chosen) {
        return;
      }
      assert.ok(left > 1, `the palette does not offer "${title}"`);
      await this.page.keyboard.press('Escape');
    }
  }

  /** Chooses `entry` from the context menu of an Explorer item. */
  async explorerMenu(item: string, entry: string): Promise<void> {
    await this.page.getByRole('treeitem', { name: item }).click({ button: 'right' });
    const choice = this.page.getByRole('menuitem', { name: entry });
    await choice.waitFor({ timeout: WAIT_MS });
    // A menu pays no heed to a click in the first tenth of a second after it is drawn.
    await this.page.waitForTimeout(300);
    await choice.click();
    await choice.waitFor({ state: 'hidden', timeout: WAIT_MS });
  }

  /** Opens a file with a double click and gives the frame of its custom editor that shows `selector`. */
  async openFile(item: string, selector: string): Promise<Frame> {
    // A new window makes its service for custom editors when it is idle: until then every file opens as text.
    for (let left = 8; ; left--) {
      await this.page.getByRole('treeitem', { name: item }).dblclick();
      try {
        return await this.frame(selector, left > 1 ? WAIT_MS / 4 : WAIT_MS);
      } catch (error) {
        if (left === 1) {
          throw error;
        }
        await this.command('View: Close Editor');
      }
    }
  }

  /** Opens a file outside the folder by the dialog of the workbench. */
  async openPath(file: string): Promise<void> {
    await this.page.keyboard.press('Control+O');
    const input = this.page.locator('.quick-input-widget input.input');
    await input.waitFor({ timeout: WAIT_MS });
    // The dialog lists the folder it begins in when it can, and then puts that folder in place of what was typed.
    for (let left = 10; ; left--) {
      await input.fill(file);
      await this.page.waitForTimeout(1000);
      if ((await input.inputValue()) === file) {
        await this.page.keyboard.press('Enter');
        const closed = await input.waitFor({ state: 'hidden', timeout: WAIT_MS / 4 }).then(() => true, () => false);
        if (closed) {
          return;
        }
      }
      assert.ok(left > 1, `the dialog does not open ${file}`);
    }
  }

  /** The webview (or any inner frame) that shows an element matching `selector`; waits for it. */
  async frame(selector: string, wait = WAIT_MS): Promise<Frame> {
    const deadline = Date.now() + wait;
    for (;;) {
      for (const frame of this.page.frames()) {
        if (frame !== this.page.mainFrame() && (await frame.locator(selector).first().isVisible().catch(() => false))) {
          return frame;
        }
      }
      if (Date.now() > deadline) {
        throw new Error(`No view shows ${selector} after ${wait / 1000} s. Tabs: ${(await this.tabs()).join(', ')}`);
      }
      await this.page.waitForTimeout(100);
    }
  }

  /** Titles of the open editor tabs. */
  async tabs(): Promise<readonly string[]> {
    return this.page.locator('.tabs-container .tab .monaco-icon-label').allInnerTexts();
  }

  /** Reloads the window as VS Code does it: open tabs and their state are saved first. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent('load', { timeout: WAIT_MS });
    await this.command('Developer: Reload Window');
    await loaded;
  }

  /** Waits for a notification with this text (a toast). */
  async notification(text: string | RegExp, wait = WAIT_MS): Promise<void> {
    await this.page.locator('.notification-list-item', { hasText: text }).first().waitFor({ timeout: wait });
  }

  /** Waits until a canvas shows colours, not only greys: what it draws took its colours from the theme. */
  async coloured(frame: Frame, selector: string): Promise<void> {
    // Text, since it runs in the page, where the types of this file mean nothing.
    const count = `(() => {
      const canvas = document.querySelector(${JSON.stringify(selector)});
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        count += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60 ? 1 : 0;
      }
      return count / (data.length / 4);
    })()`;
    const deadline = Date.now() + WAIT_MS;
    let share = 0;
    while ((share = await frame.evaluate<number>(count)) < 0.02) {
      assert.ok(Date.now() < deadline, `only ${(share * 100).toFixed(2)} % of ${selector} has a colour`);
      await this.page.waitForTimeout(200);
    }
  }

  /** Changes the theme of the open window, as a user does (a change of the settings file is not seen while it runs). */
  async setTheme(theme: Theme): Promise<void> {
    const [, label, wears] = THEMES[theme];
    await this.command('Preferences: Color Theme');
    const input = this.page.locator('.quick-input-widget input.input');
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Dark Modern' }).first().waitFor({ timeout: WAIT_MS });
    await input.fill(label);
    const row = this.page.locator('.quick-input-list .monaco-list-row').filter({ has: this.page.locator('.label-name', { hasText: new RegExp(`^${label}$`) }) });
    await row.first().click();
    await this.page.locator(`.monaco-workbench.${wears}`).waitFor({ timeout: WAIT_MS });
    await this.page.locator('.quick-input-widget').waitFor({ state: 'hidden', timeout: WAIT_MS });
    await this.page.waitForTimeout(400);
  }

  /** Saves a picture of the whole window as `<name>.png`. */
  async screenshot(name: string): Promise<string> {
    fs.mkdirSync(shots, { recursive: true });
    const file = path.join(shots, `${name}.png`);
    await this.page.screenshot({ path: file });
    return file;
  }

  /** One picture in each theme: `<name>-<theme>.png`; without FUSELENS_SHOTS the dark one alone, since themes take their time. Leaves the window dark. */
  async screenshotInThemes(name: string, themes: readonly Theme[] = ALL_THEMES): Promise<void> {
    if (process.env.FUSELENS_SHOTS === undefined) {
      await this.screenshot(`${name}-dark`);
      return;
    }
    for (const theme of themes) {
      await this.setTheme(theme);
      // The list of themes lay over the tabs: what the pointer is left on would explain itself over the picture.
      await this.page.mouse.move(700, 893);
      await this.page.waitForTimeout(600);
      await this.screenshot(`${name}-${theme}`);
    }
    await this.setTheme('dark');
  }

  async close(): Promise<void> {
    open.delete(this);
    await this.page.context().close();
    await this.afterwards();
  }
}
