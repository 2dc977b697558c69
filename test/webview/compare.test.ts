import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { Page } from 'playwright-core';
import chinese from '../../l10n/bundle.l10n.zh-cn.json';
import type { FromCompare } from '../../src/protocol/compareView';
import { VIEW_STATE_LIMIT } from '../../src/protocol/webview';
import { cli } from '../cli/runCli';
import { comparePair } from './comparePair';
import { canRun, CHROMIUM, startHarness, waitUntil, type Harness } from './harness';

describe('the Compare view', function () {
  this.timeout(120_000);
  if (!canRun()) {
    it.skip(`needs Chromium at ${CHROMIUM}`);
    return;
  }
  let folder: string;
  let harness: Harness;

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-compare-'));
    assert.equal((await cli(['sample', path.join(folder, 'sample'), '--ranks', '3'])).code, 0);
    harness = await startHarness(await comparePair(path.join(folder, 'sample', 'baseline'), path.join(folder, 'sample', 'optimized')), 'compare');
  });

  after(async () => {
    await harness.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const sent = (page: Page): Promise<readonly FromCompare[]> => page.evaluate('window.harness.messages');

  it('gives the verdict in plain words, per token, and says what was checked', async () => {
    const page = await harness.open();
    assert.match(await page.locator('.verdict-head').innerText(), /^The candidate is faster: 1,000 tokens take .* instead of /);
    assert.match(await page.locator('.checks summary').innerText(), /1 per token/);
    assert.equal(await page.locator('.checks tbody tr').count(), 12);
    await page.close();
  });

  it('draws a pair of windows on one scale, with brackets, and walks it by keyboard', async () => {
    const page = await harness.open();
    await page.getByRole('button', { name: /Gated RMSNorm · forward/ }).click();
    await page.locator('.bracket', { hasText: '11 kernels' }).first().waitFor();
    const drawings = page.locator('.window-drawing');
    assert.equal(await drawings.count(), 2);
    const ticks = await drawings.evaluateAll((elements) => elements.map((element) => [...element.querySelectorAll('.axis-text')].map((text) => `${text.getAttribute('x')} ${text.textContent}`).join('|')));
    assert.equal(ticks[0], ticks[1], 'one time scale');
    assert.match(await drawings.first().getAttribute('aria-label') ?? '', /^Base: \d+ kernels in .* Gated RMSNorm/);
    await drawings.first().focus();
    await page.keyboard.press('End');
    const last = await page.locator('.window-detail').innerText();
    assert.match(last, /^(\d+) \/ \1 · /);
    await page.keyboard.press('ArrowLeft');
    assert.notEqual(await page.locator('.window-detail').innerText(), last);
    await page.getByRole('button', { name: 'Show candidate in timeline' }).click();
    const show = (await sent(page)).find(({ kind }) => kind === 'showSide');
    assert.ok(show?.kind === 'showSide' && show.side === 'candidate' && (show.target.endNs ?? 0) > (show.target.startNs ?? Infinity));
    await page.close();
  });

  it('sums over one rank or all, and keeps choice, sort and filter in a small state', async () => {
    const page = await harness.open();
    const heading = page.locator('.section-tables h2');
    assert.match(await heading.innerText(), /one rank, one step \(median of 3 samples\)/);
    const scope = page.locator('vscode-dropdown[aria-label="Sums over"]');
    await scope.click();
    await scope.locator('vscode-option', { hasText: 'all 3 ranks' }).click();
    assert.match(await heading.innerText(), /all 3 ranks together, one step/);
    await page.locator('.section-tables').getByRole('button', { name: /^Calls, Base/ }).click();
    await page.locator('.section-tables th[aria-sort="descending"]').waitFor();
    await page.getByRole('textbox', { name: 'Filter by name' }).fill('norm');
    await page.locator('.section-tables tbody tr', { hasText: 'Zero-centred RMSNorm' }).first().waitFor();
    const state = (await sent(page)).filter((message) => message.kind === 'state').at(-1)?.state;
    assert.deepEqual([state?.detail?.scope, state?.detail?.sort?.key, state?.detail?.filter], ['all', 'base_calls', 'norm']);
    assert.ok(JSON.stringify(state).length < VIEW_STATE_LIMIT);
    await page.close();
  });

  it('compares anew with other tokens, without reading again', async () => {
    const page = await harness.open();
    await page.locator('.checks summary').click();
    const before = await page.locator('.verdict-head').innerText();
    const field = page.getByRole('textbox', { name: 'Tokens of a base step' });
    assert.equal(await field.inputValue(), '131072', 'what the profile states stands there');
    await field.fill('262144');
    await page.locator('.tokens-form vscode-button').click();
    await waitUntil(page, `document.querySelector('.verdict-head') !== null && document.querySelector('.verdict-head').innerText !== ${JSON.stringify(before)}`);
    const asked = (await sent(page)).filter((message) => message.kind === 'call' && message.method === 'compareReport');
    assert.deepEqual(asked.map((message) => (message.kind === 'call' ? message.params : undefined)), [{ options: {} }, { options: { tokensBase: 262_144, tokensCandidate: 524_288 } }]);
    // Twice the tokens in the same time: half the time a token.
    const times = (text: string): number => Number(/instead of ([\d.]+) ms/.exec(text)?.[1]);
    assert.ok(Math.abs(times(before) / times(await page.locator('.verdict-head').innerText()) - 2) < 0.05);
    await page.close();
  });

  it('copies and saves its tables, and swaps', async () => {
    const page = await harness.open();
    await page.locator('.section-tables').getByRole('button', { name: /^Save Chains/ }).click();
    await page.getByRole('button', { name: 'Swap sides' }).click();
    const messages = await sent(page);
    const saved = messages.find(({ kind }) => kind === 'saveText');
    assert.ok(saved?.kind === 'saveText' && saved.name.endsWith('compare-chains.csv') && saved.text.startsWith('name,base_calls'));
    assert.ok(messages.some(({ kind }) => kind === 'swap'));
    await page.close();
  });

  it('speaks Chinese throughout', async () => {
    const page = await harness.open({ language: 'zh-cn', bundle: chinese });
    assert.match(await page.locator('.verdict-head').innerText(), /候选更快/);
    await page.locator('.window-drawing').first().waitFor();
    const text = await page.locator('main').innerText();
    assert.doesNotMatch(text, /compare\.|\{\w+\}|Are they|Where the|one rank/);
    await page.close();
  });

  it('fits a narrow editor without scrolling sideways', async () => {
    const page = await harness.open({ width: 620 });
    await page.locator('.window-drawing').first().waitFor();
    assert.equal(await page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth + 1'), true);
    // The table keeps its name, its times and what is said of them, and tells what it leaves out.
    const overflow = "(() => { const table = document.querySelector('.section-tables .table-scroll'); return table.scrollWidth - table.clientWidth; })()";
    const headings = (): Promise<readonly string[]> => page.locator('.section-tables thead th').evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-key') ?? ''));
    assert.ok((await page.evaluate<number>(overflow)) <= 1);
    const narrow = await headings();
    for (const key of ['name', 'base_us', 'candidate_us', 'difference_us', 'verdict']) {
      assert.ok(narrow.includes(key), key);
    }
    assert.match(await page.locator('.section-tables .narrow-note').innerText(), /^Not shown at this width: .*Noise/);
    await page.setViewportSize({ width: 1800, height: 900 });
    await page.waitForFunction("document.querySelectorAll('.section-tables thead th').length > 8");
    assert.equal(await page.locator('.section-tables .narrow-note').innerText(), '');
    await page.close();
  });
});
