import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import chinese from '../../l10n/bundle.l10n.zh-cn.json';
import { HostKind, type RankData } from '../../src/engine/profile/columns';
import type { FromWebview } from '../../src/protocol/webview';
import { rankOf } from '../engine/timeline/generatedRank';
import { canRun, startHarness, subjectOf, waitUntil, type Harness } from './harness';

/** Two layers: each an operator in a Python frame that launches Mul, then Cast, then a collective beside them. */
function smallRank(): RankData {
  const layers = [0, 1, 2, 3];
  return rankOf(
    layers.flatMap((layer) => [
      { start: 10_000 + layer * 5000, duration: 1000, name: 'aclnnMul_MulAiCore_Mul', type: 'Mul', family: 3, launch: layer * 3 + 2, op: layer * 3 + 1, shapes: '4096,128' },
      { start: 11_500 + layer * 5000, duration: 400, name: 'aclnnCast_CastAiCore_Cast', type: 'Cast', family: 4, launch: layer * 3 + 2, op: layer * 3 + 1 },
      { start: 10_200 + layer * 5000, duration: 3000, name: 'hcom_allReduce_', kind: 1 as const, family: 7, stream: 1 },
    ]),
    layers.flatMap((layer) => [
      { start: layer * 5000, duration: 4000, kind: HostKind.Python, name: 'model/layer.py(29): forward' },
      { start: layer * 5000 + 100, duration: 2000, name: 'aten::mul' },
      { start: layer * 5000 + 200, duration: 100, name: 'launch', kind: HostKind.Runtime },
    ]),
    [{ name: 'ProfilerStep#1', number: 1, startNs: 0, durationNs: 30_000, source: 'profiler' }],
  );
}

interface Model {
  readonly viewport: { readonly from: number; readonly to: number };
  readonly selection?: { readonly name: string; readonly index: number; readonly lane: string };
  readonly measure?: { readonly from: number; readonly to: number };
}

