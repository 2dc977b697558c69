import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rankReport } from '../../../src/engine/analysis/rankReport';
import { EventKind } from '../../../src/engine/profile/columns';
import type { RankReport } from '../../../src/protocol/report';
import { rankOf, type EventSpec } from './rankBuilder';

const SPAN = 200;
const event = fc.record({
  start: fc.integer({ min: 0, max: SPAN }),
  duration: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(undefined)),
  kind: fc.constantFrom(EventKind.Compute, EventKind.Communication, EventKind.Copy, EventKind.Set),
  stream: fc.integer({ min: 0, max: 3 }),
  step: fc.integer({ min: -1, max: 2 }),
});
const events = fc.array(event, { maxLength: 40 });
const steps = [0, 1, 2].map((number) => ({ name: `ProfilerStep#${number}`, number, startNs: NaN, durationNs: NaN, source: 'profiler' as const }));

/** Every figure of lanes again, the slow and obvious way: one cell per nanosecond. */
function oracle(list: readonly EventSpec[]): Readonly<Record<string, number | null>> {
  const timed = list.filter((e) => e.start !== undefined && e.duration !== undefined).map((e) => ({ ...e, start: e.start ?? 0, end: (e.start ?? 0) + (e.duration ?? 0) }));
  const kernels = timed.filter((e) => e.kind === EventKind.Compute || e.kind === EventKind.Communication);
  const covers = (cell: number, kinds: readonly (number | undefined)[], stream?: number): boolean =>
    timed.some((e) => kinds.includes(e.kind) && (stream === undefined || e.stream === stream) && e.start <= cell && cell < e.end);
  const count = (from: number, to: number, test: (cell: number) => boolean): number => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).filter(test).length;
  const all = (test: (cell: number) => boolean): number => count(0, SPAN + 50, test);
  const C = [EventKind.Compute];
  const M = [EventKind.Communication];
  const D = [EventKind.Copy, EventKind.Set];
  const copyBusy = all((cell) => covers(cell, D));
  if (kernels.length === 0) {
    return { copyBusyUs: copyBusy === 0 ? null : copyBusy, computeBusyUs: null, freeUs: null };
  }
  const first = Math.min(...kernels.map((e) => e.start));
  const last = Math.max(...kernels.map((e) => e.end));
  const compute = timed.filter((e) => e.kind === EventKind.Compute);
  const totals = [0, 1, 2, 3].map((stream) => compute.filter((e) => e.stream === stream).reduce((sum, e) => sum + e.end - e.start, 0));
  const main = Math.max(...totals) === 0 ? undefined : totals.indexOf(Math.max(...totals));
  return {
    spanUs: last - first,
    busyUs: all((cell) => covers(cell, [...C, ...M])),
    computeBusyUs: all((cell) => covers(cell, C)),
    communicationBusyUs: all((cell) => covers(cell, M)),
    copyBusyUs: copyBusy,
    overlappedUs: all((cell) => covers(cell, C) && covers(cell, M)),
    exposedCommunicationUs: all((cell) => covers(cell, M) && !covers(cell, C)),
    exposedCopyUs: count(first, last, (cell) => covers(cell, D) && !covers(cell, [...C, ...M])),
    computeIdleUs: count(first, last, (cell) => !covers(cell, C)),
    freeUs: count(first, last, (cell) => !covers(cell, [...C, ...M, ...D])),
    mainStreamIdleUs: main === undefined ? null : count(first, last, (cell) => !covers(cell, [...C, ...M, ...D], main)),
  };
}

function hold(report: RankReport, expected: Readonly<Record<string, number | null>>): void {
  const actual: Readonly<Record<string, number | null>> = { ...report.kernels, ...report.lanes };
  for (const [name, value] of Object.entries(expected)) {
    assert.equal(actual[name], value === null ? null : value / 1000, name);
  }
}

