import assert from 'node:assert/strict';
import type { RankData } from '../../../src/engine/profile/columns';
import type { TimelineWindow } from '../../../src/protocol/timeline';
import { timelineLayout } from '../../../src/engine/timeline/layout';
import { timelinePyramid } from '../../../src/engine/timeline/pyramid';
import { timelineIndex } from '../../../src/engine/timeline/timelineIndex';
import { timelineWindow } from '../../../src/engine/timeline/window';
import { largeRank, oddRank, randomFrom, rankOf } from './generatedRank';

interface Cell {
  busyNs: number;
  count: number;
  byFamily: Map<number, number>;
}

/** What a lane row must show, the slow and obvious way. */
function oracle(rank: RankData, laneId: string, row: number, window: TimelineWindow): { events: number[]; bins: Map<number, Cell> } {
  const lane = timelineIndex(rank).laneById.get(laneId);
  assert.ok(lane);
  const events: number[] = [];
  const bins = new Map<number, Cell>();
  const cell = (bin: number): Cell => {
    const known = bins.get(bin) ?? { busyNs: 0, count: 0, byFamily: new Map<number, number>() };
    bins.set(bin, known);
    return known;
  };
  for (let position = lane.rowStart[row]; position < lane.rowStart[row + 1]; position++) {
    const event = lane.order[position];
    const start = lane.table.startNs[event];
    const duration = lane.table.durationNs[event] > 0 ? lane.table.durationNs[event] : 0;
    const family = lane.table.colour[event];
    if (window.hiddenFamilies.includes(family)) {
      continue;
    }
    if (duration > window.nsPerBin) {
      if (start < window.endNs && start + duration > window.startNs) {
        events.push(event);
      }
      continue;
    }
    const count = (window.endNs - window.startNs) / window.nsPerBin;
    for (let bin = Math.max(0, Math.floor((start - window.startNs) / window.nsPerBin)); bin < count; bin++) {
      const from = window.startNs + bin * window.nsPerBin;
      if (from > start + duration) {
        break;
      }
      const inside = Math.min(start + duration, from + window.nsPerBin) - Math.max(start, from);
      const starts = start >= from && start < from + window.nsPerBin;
      if (inside > 0 || starts) {
        const target = cell(bin);
        target.busyNs += Math.max(0, inside);
        target.count += starts ? 1 : 0;
        target.byFamily.set(family, (target.byFamily.get(family) ?? 0) + Math.max(0, inside));
      }
    }
  }
  return { events, bins };
}

function check(rank: RankData, window: TimelineWindow): void {
  let eventAt = 0;
  let segmentAt = 0;
  let binAt = 0;
  for (let r = 0; r < window.rows.length; r += 4) {
    const [lanePosition, row, events, segments] = window.rows.slice(r, r + 4);
    const id = window.lanes[lanePosition].id;
    const lane = timelineIndex(rank).laneById.get(id);
    assert.ok(lane);
    const expected = oracle(rank, id, row, window);
    const where = `${id} row ${row} at ${window.nsPerBin} ns`;
    assert.deepEqual([...window.events.index.slice(eventAt, eventAt + events)], expected.events, where);
    for (let i = eventAt; i < eventAt + events; i++) {
      const event = window.events.index[i];
      assert.equal(window.events.start[i] + window.events.baseNs, lane.table.startNs[event]);
      assert.equal(window.events.duration[i], lane.table.durationNs[event]);
      assert.equal(window.events.family[i], lane.table.colour[event]);
      assert.equal(window.names[window.events.name[i]] ?? '', lane.table.nameOf(event).slice(0, 96));
    }
    eventAt += events;
    const seen = new Set<number>();
    for (let s = 0; s < segments; s++, segmentAt++) {
      const first = window.bins.segments[2 * segmentAt];
      for (let bin = first; bin < first + window.bins.segments[2 * segmentAt + 1]; bin++, binAt++) {
        const target = expected.bins.get(bin);
        assert.equal(window.bins.count[binAt], target?.count ?? 0, `${where} bin ${bin}`);
        const share = target === undefined ? 0 : Math.max(1, Math.min(255, (target.busyNs / window.nsPerBin) * 255));
        assert.ok(Math.abs(window.bins.busy[binAt] - share) <= 0.51, `${where} bin ${bin}: ${window.bins.busy[binAt]} for ${share}`);
        if (target !== undefined) {
          const most = Math.max(...target.byFamily.values());
          assert.ok((target.byFamily.get(window.bins.family[binAt]) ?? -1) >= most * 0.999 - 1, `${where} bin ${bin}: family`);
          seen.add(bin);
        }
      }
    }
    assert.equal(seen.size, expected.bins.size, `${where}: bins left out`);
  }
  assert.equal(eventAt, window.events.index.length);
  assert.equal(binAt, window.bins.busy.length);
}