describe('timeline view', function () {
  this.timeout(60_000);
  let harness: Harness;
  let page: Page;

  before(async function () {
    if (!canRun()) {
      console.log('      no Chromium here; to run these tests: apt-get install chromium (or set CHROMIUM)');
      this.skip();
    }
    harness = await startHarness(subjectOf(smallRank()));
  });
  beforeEach(async () => {
    page = await harness.open({ width: 1200, height: 800 });
    await page.waitForSelector('.lanes-canvas');
    await waitUntil(page, 'fuselensTimeline.windows.newest !== undefined');
  });
  afterEach(() => page?.close());
  after(() => harness?.close());

  const model = (): Promise<Model> => page.evaluate<Model>('(({viewport, selection, measure}) => ({viewport, selection, measure}))(fuselensTimeline.model)');
  const messages = (): Promise<FromWebview[]> => page.evaluate<FromWebview[]>('harness.messages');
  const text = async (selector: string): Promise<string> => (await page.locator(selector).innerText()).replace(/\s+/g, ' ');
  const settle = (): Promise<void> => page.waitForTimeout(150);

  /** Screen position of a time on a lane. */
  async function at(lane: string, timeNs: number): Promise<{ x: number; y: number }> {
    const canvas = await page.locator('.lanes-canvas').boundingBox();
    const label = await page.locator(`[data-lane="${lane}"]`).boundingBox();
    assert.ok(canvas !== null && label !== null);
    const { from, to } = (await model()).viewport;
    return { x: canvas.x + ((timeNs - from) / (to - from)) * canvas.width, y: label.y + 8 };
  }
  async function click(lane: string, timeNs: number, options: { readonly count?: number } = {}): Promise<void> {
    const { x, y } = await at(lane, timeNs);
    await page.mouse.click(x, y, { clickCount: options.count ?? 1 });
    await settle();
  }

  it('says ready before anything else, and fetches 3× the viewport at most', async () => {
    const sent = await messages();
    assert.equal(sent[0].kind, 'ready');
    assert.ok(sent.every((message) => message.kind !== 'call' || message.method !== 'timelineWindow' || (message.params as { pixels: number }).pixels <= 3 * 1200));
  });

  it('selects on click, tells a screen reader, and opens the source on double-click', async () => {
    await click('compute', 10_500);
    const details = await text('#panel-selection');
    for (const part of ['aclnnMul_MulAiCore_Mul', 'Elementwise', '4096,128', 'launch', 'aten::mul', 'model/layer.py(29): forward', '10.000 µs', '1.000 µs']) {
      assert.ok(details.includes(part), `${part} in ${details}`);
    }
    assert.match(await page.locator('[aria-live]').innerText(), /aclnnMul_MulAiCore_Mul, 1\.000 µs, at 10\.00 µs, Stream 7, Elementwise/);
    await click('compute', 15_500, { count: 2 });
    assert.deepEqual((await messages()).filter(({ kind }) => kind === 'openSource'), [{ kind: 'openSource', file: 'model/layer.py', line: 29 }]);
  });

  it('walks lanes and events by keyboard without trapping Tab', async () => {
    await page.locator('.lanes-canvas').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await settle();
    const first = (await model()).selection;
    assert.equal(first?.lane, 'compute');
    await page.keyboard.press('ArrowRight');
    await settle();
    const second = (await model()).selection;
    assert.notEqual(second?.name, first?.name);
    await page.keyboard.press(']');
    await settle();
    const third = (await model()).selection;
    assert.equal(third?.name, second?.name);
    assert.ok((third?.index ?? 0) > (second?.index ?? 0));
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
    }
    assert.notEqual(await page.evaluate('document.activeElement.className'), 'lanes-canvas');
  });

  it('zooms at the pointer, undoes with Backspace, fits with F', async () => {
    const before = (await model()).viewport;
    const { x, y } = await at('compute', 15_000);
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, -400);
    await settle();
    const zoomed = (await model()).viewport;
    assert.ok(zoomed.to - zoomed.from < (before.to - before.from) * 0.7);
    assert.ok(Math.abs((await at('compute', 15_000)).x - x) < 1.5, 'the time under the pointer stays there');
    await page.keyboard.press('Backspace');
    await settle();
    assert.deepEqual((await model()).viewport, before);
    await click('compute', 10_500);
    await page.keyboard.press('f');
    await settle();
    const fitted = (await model()).viewport;
    assert.ok(fitted.from < 10_000 && fitted.to > 11_000 && fitted.to - fitted.from < 2500);
  });

  it('measures between edges, to the nanosecond', async () => {
    await page.keyboard.press('m');
    const [a, b] = [await at('compute', 11_000), await at('compute', 11_500)];
    await page.mouse.click(a.x + 2, a.y);
    await page.mouse.click(b.x - 2, b.y);
    await settle();
    const { measure } = await model();
    assert.deepEqual([measure?.from, measure?.to], [11_000, 11_500]);
    await page.keyboard.press('Escape');
    await click('compute', 10_500);
    await page.locator('.lanes-canvas').focus();
    for (const key of ['m', 'Enter', ']', 'Enter']) {
      await page.keyboard.press(key);
      await settle();
    }
    const byKeys = (await model()).measure;
    assert.deepEqual([byKeys?.from, byKeys?.to], [11_000, 15_000], 'the gap between two kernels, without a pointer');
  });

  it('totals an area, union and sum apart', async () => {
    const [a, b] = [await at('compute', 9500), await at('communication', 14_000)];
    await page.mouse.move(a.x, a.y);
    await page.keyboard.down('Shift');
    await page.mouse.down();
    await page.mouse.move(b.x, b.y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await settle();
    const area = await text('#panel-area');
    assert.ok(area.includes('Events 3 '), area);
    assert.ok(area.includes('Busy (union) 3.200 µs'), area);
    assert.ok(area.includes('Kernel time (sum) 4.400 µs'), area);
    await page.keyboard.press('r');
    await settle();
    const all = await text('#panel-area');
    assert.ok(all.includes('Events 12 '), `all kernels, each once though two lanes show it: ${all}`);
  });

  it('searches, and goes from hit to hit', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('allreduce');
    await page.waitForSelector('.hit');
    assert.equal(await page.locator('.hit').count(), 4);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await settle();
    assert.equal((await model()).selection?.name, 'hcom_allReduce_');
    assert.equal(await page.locator('.hit').nth(1).getAttribute('aria-selected'), 'true');
  });

  it('filters by family, hides and pins lanes, shows a table, and keeps its state', async () => {
    await page.locator('.chip', { hasText: 'Glue' }).click();
    await waitUntil(page, 'fuselensTimeline.windows.newest.data.hiddenFamilies.length === 1');
    await click('communication', 11_000);
    await page.keyboard.press('p');
    await click('other', 11_000);
    await page.keyboard.press('h');
    await page.keyboard.press('t');
    await page.waitForTimeout(700);
    assert.equal(await page.locator('[data-lane="other"]').count(), 0);
    const table = await text('#panel-table');
    assert.ok(table.includes('hcom_allReduce_') && !table.includes('Cast'), table);
    const state = await page.evaluate<{ rank: string; detail: { pinned: string[] } }>('harness.state');
    assert.ok(JSON.stringify(state).length < 16 * 1024);
    const subject = subjectOf(smallRank());
    const again = await startHarness({ ...subject, state: { ...subject.state, detail: state.detail } });
    try {
      const restored = await again.open({ width: 1200, height: 800 });
      await restored.waitForSelector('.lanes-canvas');
      const lanes = await restored.locator('.lane-label').evaluateAll((labels) => labels.map((label) => label.getAttribute('data-lane')));
      assert.equal(lanes[0], 'communication');
      assert.ok(!lanes.includes('other'));
      assert.equal(await restored.locator('.chip', { hasText: 'Glue' }).getAttribute('aria-pressed'), 'false');
    } finally {
      await again.close();
    }
  });

  it('speaks Chinese, names its parts, and redraws when the theme changes', async () => {
    const other = await harness.open({ language: 'zh-cn', bundle: chinese, theme: 'hc-dark' });
    await other.waitForSelector('.lanes-canvas');
    assert.equal(await other.locator('[data-lane="compute"] .lane-name').innerText(), chinese.Compute);
    assert.equal(await other.locator('.lanes-canvas').getAttribute('role'), 'application');
    const unnamed = await other.locator('button, vscode-button, input, select, canvas').evaluateAll((all) => all.filter((one) => (one.getAttribute('aria-label') ?? one.textContent ?? '').trim() === '' && one.closest('label') === null).length);
    assert.equal(unnamed, 0);
    const before = await other.locator('.lanes-canvas').screenshot();
    await other.evaluate("document.body.className = 'vscode-light'; document.documentElement.style.setProperty('--vscode-editor-background', '#ffffff')");
    await other.waitForTimeout(200);
    assert.notDeepEqual(await other.locator('.lanes-canvas').screenshot(), before);
    await other.close();
  });

  it('opens in the language of the host, and can be told to stop', async () => {
    await page.evaluate((bundle) => { window.postMessage({ kind: 'opening', name: 'again', language: 'zh-cn', bundle }); }, chinese);
    await page.getByText(chinese['Opening {name}'].replace('{name}', 'again')).waitFor();
    await page.getByText(chinese.Cancel, { exact: true }).click();
    assert.deepEqual((await messages()).at(-1), { kind: 'cancel', id: 0 });
  });
});
