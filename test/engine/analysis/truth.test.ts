import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { busyUnions, selectEvents } from '../../../src/engine/analysis/selection';
import { kernelGroups } from '../../../src/engine/analysis/groups';
import { lengthOf } from '../../../src/engine/analysis/intervals';
import { rankReport } from '../../../src/engine/analysis/rankReport';
import { detectProfile } from '../../../src/engine/detect';
import type { RankData } from '../../../src/engine/profile/columns';
import { ProblemList } from '../../../src/engine/profile/problems';
import { nodeFilePort } from '../../../src/node/filePort';
import type { RankReport } from '../../../src/protocol/report';
import { hasSharedData, sharedPath } from '../../sharedData';

/** The parts of truth.json that speak of figures; TRUTH.md beside the data defines each. */
interface Truth {
  readonly kind: string;
  readonly kernels: number;
  readonly kernel_total_us: number;
  readonly memcpy?: number;
  readonly memset?: number;
  readonly split_total_us?: Readonly<Record<'compute' | 'comm' | 'memcpy' | 'memset', number>>;
  readonly split_count: Readonly<Record<'compute' | 'comm' | 'memcpy' | 'memset', number>>;
  readonly zero_length_kernels?: number;
  readonly distinct_kernel_names?: number;
  readonly kernel_dur_us: Readonly<Record<string, number>>;
  readonly top10_kernels: readonly { readonly name: string; readonly count: number; readonly total_us: number }[];
  readonly per_stream: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly per_device: Readonly<Record<string, DeviceTruth>>;
  readonly steps?: { readonly list: readonly { readonly name: string; readonly cat: string; readonly kernels_launched_inside?: number }[] };
}

interface SpanTruth { readonly span_us: number; readonly busy_us: number; readonly idle_us: number }
interface DeviceTruth extends Partial<SpanTruth> {
  readonly all_gpu?: SpanTruth;
  readonly kernels_only?: SpanTruth;
  readonly compute_busy_us?: number;
  readonly comm_busy_us?: number;
  readonly mem_busy_us?: number;
  readonly comm_overlapped_by_compute_us?: number;
  readonly comm_exposed_us?: number;
}

