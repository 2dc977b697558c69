import assert from 'node:assert/strict';
import fc from 'fast-check';
import { assignFamilies } from '../../../src/engine/analysis/families';
import { compareWindow } from '../../../src/engine/compare/compareWindow';
import { rankOf, type EventSpec } from '../analysis/rankBuilder';

const NAMES = ['ampere_sgemm_64x64_nn', 'softmax_warp_forward', 'mystery'];
/** One stream, one kernel after the other. */
const kernels = fc.array(fc.record({ name: fc.constantFrom(...NAMES), ns: fc.integer({ min: 10, max: 5000 }), gap: fc.integer({ min: 0, max: 500 }) }), { minLength: 1, maxLength: 60 })
  .map((list) => {
    let at = 0;
    return list.map(({ name, ns, gap }): EventSpec & { readonly start: number; readonly duration: number } => {
      const event = { name, start: at, duration: ns };
      at += ns + gap;
      return event;
    });
  });

const focusOn = (...operators: readonly string[]): { readonly chains: readonly string[]; readonly operators: readonly string[]; readonly phase: null } => ({ chains: [], operators, phase: null });

describe('a window of a comparison', () => {
  const open = (events: readonly EventSpec[], operators: readonly string[], widthNs: number, place: number | null = null): ReturnType<typeof compareWindow> => {
    const data = rankOf({ events });
    assignFamilies(data);
    return compareWindow(data, { rank: '', step: null, focus: focusOn(...operators), widthNs, place }, undefined);
  };

  it('lies where the focus has most time, counts what starts in it and brackets the focus', () => {
    fc.assert(fc.property(kernels, fc.integer({ min: 1000, max: 20_000 }), (events, widthNs) => {
      const window = open(events, ['mystery'], widthNs);
      const end = window.startNs + widthNs;
      const started = events.filter(({ start }) => start >= window.startNs && start < end);
      const focus = started.filter(({ name }) => name === 'mystery');
      assert.equal(window.count, started.length);
      assert.equal(window.focusCount, focus.length);
      assert.equal(window.focusNs, focus.reduce((sum, { duration }) => sum + duration, 0));
      assert.equal(window.brackets.reduce((sum, { kernels: count }) => sum + count, 0), focus.length);
      assert.equal(window.brackets.reduce((sum, { totalNs }) => sum + totalNs, 0), window.focusNs);
      // No start of a focus kernel gives a window with more whole focus time.
      const whole = (from: number): number => events.filter(({ name, start, duration }) => name === 'mystery' && start >= from && start + duration <= from + widthNs * 0.97).reduce((sum, { duration }) => sum + duration, 0);
      const best = Math.max(0, ...events.filter(({ name }) => name === 'mystery').map(({ start }) => whole(start)));
      if (focus.length > 0) {
        assert.ok(whole(window.startNs + widthNs * 0.03) >= best - 1e-6, `${whole(window.startNs + widthNs * 0.03)} where ${best} was to be had`);
      }
    }), { seed: 20261130, numRuns: 300 });
  });

  it('has idle time exactly where no compute kernel runs, inside the span', () => {
    fc.assert(fc.property(kernels, fc.integer({ min: 1000, max: 20_000 }), (events, widthNs) => {
      const window = open(events, ['mystery'], widthNs);
      const [first, last] = [events[0].start, events[events.length - 1].start + events[events.length - 1].duration];
      const [from, to] = [Math.max(first, window.startNs), Math.min(last, window.startNs + widthNs)];
      const busy = events.reduce((sum, { start, duration }) => sum + Math.max(0, Math.min(to, start + duration) - Math.max(from, start)), 0);
      assert.ok(Math.abs(window.idleNs - Math.max(0, to - from - busy)) < 1e-6);
    }), { seed: 20261130, numRuns: 300 });
  });

  it('goes to the same place of the step where the focus is gone, and to the nearest focus where it is there', () => {
    const step = Array.from({ length: 40 }, (_, i): EventSpec => ({ name: i % 4 === 0 ? 'ampere_sgemm_64x64_nn' : i % 4 === 1 ? 'mystery' : 'softmax_warp_forward', start: i * 1000, duration: 900 }));
    const lead = open(step, ['mystery'], 4000, null);
    assert.ok(lead.place !== null);
    const gone = open(step.filter(({ name }) => name !== 'mystery'), [], 4000, 0.5);
    assert.equal(gone.focusCount, 0);
    assert.ok(Math.abs((gone.place ?? NaN) - 0.5) < 0.11, String(gone.place));
    const near = open(step, ['mystery'], 4000, 0.5);
    assert.ok(Math.abs((near.place ?? NaN) - 0.5) < 0.11, String(near.place));
    assert.ok(near.focusCount > 0);
  });

  it('is empty, not broken, for a rank without kernels', () => {
    const window = open([], ['mystery'], 1000);
    assert.deepEqual([window.count, window.kernels.length, window.brackets.length, window.place], [0, 0, 0, null]);
  });
});
