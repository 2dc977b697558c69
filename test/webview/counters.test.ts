import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { CounterSeries, RankData } from '../../src/engine/profile/columns';
import { rankOf } from '../engine/timeline/generatedRank';
import { hasSharedData, sharedPath } from '../sharedData';
import { readOnly } from '../engine/readers/ascendSupport';
import { canRun, startHarness, subjectOf, waitUntil, type Harness } from './harness';
import { THEMES } from './themes';

const series = (group: string, name: string, unit: string, points: readonly (readonly [number, number])[]): CounterSeries => ({
  group, name, unit, timeNs: Float64Array.from(points, ([time]) => time), value: Float64Array.from(points, ([, value]) => value),
});

/** A kernel, and counters: steps with a gap, one value alone, and one whose values are a million times denser than pixels. */
function rankWithCounters(): RankData {
  const dense = Array.from({ length: 50_000 }, (_, i): readonly [number, number] => [i * 20, i === 25_000 ? 900 : i % 7]);
  return {
    ...rankOf([{ start: 0, duration: 400_000 }, { start: 600_000, duration: 400_000 }]),
    counters: [
      series('Freq', 'Freq', 'MHz', [[100_000, 1800], [300_001, 900], [500_000, NaN], [700_000, 1200], [800_000, 1000]]), series('HBM', 'HBM 0/Read', 'MB/s', [[250_000, 42.5]]),
      series('PMU', 'PMU', '', dense), series('NPU', 'NPU', 'B', [[0, 2_212_077_568], [900_000, 2_300_000_000]]),
    ],
  };
}

