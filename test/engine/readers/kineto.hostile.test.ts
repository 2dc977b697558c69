import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { detectProfile } from '../../../src/engine/detect';
import { EventKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList, UnreadableInput, type Problem } from '../../../src/engine/profile/problems';
import { findKinetoFile } from '../../../src/engine/readers/kinetoDetect';
import { decodeDetail } from '../../../src/engine/readers/traceDetail';
import { framesOf } from '../../../src/engine/links/frames';
import { nodeFilePort } from '../../../src/node/filePort';
import { MESSAGES, renderProblem, text } from '../../../src/protocol/text';
import { hasSharedData, sharedPath } from '../../sharedData';
import { intervals, isKernel, unionNs } from './kinetoTruth';

const port = nodeFilePort();
const SIZES = [13, 4096, undefined];

interface Opened {
  readonly rank: RankData;
  readonly problems: readonly Problem[];
}

async function open(file: string, chunkSize?: number): Promise<Opened> {
  const problems = new ProblemList();
  const { sources } = await findKinetoFile({ port, root: path.dirname(file), path: file, head: await port.read(file, 0, 65_536), problems });
  assert.equal(sources.length, 1);
  const read = sources[0].read;
  assert.ok(read !== undefined);
  return { rank: await read({ port, problems, ...(chunkSize === undefined ? {} : { chunkSize }) }), problems: problems.toArray() };
}

interface Figures {
  readonly kernels: number;
  readonly timed: number;
  readonly totalUs: number;
  readonly spanUs: number;
}

/** Kernels with a known start and duration are the base of every time. */
function figures(rank: RankData): Figures {
  const { deviceEvents: device } = rank;
  const rows = Array.from({ length: device.count }, (_, row) => row).filter(row => isKernel(rank, row));
  const timed = rows.filter(row => !Number.isNaN(device.startNs[row]) && !Number.isNaN(device.durationNs[row]));
  const first = Math.min(...timed.map(row => device.startNs[row]));
  const last = Math.max(...timed.map(row => device.startNs[row] + device.durationNs[row]));
  return { kernels: rows.length, timed: timed.length, totalUs: timed.reduce((sum, row) => sum + device.durationNs[row], 0) / 1000, spanUs: (last - first) / 1000 };
}

const names = (rank: RankData): string[] => [...new Set([...rank.deviceEvents.name].map(id => rank.strings.get(id)))];

const kind = (problems: readonly Problem[], wanted: string): Problem | undefined => problems.find(problem => problem.kind === wanted);

/** Every problem must have its sentence, and the sentence must name the file. */
function assertSentences(problems: readonly Problem[], file: string): void {
  for (const problem of problems) {
    const { message } = renderProblem(problem);
    assert.ok(`problem.${problem.kind}` in MESSAGES, problem.kind);
    assert.ok(message.includes(path.basename(file)), message);
    assert.ok(!/\{\w+\}/.test(message), message);
  }
}