function bytes(window: TimelineWindow): number {
  const arrays = [window.rows, window.nameIds, ...Object.values(window.events), ...Object.values(window.bins)];
  return arrays.reduce<number>((sum, array) => sum + (ArrayBuffer.isView(array) ? array.byteLength : 0), 0) + window.names.reduce((sum, name) => sum + name.length * 2, 0);
}

const allLanes = (rank: RankData): { id: string; from: number; to: number }[] => timelineLayout(rank, undefined).lanes.map(({ id, rows }) => ({ id, from: 0, to: rows }));

describe('timeline: windows', () => {
  it('shows every event exactly once, as itself or in a bin, at any zoom', () => {
    for (const seed of [1, 2, 3]) {
      const rank = oddRank(seed, 900);
      const { originNs, spanNs } = timelineLayout(rank, undefined);
      const random = randomFrom(seed);
      for (let i = 0; i < 25; i++) {
        const width = spanNs / 2 ** (random() * 16);
        const start = originNs + random() * (spanNs - width);
        const hiddenFamilies = i % 3 === 0 ? [Math.floor(random() * 10)] : [];
        check(rank, timelineWindow(rank, { rank: '', requestId: i, lanes: allLanes(rank), startNs: start, endNs: start + width, pixels: 40 + Math.floor(random() * 400), hiddenFamilies }));
      }
    }
  });

  it('agrees with the oracle where coarse levels answer, and stays within 256 KB', () => {
    const rank = largeRank(60_000);
    const { originNs, spanNs } = timelineLayout(rank, undefined);
    for (const zoom of [1, 3, 9, 40, 300]) {
      const start = originNs + spanNs * 0.31;
      const window = timelineWindow(rank, { rank: '', requestId: 1, lanes: allLanes(rank), startNs: zoom === 1 ? originNs : start, endNs: zoom === 1 ? originNs + spanNs : start + spanNs / zoom / 2, pixels: 4200 });
      assert.ok(bytes(window) <= 256 * 1024, `${bytes(window)} bytes`);
      check(rank, window);
    }
  });

  it('answers nonsense with something drawable', () => {
    const rank = oddRank(4, 50);
    for (const [startNs, endNs, pixels] of [[NaN, NaN, NaN], [5, 4, 0], [-1e18, 1e18, 1e9], [0, Infinity, 100]]) {
      const window = timelineWindow(rank, { rank: '', requestId: 1, lanes: [...allLanes(rank), { id: 'nothing', from: 0, to: 3 }], startNs, endNs: Number.isFinite(endNs) ? endNs : 1e9, pixels });
      assert.ok(window.nsPerBin >= 1);
      assert.ok(bytes(window) <= 256 * 1024);
    }
    assert.equal(timelineLayout(rankOf([]), undefined).spanNs, 1);
    assert.equal(timelinePyramid(rankOf([])).busy.length >= 0, true);
  });

  it('keeps the pyramid within 1 MB and shows every row that has events', () => {
    const rank = oddRank(5, 2000);
    const pyramid = timelinePyramid(rank);
    assert.ok(pyramid.busy.byteLength + pyramid.family.byteLength <= 1024 * 1024);
    const { lanes } = timelineIndex(rank);
    lanes.forEach((lane, i) => {
      for (let row = 0; row + 1 < lane.rowStart.length; row++) {
        const offset = (pyramid.laneRows[i] + row) * pyramid.binCount;
        for (let position = lane.rowStart[row]; position < lane.rowStart[row + 1]; position++) {
          const bin = Math.floor((lane.table.startNs[lane.order[position]] - pyramid.originNs) / pyramid.nsPerBin);
          assert.ok(pyramid.busy[offset + Math.min(bin, pyramid.binCount - 1)] > 0);
        }
      }
    });
  });

  it('leaves one event at time zero out of the axis, and counts it', () => {
    const day = 86_400e9;
    const device = Array.from({ length: 200 }, (_, i) => ({ start: 50 * day + i * 1000, duration: 500 }));
    const layout = timelineLayout(rankOf([{ start: 0, duration: 5 }, ...device]), undefined);
    assert.equal(layout.originNs, 50 * day);
    assert.equal(layout.spanNs, 199_500);
    assert.equal(layout.outliers, 1);
  });
});