describe('timeline view: counters', function () {
  this.timeout(60_000);
  let harness: Harness;
  let page: Page;

  before(async function () {
    if (!canRun()) {
      console.log('      no Chromium here; to run these tests: apt-get install chromium (or set CHROMIUM)');
      this.skip();
    }
    harness = await startHarness(subjectOf(rankWithCounters()));
  });
  beforeEach(async () => {
    page = await harness.open({ width: 1200, height: 800 });
    await page.waitForSelector('.lanes-canvas');
    await waitUntil(page, 'fuselensTimeline.windows.newest !== undefined');
  });
  afterEach(() => page?.close());
  after(() => harness?.close());

  const open = async (): Promise<void> => {
    await page.click('[data-focus-key="fold:counters"]');
    await waitUntil(page, 'fuselensTimeline.counters.columns("counter:2", 0, 1e6) !== undefined');
    await page.waitForTimeout(150);
  };
  const text = async (selector: string): Promise<string> => (await page.locator(selector).innerText()).replace(/\s+/g, ' ');

  async function at(lane: string, timeNs: number): Promise<{ x: number; y: number }> {
    const canvas = await page.locator('.lanes-canvas').boundingBox();
    const label = await page.locator(`[data-lane="${lane}"]`).boundingBox();
    assert.ok(canvas !== null && label !== null);
    const { from, to } = await page.evaluate<{ from: number; to: number }>('fuselensTimeline.model.viewport');
    return { x: canvas.x + ((timeNs - from) / (to - from)) * canvas.width, y: label.y + label.height / 2 };
  }
  async function hover(lane: string, timeNs: number): Promise<string> {
    const { x, y } = await at(lane, timeNs);
    await page.mouse.move(x, y);
    return (await page.locator('.hover-tip').isVisible()) ? text('.hover-tip') : '';
  }

  /** Where a lane has ink in a column of pixels, from its top: `[first, last]` in CSS pixels; undefined for none. */
  async function ink(lane: string, timeNs: number): Promise<readonly [number, number] | undefined> {
    const { x } = await at(lane, timeNs);
    return page.evaluate<readonly [number, number] | undefined>(`(() => {
      const canvas = document.querySelector('.lanes-canvas'), box = canvas.getBoundingClientRect(), ratio = canvas.width / box.width;
      const label = document.querySelector('[data-lane="${lane}"]').getBoundingClientRect();
      const context = canvas.getContext('2d'), at = (y) => [...context.getImageData(Math.round((${x} - box.left) * ratio), Math.round(y * ratio), 1, 1).data];
      const top = label.top - box.top, rows = [];
      // The counter's colour is bluer than the grey of a lane.
      for (let y = 0; y < label.height; y++) { const [r, g, b] = at(top + y); if (b - r > 15) { rows.push(y); } }
      return rows.length === 0 ? undefined : [rows[0], rows[rows.length - 1]];
    })()`);
  }

  it('are one folded group that opens into a lane each, and stays open', async () => {
    assert.equal(await page.locator('[data-lane^="counter:"]').count(), 0);
    assert.match(await text('[data-lane="counters"]'), /Counters ×4/);
    await open();
    assert.deepEqual(await page.locator('[data-lane^="counter:"]').evaluateAll((labels) => labels.map((label) => label.textContent)), ['Freq', 'HBM 0/Read', 'PMU', 'NPU']);
    assert.equal(await page.evaluate('fuselensTimeline.model.save().open.join()'), 'counters');
    // Far from all counts of pixels: what came is bounded by them.
    assert.ok(await page.evaluate<number>('fuselensTimeline.counters.columns("counter:2", 0, 1e6).data.count.length') < 2600);
  });

  it('are drawn on their own scale, empty where nothing is known', async () => {
    await open();
    // 1800 is the highest, 900 the lowest; nothing before the first value, in the gap, or after the last one.
    const [high, low] = [await ink('counter:0', 200_000), await ink('counter:0', 400_000)];
    assert.ok(high !== undefined && low !== undefined && high[0] < low[0] && low[1] - low[0] <= 4, `${String(high)} ${String(low)}`);
    for (const time of [500_500, 600_000, 690_000, 850_000]) {
      assert.equal(await ink('counter:0', time), undefined, `${time}`);
    }
    assert.ok((await ink('counter:0', 750_000)) !== undefined);
    // One value alone is a mark at its time, and no more.
    assert.ok((await ink('counter:1', 250_500)) !== undefined);
    assert.equal(await ink('counter:1', 400_000), undefined);
    // One odd value of 50,000 reaches the top.
    const peak = await ink('counter:2', 500_000);
    const plain = await ink('counter:2', 700_000);
    assert.ok(peak !== undefined && plain !== undefined && peak[0] <= 5 && plain[0] > 20, `${String(peak)} ${String(plain)}`);
  });

  it('say series, value and exact time under the pointer, and that a gap is not known', async () => {
    await open();
    assert.equal(await hover('counter:0', 400_000), 'Freq 900 MHz at 300.001 µs');
    assert.equal(await hover('counter:0', 600_000), 'Freq not known at 500.000 µs');
    assert.equal(await hover('counter:0', 50_000), '');
    assert.equal(await hover('counter:0', 950_000), '');
    assert.equal(await hover('counter:3', 500_000), 'NPU 2.212 GB (2,212,077,568 B) at 0.000 µs');
    assert.match(await hover('counter:2', 700_000), /^PMU \d at [\d.]+ µs \d+ values here, 0 – 6$/);
  });

  it('are reached and read by keyboard, value by value', async () => {
    await page.locator('.lanes-canvas').focus();
    for (let i = 0; i < 20 && (await page.evaluate('fuselensTimeline.model.focusLane')) !== 'counters'; i++) {
      await page.keyboard.press('ArrowDown');
    }
    assert.equal(await text('.visually-hidden[role="status"]'), 'Counters');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await waitUntil(page, 'document.querySelector(".visually-hidden[role=status]").textContent.startsWith("Freq: ")');
    assert.equal(await text('.visually-hidden[role="status"]'), 'Freq: not known, at 500.000 µs, for 200.0 µs');
    await page.keyboard.press('ArrowRight');
    await waitUntil(page, 'document.querySelector(".visually-hidden[role=status]").textContent.includes("1,200")');
    assert.equal(await text('.visually-hidden[role="status"]'), 'Freq: 1,200 MHz, at 700.000 µs, for 100.0 µs');
    assert.match(await text('.panel'), /Value 1,200 MHz Start 700.000 µs Until the next 100.000 µs/);
    await page.keyboard.press('ArrowRight');
    await waitUntil(page, 'document.querySelector(".panel").textContent.includes("1,000")');
    assert.match(await text('.panel'), /Value 1,000 MHz .*the last one; how long it holds is not known/);
  });

  it('are rows of the table twin, and leave the totals alone', async () => {
    await open();
    await page.keyboard.press('t');
    await page.waitForTimeout(500);
    const rows = await page.locator('.panel tbody tr').evaluateAll((list) => list.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
    assert.deepEqual(rows.filter(([lane]) => lane === 'Freq'), [
      ['Freq', '1,800 MHz', '', '100.000 µs', '200.001 µs'], ['Freq', '900 MHz', '', '300.001 µs', '199.999 µs'], ['Freq', 'not known', '', '500.000 µs', '200.000 µs'], ['Freq', '1,200 MHz', '', '700.000 µs', '100.000 µs'], ['Freq', '1,000 MHz', '', '800.000 µs', '–'],
    ]);
    await page.keyboard.press('r');
    await page.waitForSelector('.lane-ticks');
    assert.doesNotMatch(await text('.lane-ticks'), /Freq|Counters/);
  });

  it('of a real profile look the same in every theme', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const { data } = await readOnly(sharedPath('ascend', 'msinsight-alexnet', 'text', 'level1', 'rank0_ascend_pt'));
    const real = await startHarness(subjectOf(data));
    try {
      for (const theme of THEMES) {
        const shot = await real.open({ theme, width: 1300, height: 900 });
        await shot.waitForSelector('[data-focus-key="fold:counters"]');
        await shot.click('[data-focus-key="fold:counters"]');
        await waitUntil(shot, 'fuselensTimeline.counters.loaded.length > 0');
        await shot.evaluate('(() => { const m = fuselensTimeline.model; m.scrollTop = document.querySelector("[data-lane=counters]").offsetTop - 20; m.changed(); })()');
        await shot.waitForTimeout(400);
        assert.ok((await shot.locator('[data-lane^="counter:"], [data-lane^="memory:"]').count()) > 100);
        const folder = process.env['FUSELENS_SHOTS'];
        if (folder !== undefined) {
          writeFileSync(`${folder}/counters-${theme}.png`, await shot.screenshot());
        }
        await shot.close();
      }
    } finally {
      await real.close();
    }
  });
});
