import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TimelineWindow } from '../../src/protocol/timeline';
import { formatEnds, formatNs, shortName, ticks } from '../../webview/timeline/format';
import { TimeWarp } from '../../webview/timeline/timeWarp';
import { WindowStore, type WindowWish } from '../../webview/timeline/windows';
import { Words } from '../../webview/shared/words';

const words = new Words('en', {});

describe('timeline parts', () => {
  it('hide gaps without losing a nanosecond of the rest', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 2, maxLength: 40 }).map((list) => list.sort((a, b) => a - b)).map((list) => Float64Array.from(list.slice(0, list.length & ~1)));
    fc.assert(fc.property(cuts, fc.integer({ min: -100, max: 11_000 }), (pairs, time) => {
      const warp = new TimeWarp(pairs);
      let hidden = 0;
      let inside = false;
      for (let gap = 0; gap < pairs.length; gap += 2) {
        hidden += Math.max(0, Math.min(time, pairs[gap + 1]) - Math.min(time, pairs[gap]));
        inside ||= time > pairs[gap] && time < pairs[gap + 1];
      }
      assert.equal(warp.toDisplay(time), time - hidden);
      if (!inside) {
        // A gap's two ends are one place on the axis.
        const back = warp.toTime(warp.toDisplay(time));
        assert.equal(warp.toDisplay(back), warp.toDisplay(time));
      }
    }), { seed: 20261129, numRuns: 500 });
    assert.equal(new TimeWarp().toDisplay(123), 123);
  });

  it('write times with their unit, and ticks that can be told apart at any zoom', () => {
    assert.deepEqual([0, 850, 32_000, 1_234_567, 302_600_000, 3_083_000_000, NaN, null].map((ns) => formatNs(words, ns)), ['0 ns', '850 ns', '32.00 µs', '1.235 ms', '302.6 ms', '3.083 s', '–', '–']);
    assert.deepEqual(formatEnds(words, 1_741_500_000, 1_742_500_000), ['1,741.500 ms', '1,742.500 ms']);
    fc.assert(fc.property(fc.double({ min: 0, max: 1e13, noNaN: true }), fc.double({ min: 2, max: 11, noNaN: true }), (from, power) => {
      const labels = ticks(words, from, from + 10 ** power, 1200).map(({ label }) => label);
      assert.ok(labels.length >= 3 && labels.length <= 30, labels.join());
      assert.equal(new Set(labels).size, labels.length, labels.join());
      assert.ok(labels.every((label) => /(ns|µs|ms|s)$/.test(label)), labels.join());
    }), { seed: 20261129, numRuns: 500 });
  });

  it('shorten kernel names to what tells them apart', () => {
    assert.equal(shortName('aclnnAdds_AddAiCore_Add'), 'Adds');
    assert.equal(shortName('void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)'), 'vectorized_elementwise_kernel');
    assert.equal(shortName('model/layer.py(29): forward'), 'forward');
    assert.equal(shortName('hcom_allReduce__128_1'), 'hcom_allReduce__128_1');
    assert.equal(shortName('aten::mul'), 'mul');
  });

  it('ask for one window at a time, keep the old one, and ask again for what is wanted by then', async () => {
    const asked: WindowWish[] = [];
    const answers: ((window: TimelineWindow) => void)[] = [];
    const store = new WindowStore((wish) => {
      asked.push(wish);
      return new Promise((resolve) => answers.push(resolve));
    }, () => undefined, (error) => assert.fail(String(error)));
    const extent = { startNs: 0, endNs: 1e9 };
    const wish = (startNs: number, endNs: number): WindowWish => ({ startNs, endNs, pixels: 1000, lanes: [{ id: 'compute', from: 0, to: 1 }], hiddenFamilies: [] });
    const window = ({ startNs, endNs, lanes, hiddenFamilies }: WindowWish): TimelineWindow => ({
      requestId: 0, startNs, endNs, nsPerBin: 1024, lanes, hiddenFamilies, rows: Uint32Array.of(0, 0, 0, 0), names: [], nameIds: new Uint32Array(0),
      events: { baseNs: 0, start: new Uint32Array(0), duration: new Uint32Array(0), index: new Uint32Array(0), name: new Uint16Array(0), family: new Uint8Array(0) },
      bins: { segments: new Uint32Array(0), busy: new Uint8Array(0), family: new Uint8Array(0), count: new Uint16Array(0) },
    });
    store.want(wish(1e8, 2e8), extent);
    store.want(wish(3e8, 4e8), extent);
    store.want(wish(5e8, 6e8), extent);
    assert.deepEqual(asked.map(({ startNs, endNs, pixels }) => [startNs, endNs, pixels]), [[0, 3e8, 3000]], 'three times the viewport, cut at the recording');
    answers[0](window(asked[0]));
    await Promise.resolve();
    await Promise.resolve();
    store.want(wish(5e8, 6e8), extent);
    assert.equal(asked[1].startNs, 4e8, 'what was wanted in between is never asked for');
    assert.equal(store.forRow('compute/0', 1e8, 2e8).length, 1, 'the old window stays drawable');
    answers[1](window(asked[1]));
    await Promise.resolve();
    await Promise.resolve();
    store.want(wish(5.1e8, 6.1e8), extent);
    assert.equal(asked.length, 2, 'a small move is served by what is there');
  });
});
