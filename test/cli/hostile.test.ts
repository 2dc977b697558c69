import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AnalyzeReport } from '../../src/protocol/report';
import { hasSharedData, sharedPath } from '../sharedData';
import { holdContract } from './contract';
import { cli } from './runCli';

/** What the README of the hostile inputs asks of the figures: per rank [kernels, timed kernels, total µs, more]. */
interface Expected {
  readonly input: string;
  readonly ranks: readonly { readonly rank?: number | null; readonly label?: RegExp; readonly count: number; readonly timed: number; readonly totalUs: number; readonly spanUs?: number; readonly busyUs?: number; readonly memcpy?: number; readonly steps?: number; readonly names?: number }[];
  /** Some problem's message must match. */
  readonly says?: readonly RegExp[];
}

const good = { count: 6, timed: 6, totalUs: 119.5, spanUs: 607.25 };
const OPENS: readonly Expected[] = [
  { input: 's01-windows-backslashes/trace.pt.trace.json', ranks: [good], says: [/backslash/i] },
  { input: 's02-control-and-bad-utf8/trace.json', ranks: [{ ...good, names: 3 }], says: [/UTF-8/] },
  { input: 's03-inf-nan/trace.json', ranks: [{ ...good, memcpy: 1 }], says: [/inf|NaN/] },
  { input: 's04-truncated/trace.json', ranks: [{ count: 7, timed: 7, totalUs: 159.5 }], says: [/ends/] },
  { input: 's04-truncated/trace-cut.json.gz', ranks: [{ count: 6, timed: 6, totalUs: 119.5 }], says: [/ends/] },
  { input: 's05-ts-zero/trace.json', ranks: [{ ...good, count: 9 }], says: [/3 kernels/] },
  { input: 's06-negative-and-missing-dur/trace.json', ranks: [{ ...good, count: 8 }], says: [/negative duration/, /no usable duration/] },
  { input: 's07-gzip-many-members/trace.json.gz', ranks: [{ count: 120, timed: 120, totalUs: 2390, steps: 40 }] },
  { input: 's08-no-rank', ranks: [{ ...good, rank: null, label: /worker0/ }, { ...good, rank: null, label: /worker1/ }] },
  { input: 's09-string-timestamps/trace_view.json', ranks: [{ count: 3, timed: 3, totalUs: 15.52, spanUs: 15.521, busyUs: 15.52 }] },
  { input: 's11-overlap-same-stream/trace.json', ranks: [{ count: 10, timed: 10, totalUs: 229.5, busyUs: 199.5 }], says: [/stream 7/] },
  { input: 's12-orphan-and-shared-correlation/trace.json', ranks: [{ count: 11, timed: 11, totalUs: 99.75 }], says: [/5 of 11/] },
  { input: 'a01-ascend-csv-tabs-na-bom-crlf', ranks: [{ count: 7, timed: 6, totalUs: 111.5 }] },
  { input: 'a02-ascend-csv-level0-columns', ranks: [{ count: 3, timed: 3, totalUs: 55.75 }], says: [/Input Shapes/, /Stream ID/] },
  { input: 'a03-ascend-csv-empty', ranks: [{ count: 3, timed: 3, totalUs: 55.75 }], says: [/kernel_details\.csv is empty/, /step/] },
  { input: 'a04-ascend-csv-cut-and-double-header', ranks: [{ count: 5, timed: 5, totalUs: 81.5 }], says: [/line 8/] },
  { input: 'a05-ascend-half-copied', ranks: [{ rank: 0, count: 3, timed: 3, totalUs: 55.75 }, { rank: 1, count: 3, timed: 3, totalUs: 55.75 }], says: [/[Rr]ank 2 .*incomplete/] },
];

