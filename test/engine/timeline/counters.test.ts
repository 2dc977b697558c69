import assert from 'node:assert/strict';
import type { CounterSeries, MemorySeries, RankData } from '../../../src/engine/profile/columns';
import { counterIndex } from '../../../src/engine/timeline/counterLanes';
import { timelineCounters } from '../../../src/engine/timeline/counterWindow';
import { eventDetail } from '../../../src/engine/timeline/eventDetail';
import { flow } from '../../../src/engine/timeline/flow';
import { timelineLayout } from '../../../src/engine/timeline/layout';
import { nearest, neighbour } from '../../../src/engine/timeline/neighbour';
import { randomFrom, rankOf } from './generatedRank';

const series = (group: string, name: string, points: readonly (readonly [number, number])[], unit = ''): CounterSeries => ({
  group, name, unit, timeNs: Float64Array.from(points, ([time]) => time), value: Float64Array.from(points, ([, value]) => value),
});

function rankWith(counters: readonly CounterSeries[], memory: readonly MemorySeries[] = []): RankData {
  return { ...rankOf([{ start: 0, duration: 1000 }, { start: 9_000_000, duration: 1_000_000 }]), counters, memory };
}

/** Values at random times, some equal, some unknown. */
function randomSeries(seed: number, count: number, endNs: number): CounterSeries {
  const random = randomFrom(seed);
  const times = Array.from({ length: count }, () => Math.floor(random() * endNs)).sort((a, b) => a - b);
  return series('g', `n${seed}`, times.map((time) => [time, random() < 0.05 ? NaN : Math.round(random() * 1e6) / 10]));
}