describe('figures', () => {
  it('equal a count of nanoseconds, for the whole recording and for each step', () => {
    fc.assert(fc.property(events, (list) => {
      const sorted = [...list].sort((a, b) => a.start - b.start);
      const data = rankOf({ events: sorted, steps });
      hold(rankReport(data, { label: '' }), oracle(sorted));
      for (const step of [0, 1, 2]) {
        const only = sorted.filter((e) => e.step === step);
        const report = rankReport(data, { label: '', step });
        hold(report, oracle(only));
        assert.equal(report.kernels.count, only.filter((e) => e.kind < EventKind.Copy).length);
      }
    }), { numRuns: 300 });
  });

  it('do not depend on the order of the rows', () => {
    fc.assert(fc.property(events, (list) => {
      const sorted = rankReport(rankOf({ events: [...list].sort((a, b) => a.start - b.start), steps }), { label: '' });
      const shuffled = rankReport(rankOf({ events: list, steps }), { label: '' });
      assert.deepEqual(shuffled, sorted);
    }), { numRuns: 200 });
  });

  it('add up exactly: span = compute busy + compute idle, compute idle = exposed + free', () => {
    const near = fc.array(fc.record({ start: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_100_000 }), duration: fc.integer({ min: 0, max: 9999 }), kind: fc.constantFrom<EventKind>(0, 1, 2, 3) }), { minLength: 1, maxLength: 60 });
    fc.assert(fc.property(near, (list) => {
      const { kernels, lanes } = rankReport(rankOf({ events: list }), { label: '' });
      if (kernels.spanUs === null) {
        return;
      }
      const ns = (us: number | null): number => Math.round((us ?? NaN) * 1000);
      assert.equal(ns(kernels.spanUs), ns(lanes.computeBusyUs) + ns(lanes.computeIdleUs));
      assert.equal(ns(lanes.computeIdleUs), ns(lanes.exposedCommunicationUs) + ns(lanes.exposedCopyUs) + ns(lanes.freeUs));
      assert.equal(ns(lanes.communicationBusyUs), ns(lanes.overlappedUs) + ns(lanes.exposedCommunicationUs));
      const every: readonly (number | null)[] = Object.values<number | null>({ ...lanes, ...kernels });
      for (const value of every) {
        assert.ok(value === null || value >= 0);
      }
    }));
  });

  it('give per stream the kernels as a sum and everything on it as a union', () => {
    const { streams } = rankReport(rankOf({ events: [
      { start: 0, duration: 100, stream: 1 }, { start: 50, duration: 100, stream: 1 }, { start: 300, duration: 50, stream: 1, kind: EventKind.Copy },
      { start: undefined, duration: 7, stream: 1 }, { start: 10, duration: undefined, stream: 2 },
    ] }), { label: '' });
    assert.deepEqual(streams.map(({ stream, count, totalUs, busyUs, idleUs, firstUs, lastUs }) => [stream, count, totalUs, busyUs, idleUs, firstUs, lastUs]), [
      ['1', 3, 0.207, 0.2, 0.15, 0, 0.35], ['2', 1, 0, null, null, null, null],
    ]);
  });

  it('count kernels without a usable time and leave them out of time', () => {
    const { kernels } = rankReport(rankOf({ events: [
      { start: 0, duration: 100_000 }, { start: 200_000, duration: 50_000 }, { start: undefined, duration: undefined }, { start: 10, duration: undefined },
    ] }), { label: '' });
    assert.deepEqual(kernels, {
      count: 4, timedCount: 2, totalUs: 150, spanUs: 250, busyUs: 150, idleUs: 100, p50Us: 50, p90Us: 100, p99Us: 100, minUs: 50, maxUs: 100,
      shareLe50us: 0.5, shareLe100us: 1, meanIntervalUs: 200,
    });
  });

  it('are unknown, not zero, where there is nothing', () => {
    const { kernels, lanes } = rankReport(rankOf({ events: [] }), { label: '' });
    assert.deepEqual(kernels, {
      count: 0, timedCount: 0, totalUs: 0, spanUs: null, busyUs: null, idleUs: null, p50Us: null, p90Us: null, p99Us: null, minUs: null, maxUs: null,
      shareLe50us: null, shareLe100us: null, meanIntervalUs: null,
    });
    assert.ok(Object.values(lanes).every((value) => value === null));
  });

  it('know no main stream where the file names no streams', () => {
    const { lanes } = rankReport(rankOf({ events: [{ start: 0, duration: 10 }], knownStreams: false }), { label: '' });
    assert.equal(lanes.mainStreamIdleUs, null);
  });

  it('take percentiles by nearest rank', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 200 }), (durations) => {
      const { kernels } = rankReport(rankOf({ events: durations.map((duration, i) => ({ start: i * 2000, duration })) }), { label: '' });
      const sorted = [...durations].sort((a, b) => a - b);
      // ⌈q·n⌉ in whole hundredths, so that no rounding of 0.9 decides.
      const at = (hundredths: number): number => sorted[Math.max(1, Math.ceil((hundredths * sorted.length) / 100)) - 1] / 1000;
      assert.deepEqual([kernels.p50Us, kernels.p90Us, kernels.p99Us], [at(50), at(90), at(99)]);
    }));
  });
});