/** Refused with exit 2 and one sentence that says what it is. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ['s10-ascend-not-analysed', /not been analysed.*torch_npu\.profiler\.profiler import analyse/],
  ['e01-empty/empty-file.json', /empty/], ['e01-empty/blank.json', /blank/], ['e01-empty/empty-object.json', /empty JSON object/], ['e01-empty/empty-array.json', /without events/],
  ['e01-empty/no-events.json', /without events/], ['e01-empty/only-metadata.json', /no recorded events/], ['e01-empty/null.json', /not/], ['e01-empty/not-json.json', /HTML/],
  ['e01-empty/events-null.json', /no list of events/], ['g01-two-gigabytes/HOWTO.md', /not/],
];

describe('hostile inputs through the command', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }

  for (const { input, ranks, says = [] } of OPENS) {
    it(`${input} opens with the right figures and says what is odd`, async () => {
      const { code, out, err } = await cli(['analyze', sharedPath('hostile', input), '--json']);
      assert.equal(err, '');
      assert.equal(code, 0);
      const report = JSON.parse(out) as AnalyzeReport;
      holdContract(report);
      assert.equal(report.ranks.length, ranks.length);
      ranks.forEach((wanted, i) => {
        const { rank, label, kernels, split, steps, topKernels } = report.ranks[i];
        assert.deepEqual([kernels.count, kernels.timedCount, kernels.totalUs], [wanted.count, wanted.timed, wanted.totalUs]);
        assert.equal(rank, wanted.rank === undefined ? rank : wanted.rank);
        assert.match(label, wanted.label ?? /./);
        assert.equal(kernels.spanUs, wanted.spanUs ?? kernels.spanUs);
        assert.equal(kernels.busyUs, wanted.busyUs ?? kernels.busyUs);
        assert.equal(split.memcpy.count, wanted.memcpy ?? split.memcpy.count);
        assert.equal(steps.length, wanted.steps ?? steps.length);
        assert.equal(topKernels.length, wanted.names ?? topKernels.length);
      });
      for (const pattern of says) {
        assert.ok(report.problems.some(({ message }) => pattern.test(message)), `${String(pattern)} in ${report.problems.map(({ message }) => message).join('\n')}`);
      }
    });
  }

  for (const [input, pattern] of REFUSED) {
    it(`${input} is refused in one sentence`, async () => {
      const file = sharedPath('hostile', input);
      for (const command of [['analyze', file, '--json'], ['compare', file, file], ['export', file, '--perfetto', path.join(tmpdir(), 'fuselens-never-written.json')]]) {
        const { code, out, err } = await cli(command);
        assert.deepEqual([code, out], [2, ''], command[0]);
        assert.match(err, pattern);
        assert.match(err, /^fuselens: [^\n]+\n$/);
      }
    });
  }

  it('a recording that was cut off is shown as complete neither when compared nor when exported', async () => {
    const cut = sharedPath('hostile', 's04-truncated/trace.json');
    const whole = sharedPath('hostile', 's07-gzip-many-members/trace.json.gz');
    for (const pair of [[cut, whole], [whole, cut]]) {
      assert.match((await cli(['compare', ...pair])).out, /Part of trace\.json is missing \(at trace\.json byte 11840\)/);
    }
    assert.doesNotMatch((await cli(['compare', whole, whole])).out, /is missing/);
    const folder = await mkdtemp(path.join(tmpdir(), 'fuselens-cut-'));
    try {
      assert.match((await cli(['export', cut, '--perfetto', path.join(folder, 'out.json')])).err, /trace\.json byte 11840: the file ends in the middle.* lower bounds/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('none is forgotten', () => {
    const tried = [...OPENS.map(({ input }) => input), ...REFUSED.map(([input]) => input)].map((input) => input.split('/')[0]);
    const there = readdirSync(sharedPath('hostile'), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    assert.deepEqual(there.filter((name) => !tried.includes(name)), []);
  });

  it('also open as text, Markdown and Chinese without a word on stderr', async () => {
    for (const { input } of OPENS) {
      for (const format of [[], ['--md'], ['--lang', 'zh-cn']]) {
        const { code, err, out } = await cli(['analyze', sharedPath('hostile', input), ...format]);
        assert.deepEqual([code, err], [0, ''], input);
        assert.doesNotMatch(out, /undefined|\[object|(NaN|null) (µs|ms|s|%)/, input);
      }
    }
  });
});
