import assert from 'node:assert/strict';
import { EventKind, HostKind, type RankData } from '../../../src/engine/profile/columns';
import { operatorsOf, parseFrame } from '../../../src/engine/links/frames';
import { callStackOf, sourceOf } from '../../../src/engine/links/source';
import { decodeDetail } from '../../../src/engine/readers/traceDetail';
import { shapesText, typesText } from '../../../src/engine/readers/kinetoInputs';
import type { JsonValue } from '../../../src/engine/readers/traceText';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData } from '../../sharedData';
import { intersectionNs, intervals, isKernel, readTrace, truthCases, unionNs, type Interval, type ReadTrace, type Truth, type TruthSample, type TruthStream } from './kinetoTruth';

const near = (actual: number, expected: number, tolerance: number, what: string): void => {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected}`);
};

/** The truth lists the innermost `most` only. */
const assertTail = (actual: readonly string[], expected: readonly string[], most: number): void => {
  assert.deepEqual(actual.slice(-most), expected);
};

const count = (truth: Truth, ...keys: readonly string[]): number => keys.reduce((sum, key) => sum + (truth.events_by_cat_ph[key] ?? 0), 0);

describe('Inputs of operators', () => {
  it('are written as the column store writes shapes and types', () => {
    assert.equal(shapesText([[4, 16], [], [[2, 3], [4]]]), '4,16;;2,3|4');
    assert.equal(shapesText([[], []]), '');
    assert.equal(shapesText(undefined), '');
    assert.equal(typesText(['float', '', 'Scalar']), 'float;;Scalar');
    assert.equal(typesText(['', '']), '');
  });
});

describe('Kineto traces against truth.json', function () {
  this.timeout(120_000);
  before(function () {
    if (!hasSharedData()) {
      console.log('shared data absent: skipped');
      this.skip();
    }
  });
  for (const { name, file, truth } of truthCases()) {
    describe(name, () => {
      let trace: ReadTrace;
      let rank: RankData;
      let kernels: number[];
      /** Relative 0 on the file's own µs axis. */
      let zeroNs: bigint;
      /** Where the file's stamps have more digits than the double the truth was written in. */
      let stamp: number;

      before(async () => {
        trace = await readTrace(file);
        rank = trace.rank;
        kernels = Array.from({ length: rank.deviceEvents.count }, (_, row) => row).filter(row => isKernel(rank, row));
        const base = truth.top_level.baseTimeNanoseconds;
        zeroNs = rank.baseNs - (base === undefined ? 0n : BigInt(base));
        stamp = truth.time.earliest_ts_us > 1e15 ? 0.26 : 0.0011;
      });

      const absoluteUs = (ns: number): number => Number(zeroNs + BigInt(Math.round(ns))) / 1000;

      it('counts and sums', () => {
        const { deviceEvents: device } = rank;
        assert.equal(kernels.length, truth.kernels);
        for (const [key, kind] of [['compute', EventKind.Compute], ['comm', EventKind.Communication], ['memcpy', EventKind.Copy], ['memset', EventKind.Set]] as const) {
          let total = 0;
          let rows = 0;
          for (let row = 0; row < device.count; row++) {
            if (device.kind[row] === kind) {
              rows++;
              total += device.durationNs[row] || 0;
            }
          }
          assert.equal(rows, truth.split_count[key], `${key} count`);
          near(total / 1000, truth.split_total_us[key], 0.0011, `${key} sum`);
        }
        assert.equal(kernels.filter(row => device.durationNs[row] === 0).length, truth.zero_length_kernels);
        assert.equal(new Set(kernels.map(row => device.name[row])).size, truth.distinct_kernel_names);
        assert.equal(Number(rank.facts['events']), truth.events);
        const hostRows = truth.events - Object.entries(truth.events_by_cat_ph).filter(([key]) => !key.endsWith('/X')).reduce((sum, [, n]) => sum + n, 0) - device.count;
        assert.equal(rank.hostEvents.count, hostRows);
        assert.equal(rank.hostEvents.kind.filter(kind => kind === HostKind.Python).length, count(truth, 'python_function/X'));
        assert.equal(rank.hostEvents.kind.filter(kind => kind === HostKind.Runtime).length, count(truth, 'cuda_runtime/X', 'cuda_driver/X', 'mtia_runtime/X', 'Runtime/X'));
      });

      it('keeps the order of the contract', () => {
        for (const [events, longerFirst] of [[rank.deviceEvents, false], [rank.hostEvents, true]] as const) {
          for (let row = 1; row < events.count; row++) {
            const [a, b] = [events.startNs[row - 1], events.startNs[row]];
            assert.ok(a <= b || Number.isNaN(b), `row ${row}`);
            assert.ok(!longerFirst || a !== b || !(events.durationNs[row - 1] < events.durationNs[row]), `row ${row}: longer first`);
          }
        }
      });

      it('times and percentiles', () => {
        const { deviceEvents: device, hostEvents: host } = rank;
        let first = Infinity;
        let last = -Infinity;
        for (const events of [device, host]) {
          for (let row = 0; row < events.count; row++) {
            first = Math.min(first, events.startNs[row]);
            last = Math.max(last, events.startNs[row] + (events.durationNs[row] || 0));
          }
        }
        near(absoluteUs(first), truth.time.earliest_ts_us, stamp, 'earliest');
        near(absoluteUs(last), truth.time.latest_end_us, stamp, 'latest end');
        const durations = kernels.map(row => device.durationNs[row]).sort((a, b) => a - b);
        for (const [key, quantile] of [['p50_nearest_rank', 0.5], ['p90_nearest_rank', 0.9]] as const) {
          const expected = truth.kernel_dur_us[key];
          if (expected !== null) {
            near(durations[Math.max(1, Math.ceil(quantile * durations.length)) - 1] / 1000, expected, 0.0006, key);
          }
        }
      });

      it('top kernels', () => {
        const byName = new Map<string, { count: number; total: number }>();
        for (const row of kernels) {
          const text = rank.strings.get(rank.deviceEvents.name[row]);
          const entry = byName.get(text) ?? { count: 0, total: 0 };
          byName.set(text, { count: entry.count + 1, total: entry.total + (rank.deviceEvents.durationNs[row] || 0) });
        }
        for (const expected of truth.top10_kernels) {
          assert.equal(byName.get(expected.name)?.count, expected.count, expected.name);
          near((byName.get(expected.name)?.total ?? 0) / 1000, expected.total_us, 0.0011, expected.name);
        }
      });

      const compareSpan = (list: readonly Interval[], expected: Pick<TruthStream, 'first_us' | 'last_us' | 'span_us' | 'busy_us' | 'idle_us'>, what: string): void => {
        const first = list.reduce((least, [start]) => Math.min(least, start), Infinity);
        const last = list.reduce((most, [, end]) => Math.max(most, end), -Infinity);
        near(absoluteUs(first), expected.first_us, stamp, `${what} first`);
        near(absoluteUs(last), expected.last_us, stamp, `${what} last`);
        near((last - first) / 1000, expected.span_us, 0.0011, `${what} span`);
        near(unionNs(list) / 1000, expected.busy_us, 0.0011, `${what} busy`);
        near((last - first - unionNs(list)) / 1000, expected.idle_us, 0.0011, `${what} idle`);
      };

      it('streams and devices', () => {
        const { deviceEvents: device } = rank;
        const keys = rank.streams.map(({ device: d, stream }) => `device ${d} stream ${stream}`);
        assert.deepEqual([...keys].sort(), Object.keys(truth.per_stream).sort());
        keys.forEach((key, index) => {
          const expected = truth.per_stream[key];
          const rows = Array.from({ length: device.count }, (_, row) => row).filter(row => device.stream[row] === index);
          assert.equal(rows.filter(row => isKernel(rank, row)).length, expected.kernels, key);
          assert.equal(rows.filter(row => device.kind[row] === EventKind.Copy).length, expected.memcpy, key);
          assert.equal(rows.filter(row => device.kind[row] === EventKind.Set).length, expected.memset, key);
          near(rows.filter(row => isKernel(rank, row)).reduce((sum, row) => sum + (device.durationNs[row] || 0), 0) / 1000, expected.kernel_total_us, 0.0011, key);
          compareSpan(intervals(rank, row => device.stream[row] === index), expected, key);
          const overlap = trace.problems.find(problem => problem.kind === 'overlap-on-stream' && problem.args?.['stream'] === rank.streams[index].label);
          assert.equal(overlap?.count ?? 0, expected.starts_before_previous_end, `${key} overlaps`);
        });
        for (const [id, expected] of Object.entries(truth.per_device)) {
          const here = (row: number): boolean => String(rank.streams[device.stream[row]].device) === id;
          compareSpan(intervals(rank, here), expected.all_gpu, `device ${id}`);
          compareSpan(intervals(rank, row => here(row) && isKernel(rank, row)), expected.kernels_only, `kernels of device ${id}`);
          const compute = intervals(rank, row => here(row) && device.kind[row] === EventKind.Compute);
          const comm = intervals(rank, row => here(row) && device.kind[row] === EventKind.Communication);
          near(unionNs(compute) / 1000, expected.compute_busy_us, 0.0011, 'compute busy');
          near(unionNs(comm) / 1000, expected.comm_busy_us, 0.0011, 'comm busy');
          near(unionNs(intervals(rank, row => here(row) && !isKernel(rank, row))) / 1000, expected.mem_busy_us, 0.0011, 'copies busy');
          near(intersectionNs(compute, comm) / 1000, expected.comm_overlapped_by_compute_us, 0.0011, 'overlapped');
        }
      });

      it('links', () => {
        const { deviceEvents: device, hostEvents: host } = rank;
        const linked = kernels.filter(row => device.launch[row] >= 0);
        assert.equal(linked.length, (truth.links['kernels linked to a runtime launch'] as number | undefined) ?? 0);
        const apis: Record<string, number> = {};
        for (const row of linked) {
          const api = rank.strings.get(host.name[device.launch[row]]);
          apis[api] = (apis[api] ?? 0) + 1;
        }
        assert.deepEqual(apis, truth.links['launches by API']);
        // A kernel linked through its External id alone has an operator but no launch: none of these files needs that.
        assert.equal(linked.filter(row => device.op[row] >= 0).length, truth.links['kernels with an enclosing cpu op by time']);
        assert.equal(kernels.filter(row => device.launch[row] < 0 && device.op[row] >= 0).length, 0);
      });

      it('steps', () => {
        const { deviceEvents: device } = rank;
        const expected = truth.steps.list.filter(step => step.cat !== 'gpu_user_annotation').sort((a, b) => a.ts_us - b.ts_us);
        if (expected.length === 0) {
          assert.ok(rank.steps.every(step => step.source !== 'profiler'));
          return;
        }
        assert.equal(rank.steps.length, truth.steps.count_cpu);
        expected.forEach((step, index) => {
          assert.equal(rank.steps[index].name, step.name);
          near(absoluteUs(rank.steps[index].startNs), step.ts_us, stamp, step.name);
          near(rank.steps[index].durationNs / 1000, step.dur_us, 0.0011, step.name);
          assert.equal(kernels.filter(row => device.step[row] === index).length, step.kernels_launched_inside, `${step.name} launched inside`);
        });
      });

      it('details lead to the same event', async () => {
        const { deviceEvents: device, hostEvents: host } = rank;
        const port = nodeFilePort();
        for (const row of [0, kernels.length >> 1, kernels.length - 1].map(i => kernels[i]).filter(k => k !== undefined)) {
          const detail = await decodeDetail(port, rank, 'device', row);
          assert.ok(detail !== undefined);
          if (detail['stream'] !== undefined) {
            assert.equal(`${detail['stream'] as number}`, rank.streams[device.stream[row]].stream);
          }
          const launch = device.launch[row];
          if (launch >= 0) {
            assert.equal((await decodeDetail(port, rank, 'host', launch))?.['correlation'], detail['correlation']);
          }
          const op = device.op[row] < 0 ? undefined : await decodeDetail(port, rank, 'host', device.op[row]);
          if (op !== undefined) {
            assert.equal(rank.strings.get(device.shapes[row]), shapesText((op['Input Dims'] ?? op['Input dims']) as JsonValue | undefined));
            assert.equal(rank.strings.get(device.dtypes[row]), typesText(op['Input type'] as JsonValue | undefined));
            assert.equal(host.sequence[device.op[row]], op['Sequence number'] ?? -1);
          }
        }
      });

      it('rank', () => {
        const expected = truth.top_level.distributedInfo?.rank;
        if (expected !== undefined) {
          assert.equal(rank.rank, expected);
        }
      });

      const rowOf = (sample: TruthSample): number => {
        const row = kernels.find(k => rank.strings.get(rank.deviceEvents.name[k]) === sample.kernel && Math.abs(absoluteUs(rank.deviceEvents.startNs[k]) - sample.ts_us) <= stamp);
        assert.notEqual(row, undefined, `sample ${sample.kernel} at ${sample.ts_us}`);
        return row as number;
      };
      const text = (host: number): string => rank.strings.get(rank.hostEvents.name[host]);

      it('Python source', () => {
        const expected = truth.python_source;
        if (expected === null) {
          assert.equal(rank.coverage.pythonFrames, false);
          return;
        }
        const sources = kernels.map(row => sourceOf(rank, row));
        assert.equal(sources.filter(source => source?.via === 'direct').length, expected.kernels_with_a_python_frame_direct);
        assert.equal(sources.filter(source => source?.via === 'forward').length, expected.kernels_with_a_python_frame_through_forward);
        for (const sample of expected.samples) {
          const row = rowOf(sample);
          const source = sourceOf(rank, row);
          assert.ok(source !== undefined);
          assert.equal(source.via, sample.via === 'direct' ? 'direct' : 'forward');
          assertTail(source.frames.map(text), sample.frames_outer_to_inner ?? [], 12);
          assertTail(source.modules.map(text), sample.module_frames ?? [], 6);
          assert.equal(source.frames.length === 0 ? null : text(source.frames[source.frames.length - 1]), sample.innermost_frame);
          assert.equal(source.innermostUser < 0 ? null : text(source.innermostUser), sample.innermost_user_frame);
          assert.equal(rank.deviceEvents.op[row] < 0 ? null : text(rank.deviceEvents.op[row]), sample.cpu_op);
          const launch = rank.deviceEvents.launch[row];
          assert.equal(text(launch), sample.launch_api);
          assert.deepEqual(operatorsOf(rank).enclosing(rank.hostEvents.thread[launch], rank.hostEvents.startNs[launch]).map(text), sample.cpu_op_stack);
          if (source.via === 'forward') {
            const forward = typeof sample.forward_op === 'object' ? sample.forward_op?.name : sample.forward_op;
            assert.equal(text(source.forward), forward);
          }
          assert.ok(source.frames.every(frame => parseFrame(text(frame)) !== undefined));
        }
      });

      it('Call stack arguments', () => {
        const expected = truth.call_stack_argument;
        if (expected === null) {
          assert.equal(rank.coverage.callStacks, false);
          return;
        }
        assert.equal(rank.hostEvents.stack.filter((stack, row) => stack !== 0 && !text(row).startsWith('ProfilerStep')).length, expected.ops_with_call_stack);
        assert.equal(kernels.filter(row => callStackOf(rank, row) !== undefined).length, expected.kernels_with_call_stack);
        for (const sample of expected.samples) {
          const row = rowOf(sample);
          const stack = callStackOf(rank, row);
          assert.equal(stack?.frames[0], sample.innermost_frame);
          assert.equal(stack?.innermostUser ?? null, sample.innermost_user_frame);
          assert.equal(text(rank.deviceEvents.op[row]), sample.cpu_op);
        }
      });
    });
  }
});