describe('timeline: counters', () => {
  it('are lanes of a group of their own, small groups first, with unit and what lies outside', () => {
    const rank = rankWith([
      series('PMU', 'PMU a', [[5, 1]]), series('PMU', 'b', [[5, 1]]), series('Freq', 'Freq', [[-50, 1800], [10, 900], [20_000_000, 1]], 'MHz'),
    ], [{ component: 'APP', device: 'NPU:0', timeNs: Float64Array.of(30, 10, NaN, 20), allocatedBytes: new Float64Array(4).fill(NaN), reservedBytes: Float64Array.of(3, 1, 9, 2), activeBytes: new Float64Array(4).fill(NaN) }]);
    const lanes = timelineLayout(rank, undefined).lanes.filter(({ side }) => side === 'counter');
    assert.deepEqual(lanes.map(({ id, kind, label, unit, measure, events, outside }) => [id, kind, label, unit, measure, events, outside]), [
      ['counters', 'counters', '', undefined, undefined, 4, undefined], ['memory:0:reserved', 'counter', 'APP', 'B', 'reserved', 3, 0],
      ['counter:2', 'counter', 'Freq', 'MHz', undefined, 3, 2], ['counter:0', 'counter', 'PMU a', '', undefined, 1, 0], ['counter:1', 'counter', 'PMU · b', '', undefined, 1, 0],
    ]);
    // Memory records come in any order; a time that is not known has no place.
    assert.deepEqual([...(counterIndex(rank).byId.get('memory:0:reserved')?.value ?? [])], [1, 2, 3]);
    assert.equal(timelineLayout(rankOf([{ start: 0, duration: 1 }]), undefined).lanes.some(({ side }) => side === 'counter'), false);
  });

  it('are the recording where there is nothing else', () => {
    const { originNs, spanNs } = timelineLayout({ ...rankOf([]), counters: [series('', 'a', [[100, 1], [600, 2]])] }, undefined);
    assert.deepEqual([originNs, spanNs], [100, 500]);
  });

  it('come as a plain scan of all values finds them, at any zoom, in any mix of lanes', () => {
    const seed = 20261130;
    const random = randomFrom(seed);
    const endNs = 10_000_000;
    // One long enough for levels, and enough of them that the message must coarsen.
    const all = [randomSeries(1, 40_000, endNs), randomSeries(2, 700, endNs), randomSeries(3, 3, endNs), randomSeries(4, 30_000, endNs), series('g', 'none', []), randomSeries(5, 20_000, 300)];
    const rank = rankWith(all);
    for (let round = 0; round < 150; round++) {
      const startNs = round === 0 ? 0 : Math.floor((random() * 1.2 - 0.1) * endNs);
      const width = round === 0 ? endNs : Math.ceil(endNs * 10 ** (-random() * 6));
      const pixels = round === 0 ? 5000 : 1 + Math.floor(random() * 3000);
      const picked = all.map((_, i) => i).filter((i) => round === 0 || random() < 0.7 || i === 5);
      const answer = timelineCounters(rank, { rank: '', requestId: round, lanes: [...picked.map((i) => `counter:${i}`), 'nothing'], startNs, endNs: startNs + width, pixels });
      assert.deepEqual(answer.lanes, picked.map((i) => `counter:${i}`));
      const asked = 2 ** Math.max(0, Math.ceil(Math.log2(width / pixels)));
      assert.ok(round > 0 || answer.nsPerBin.some((ns) => ns > asked), 'the first round must not fit');
      const columns = answer.count.length;
      assert.ok(columns * 36 + answer.first.byteLength + answer.nsPerBin.byteLength * 2 < 256 * 1024, `${columns}`);
      picked.forEach((number, lane) => check(all[number], answer, lane, pixels, `seed ${seed} round ${round} lane ${lane}`));
    }
  });

  function check({ timeNs, value }: CounterSeries, answer: ReturnType<typeof timelineCounters>, lane: number, pixels: number, where: string): void {
    const { startNs, endNs, first, nsPerBin, untilNs } = answer;
    // Oracle: the value from before, then values bin by bin.
    const bins: { timeNs: number; value: number; low: number; high: number; count: number; bin: number }[] = [];
    let before: { timeNs: number; value: number } | undefined;
    let after = NaN;
    for (let i = 0; i < timeNs.length; i++) {
      const [time, one] = [timeNs[i], value[i]];
      if (time < startNs) {
        before = { timeNs: time, value: one };
      } else if (time <= endNs) {
        const bin = Math.floor(time / nsPerBin[lane]);
        const last = bins[bins.length - 1];
        if (last?.bin === bin) {
          Object.assign(last, { timeNs: time, value: one, low: Number.isNaN(last.low) ? one : Math.min(last.low, Number.isNaN(one) ? Infinity : one), high: Number.isNaN(last.high) ? one : Math.max(last.high, Number.isNaN(one) ? -Infinity : one), count: last.count + 1 });
        } else {
          bins.push({ timeNs: time, value: one, low: one, high: one, count: 1, bin });
        }
      } else if (Number.isNaN(after)) {
        after = time;
      }
    }
    // A value exactly at the start hides the one before.
    const held = before !== undefined && timeNs.includes(startNs) ? undefined : before;
    const expected = [...(held === undefined ? [] : [[held.timeNs, held.value, held.value, held.value, 1]]), ...startingAt(bins, timeNs, value, startNs).map((bin) => [bin.timeNs, bin.value, bin.low, bin.high, bin.count])];
    const actual = Array.from({ length: first[lane + 1] - first[lane] }, (_, i) => first[lane] + i).map((at) => [answer.timeNs[at], answer.value[at], answer.low[at], answer.high[at], answer.count[at]]);
    assert.deepEqual(actual, expected, where);
    assert.ok(Object.is(untilNs[lane], Number.isNaN(after) ? timeNs[timeNs.length - 1] ?? NaN : after), where);
    assert.ok(actual.length <= Math.max(pixels + 2, 3), `${where}: ${actual.length} columns for ${pixels} pixels`);
  }

  /** Of several values exactly at the start only the last one holds: the columns begin with it. */
  function startingAt<T extends { timeNs: number; value: number; low: number; high: number; count: number; bin: number }>(bins: readonly T[], timeNs: Float64Array, value: Float64Array, startNs: number): readonly T[] {
    const same = timeNs.filter((time) => time === startNs).length;
    if (same < 2) {
      return bins;
    }
    const from = timeNs.lastIndexOf(startNs);
    const [head, ...rest] = bins;
    const inBin = [...value.subarray(from, from + head.count - same + 1)];
    const known = inBin.filter((one) => !Number.isNaN(one));
    return [{ ...head, low: known.length === 0 ? NaN : Math.min(...known), high: known.length === 0 ? NaN : Math.max(...known), count: head.count - same + 1 }, ...rest];
  }

  it('answer as events: the value that holds, the next, its exact time and how long it lasts', async () => {
    const rank = rankWith([series('', 'a', [[10, 5], [20, NaN], [31, 7]], 'MHz')]);
    const place = nearest(rank, { rank: '', lane: 'counter:0', timeNs: 19 });
    assert.deepEqual(place, { side: 'counter', index: 0, startNs: 10, durationNs: 10, name: 'a', lane: 'counter:0', row: 0 });
    assert.equal(nearest(rank, { rank: '', lane: 'counter:0', timeNs: -5 })?.index, 0);
    assert.equal(nearest(rank, { rank: '', lane: 'counter:0', timeNs: 1e9 })?.index, 2);
    assert.equal(nearest(rank, { rank: '', lane: 'counters', timeNs: 0 }), null);
    const from = { side: 'counter', index: 1 } as const;
    assert.equal(neighbour(rank, { rank: '', from, direction: 1, by: 'row', lane: 'counter:0' })?.startNs, 31);
    assert.equal(neighbour(rank, { rank: '', from: { side: 'counter', index: 2 }, direction: 1, by: 'row', lane: 'counter:0' }), null);
    assert.deepEqual([await eventDetail(rank, { ...from, lane: 'counter:0' })].map((detail) => [detail?.kind, detail?.value, detail?.unit, detail?.startNs, detail?.durationNs]), [['counter', NaN, 'MHz', 20, 11]]);
    assert.equal(Number.isNaN((await eventDetail(rank, { side: 'counter', index: 2, lane: 'counter:0' }))?.durationNs), true);
    assert.equal(await eventDetail(rank, { side: 'counter', index: 3, lane: 'counter:0' }), null);
    assert.equal(await eventDetail(rank, from), null);
    assert.equal(flow(rank, from).total, 0);
  });
});