/** Counts are exact; a time may be off by 0.001 µs an event, and by 0.01 µs in sums of thousands. */
function near(actual: number | null, expected: number | undefined, eventCount: number, what: string): void {
  if (expected === undefined) {
    return;
  }
  const tolerance = Math.min(0.01, 0.001 * Math.max(1, eventCount)) + 1e-9;
  assert.ok(actual !== null && Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected}`);
}

const root = sharedPath('kineto');

async function read(file: string): Promise<RankData> {
  const port = nodeFilePort();
  const { sources } = await detectProfile(port, file);
  assert.equal(sources.length, 1, 'one rank in one file');
  const { read: readRank } = sources[0];
  assert.ok(readRank !== undefined);
  return readRank({ port, problems: new ProblemList() });
}

function holdKernels({ kernels, split }: RankReport, truth: Truth): void {
  assert.equal(kernels.count, truth.kernels);
  near(kernels.totalUs, truth.kernel_total_us, truth.kernels, 'kernel time');
  for (const [ours, theirs] of [['compute', 'compute'], ['communication', 'comm'], ['memcpy', 'memcpy'], ['memset', 'memset']] as const) {
    assert.equal(split[ours].count, truth.split_count[theirs], `${ours} count`);
    near(split[ours].totalUs, truth.split_total_us?.[theirs], truth.split_count[theirs], `${ours} total`);
  }
  if (truth.kernels > 0) {
    near(kernels.minUs, truth.kernel_dur_us.min, 1, 'shortest');
    near(kernels.maxUs, truth.kernel_dur_us.max, 1, 'longest');
    near(kernels.p50Us, truth.kernel_dur_us.p50_nearest_rank, 1, 'p50');
    near(kernels.p90Us, truth.kernel_dur_us.p90_nearest_rank, 1, 'p90');
  }
}

function holdNames(data: RankData, truth: Truth): void {
  const byName = new Map<string, { count: number; totalNs: number }>();
  for (const { name, count, totalNs } of kernelGroups(data, selectEvents(data.deviceEvents))) {
    const sums = byName.get(name) ?? { count: 0, totalNs: 0 };
    byName.set(name, { count: sums.count + count, totalNs: sums.totalNs + totalNs });
  }
  if (truth.distinct_kernel_names !== undefined) {
    assert.equal(byName.size, truth.distinct_kernel_names);
  }
  for (const { name, count, total_us } of truth.top10_kernels) {
    assert.equal(byName.get(name)?.count, count, name);
    near((byName.get(name)?.totalNs ?? NaN) / 1000, total_us, count, name);
  }
  const expected = truth.top10_kernels.map(({ name }) => name);
  const ours = [...byName].sort((a, b) => b[1].totalNs - a[1].totalNs || (a[0] < b[0] ? -1 : 1)).slice(0, expected.length).map(([name]) => name);
  assert.deepEqual(ours, expected);
}

function holdStreams({ streams }: RankReport, truth: Truth): void {
  const expected = Object.entries(truth.per_stream);
  assert.equal(streams.length, expected.length);
  for (const [key, stream] of expected) {
    const ours = streams.find((each) => `device ${each.device} stream ${each.stream}` === key);
    assert.ok(ours !== undefined, `${key} among ${streams.map((each) => `device ${each.device} stream ${each.stream}`).join(', ')}`);
    const events = stream.kernels + (stream.memcpy ?? 0) + (stream.memset ?? 0);
    assert.equal(ours.count, stream.kernels, key);
    near(ours.totalUs, stream.kernel_total_us, stream.kernels, `${key} kernel time`);
    if (stream.memcpy !== undefined) {
      near(ours.busyUs, stream.busy_us, events, `${key} busy`);
      near(ours.idleUs, stream.idle_us, events, `${key} idle`);
      near((ours.lastUs ?? NaN) - (ours.firstUs ?? NaN), stream.span_us, 2, `${key} span`);
    }
  }
}

function holdDevices(data: RankData, { kernels, lanes }: RankReport, truth: Truth): void {
  const devices = Object.values(truth.per_device);
  assert.ok(devices.length <= 1, 'these traces have one device each');
  for (const device of devices) {
    const only = device.kernels_only ?? (device as SpanTruth);
    near(kernels.spanUs, only.span_us, 2, 'span');
    near(kernels.busyUs, only.busy_us, truth.kernels, 'busy');
    near(kernels.idleUs, only.idle_us, truth.kernels, 'idle');
    near(lanes.computeBusyUs, device.compute_busy_us, truth.kernels, 'compute busy');
    near(lanes.communicationBusyUs, device.comm_busy_us, truth.kernels, 'communication busy');
    near(lanes.copyBusyUs ?? 0, device.mem_busy_us, truth.kernels, 'copy busy');
    near(lanes.overlappedUs, device.comm_overlapped_by_compute_us, truth.kernels, 'overlapped');
    near(lanes.exposedCommunicationUs, device.comm_exposed_us, truth.kernels, 'exposed communication');
    const unions = busyUnions(data.deviceEvents, selectEvents(data.deviceEvents));
    near((lengthOf(unions.compute) + lengthOf(unions.communication)) / 1000, (device.compute_busy_us ?? NaN) + (device.comm_busy_us ?? NaN) || undefined, truth.kernels, 'unions');
  }
}

describe('figures of every shared trace', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  for (const folder of readdirSync(root).filter((name) => existsSync(path.join(root, name, 'truth.json')))) {
    const all = JSON.parse(readFileSync(path.join(root, folder, 'truth.json'), 'utf8')) as Readonly<Record<string, Truth>>;
    for (const [file, truth] of Object.entries(all)) {
      if (truth.kernels === undefined) {
        continue;
      }
      it(`${folder}/${path.basename(file)}`, async () => {
        const data = await read(path.join(root, folder, file));
        const report = rankReport(data, { label: file });
        holdKernels(report, truth);
        holdNames(data, truth);
        holdStreams(report, truth);
        holdDevices(data, report, truth);
        const zero = selectEvents(data.deviceEvents).rows.filter((row) => data.deviceEvents.kind[row] < 2 && data.deviceEvents.durationNs[row] === 0).length;
        assert.equal(zero, truth.zero_length_kernels ?? 0, 'kernels of zero length');
        const steps = (truth.steps?.list ?? []).filter(({ cat }) => cat !== 'gpu_user_annotation');
        for (const { name, kernels_launched_inside } of steps) {
          if (kernels_launched_inside !== undefined && steps.filter((step) => step.name === name).length === 1 && data.coverage.launches) {
            assert.equal(report.steps.find((step) => step.name === name)?.kernels, kernels_launched_inside, name);
          }
        }
      });
    }
  }
});