describe('Kineto: hostile inputs', function () {
  this.timeout(30_000);
  before(function () {
    if (!hasSharedData()) {
      console.log('shared data absent: skipped');
      this.skip();
    }
  });
  const cases: Readonly<Record<string, readonly [file: string, check: (opened: Opened) => void | Promise<void>]>> = {
    's01 lone backslashes': ['s01-windows-backslashes/trace.pt.trace.json', ({ rank, problems }) => {
      assert.deepEqual(figures(rank), { kernels: 6, timed: 6, totalUs: 119.5, spanUs: figures(rank).spanUs });
      const gemm = [...rank.deviceEvents.name].findIndex(id => rank.strings.get(id) === 'my_gemm_nt');
      const frames = framesOf(rank, rank.deviceEvents.launch[gemm]).map(row => rank.strings.get(rank.hostEvents.name[row]));
      assert.deepEqual(frames, ['C:\\work\\train\\_init.py(42): step', 'torch\\nn\\modules\\linear.py(114): forward']);
      assert.deepEqual(problems.map(p => p.kind), ['unescaped-backslashes']);
    }],
    's02 control bytes and bad UTF-8': ['s02-control-and-bad-utf8/trace.json', ({ rank, problems }) => {
      assert.equal(figures(rank).kernels, 6);
      assert.deepEqual(names(rank).sort(), ['my_gemm\u0001_nt\ufffd\ufffd', 'my_layernorm', '核函数_gelu_α'].sort());
      assert.deepEqual(problems.map(p => p.kind), ['bad-encoding']);
    }],
    's03 inf and NaN': ['s03-inf-nan/trace.json', async ({ rank, problems }) => {
      assert.equal(figures(rank).kernels, 6);
      const copy = rank.deviceEvents.kind.indexOf(EventKind.Copy);
      assert.equal(rank.deviceEvents.durationNs[copy], 0);
      const detail = await decodeDetail(port, rank, 'device', copy);
      assert.deepEqual(detail, { device: 0, stream: 7, correlation: 990, bytes: 200, 'memory bandwidth (GB/s)': Infinity });
      assert.equal(kind(problems, 'non-finite')?.count, 3);
    }],
    's04 plain file cut in an event': ['s04-truncated/trace.json', ({ rank, problems }) => {
      assert.equal(figures(rank).kernels, 7);
      assert.equal(figures(rank).totalUs, 159.5);
      assert.deepEqual(problems.map(p => p.kind), ['truncated']);
      assert.match(problems[0].where, /byte 11840$/);
    }],
    's04 gzip cut': ['s04-truncated/trace-cut.json.gz', ({ rank, problems }) => {
      assert.ok(figures(rank).kernels > 0);
      assert.deepEqual(problems.map(p => p.kind), ['truncated']);
    }],
    's05 stamps of 0': ['s05-ts-zero/trace.json', ({ rank, problems }) => {
      assert.deepEqual(figures(rank), { kernels: 9, timed: 6, totalUs: 119.5, spanUs: 607.25 });
      const all = [...rank.deviceEvents.startNs, ...rank.hostEvents.startNs].filter(start => !Number.isNaN(start));
      assert.ok(Math.max(...all) - Math.min(...all) < 1e6);
      assert.deepEqual(kind(problems, 'no-usable-time')?.args, { kernels: 3, others: 0 });
      assert.ok([...rank.deviceEvents.startNs.slice(-3)].every(Number.isNaN), 'unknown starts come last');
      assert.equal(rank.baseNs, 1615207264504915000n);
    }],
    's06 negative and missing durations': ['s06-negative-and-missing-dur/trace.json', ({ rank, problems }) => {
      assert.equal(figures(rank).kernels, 8);
      assert.equal(figures(rank).timed, 6);
      assert.equal(figures(rank).totalUs, 119.5);
      assert.deepEqual(kind(problems, 'negative-duration')?.args, { kernels: 1, others: 1 });
      assert.deepEqual(kind(problems, 'missing-duration')?.args, { kernels: 1, others: 0 });
      for (const events of [rank.deviceEvents, rank.hostEvents]) {
        assert.ok(events.durationNs.every(duration => !(duration < 0)));
      }
    }],
    's07 gzip of many members': ['s07-gzip-many-members/trace.json.gz', ({ rank, problems }) => {
      assert.deepEqual(figures(rank), { kernels: 120, timed: 120, totalUs: 2390, spanUs: figures(rank).spanUs });
      assert.equal(rank.steps.length, 40);
      assert.deepEqual(problems, []);
    }],
    's11 overlap on one stream': ['s11-overlap-same-stream/trace.json', ({ rank, problems }) => {
      assert.equal(figures(rank).kernels, 10);
      assert.equal(figures(rank).totalUs, 229.5);
      assert.equal(unionNs(intervals(rank, row => isKernel(rank, row))) / 1000, 199.5);
      assert.equal(rank.deviceEvents.durationNs.filter(duration => duration === 0).length, 1);
      assert.equal(kind(problems, 'overlap-on-stream')?.args?.['stream'], 'stream 7');
    }],
    's12 orphans and a shared correlation': ['s12-orphan-and-shared-correlation/trace.json', ({ rank, problems }) => {
      const { deviceEvents: device, hostEvents: host } = rank;
      assert.equal(figures(rank).kernels, 11);
      const launchName = [...device.launch].map(launch => (launch < 0 ? '' : rank.strings.get(host.name[launch])));
      assert.equal(launchName.filter(name => name === 'cudaLaunchKernel').length, 3);
      assert.equal(launchName.filter(name => name === 'hipGraphLaunch').length, 3);
      assert.equal(launchName.filter(name => name === '').length, 5);
      assert.equal(new Set([...device.launch].filter(launch => launch >= 0)).size, 4);
      for (let row = 0; row < device.count; row++) {
        assert.ok(device.launch[row] >= 0 || device.op[row] < 0, 'an orphan has no operator');
      }
      assert.equal(kind(problems, 'no-launch')?.count, 5);
      assert.deepEqual([kind(problems, 'shared-launch')?.count, kind(problems, 'shared-launch')?.args?.['launches']], [3, 1]);
    }],
  };
  for (const [name, [file, check]] of Object.entries(cases)) {
    it(name, async () => {
      for (const size of SIZES) {
        const opened = await open(sharedPath('hostile', file), size);
        await check(opened);
        assertSentences(opened.problems, file);
      }
    });
  }

  it('s08 two traces without a rank are two traces, labelled by file name', async () => {
    const { sources } = await detectProfile(port, sharedPath('hostile', 's08-no-rank'));
    assert.deepEqual(sources.map(source => [source.label, source.rank]), [['worker0', undefined], ['worker1', undefined]]);
    for (const { read } of sources) {
      const rank = await read?.({ port, problems: new ProblemList() });
      assert.equal(rank?.rank, undefined);
      assert.equal(rank === undefined ? 0 : figures(rank).kernels, 6);
    }
  });

  it('e01 nothing inside: one sentence each', async () => {
    const expected: Readonly<Record<string, string>> = {
      'blank.json': 'error.trace-blank', 'empty-array.json': 'error.trace-no-events', 'empty-file.json': 'error.trace-empty-file', 'empty-object.json': 'error.trace-empty-object',
      'events-null.json': 'error.trace-events-null', 'no-events.json': 'error.trace-no-events', 'not-json.json': 'error.foreign-html', 'null.json': 'error.trace-not-json',
      'only-metadata.json': 'error.trace-only-metadata',
    };
    const folder = sharedPath('hostile', 'e01-empty');
    assert.deepEqual(readdirSync(folder).filter(file => file.endsWith('.json')).sort(), Object.keys(expected).sort());
    for (const [file, code] of Object.entries(expected)) {
      await assert.rejects(open(path.join(folder, file)), (error: unknown) => {
        assert.ok(error instanceof UnreadableInput, String(error));
        assert.equal(error.detail.code, code);
        const sentence = text(code, error.detail.args);
        assert.ok(sentence.startsWith(file) && !/\{\w+\}/.test(sentence), sentence);
        return true;
      });
    }
  });

  it('an execution trace is named for what it is', async () => {
    const file = sharedPath('kineto', 'not-a-trace-execution-trace', 'benchmark_simple_add_et.json.gz');
    await assert.rejects(open(file), (error: unknown) => error instanceof UnreadableInput && error.detail.code === 'error.foreign-execution-trace');
  });
});
