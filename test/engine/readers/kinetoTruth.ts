/** The shared Kineto traces with the figures of `truth.json`, and slow, obvious figures over columns to hold against them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { nodeFilePort } from '../../../src/node/filePort';
import { EventKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../../src/engine/profile/problems';
import { containerOf, listMembers } from '../../../src/engine/readers/archive';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { sharedPath } from '../../sharedData';

export interface TruthStream {
  readonly kernels: number;
  readonly kernel_total_us: number;
  readonly memcpy: number;
  readonly memset: number;
  readonly first_us: number;
  readonly last_us: number;
  readonly span_us: number;
  readonly busy_us: number;
  readonly idle_us: number;
  readonly starts_before_previous_end: number;
}

export interface TruthSample {
  readonly kernel: string;
  readonly ts_us: number;
  readonly correlation: number;
  readonly launch_api?: string;
  readonly cpu_op: string | null;
  readonly cpu_op_stack?: readonly string[];
  readonly forward_op?: string | null | { readonly name: string };
  readonly via?: string;
  readonly innermost_frame: string | null;
  readonly innermost_user_frame: string | null;
  readonly module_frames?: readonly string[];
  readonly frames_outer_to_inner?: readonly string[];
}

export interface Truth {
  readonly kind: string;
  readonly events: number;
  readonly events_by_cat_ph: Readonly<Record<string, number>>;
  readonly time: { readonly earliest_ts_us: number; readonly latest_end_us: number };
  readonly top_level: { readonly distributedInfo?: { readonly rank?: number }; readonly baseTimeNanoseconds?: number };
  readonly kernels: number;
  readonly kernel_total_us: number;
  readonly split_total_us: Readonly<Record<'compute' | 'comm' | 'memcpy' | 'memset', number>>;
  readonly split_count: Readonly<Record<'compute' | 'comm' | 'memcpy' | 'memset', number>>;
  readonly zero_length_kernels: number;
  readonly distinct_kernel_names: number;
  readonly kernel_dur_us: Readonly<Record<string, number | null>>;
  readonly top10_kernels: readonly { readonly name: string; readonly count: number; readonly total_us: number }[];
  readonly per_stream: Readonly<Record<string, TruthStream>>;
  readonly per_device: Readonly<Record<string, {
    readonly all_gpu: Omit<TruthStream, 'kernels'>; readonly kernels_only: Omit<TruthStream, 'kernels'>;
    readonly compute_busy_us: number; readonly comm_busy_us: number; readonly mem_busy_us: number; readonly comm_overlapped_by_compute_us: number;
  }>>;
  readonly links: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
  readonly steps: { readonly count_cpu: number; readonly list: readonly { readonly name: string; readonly cat: string; readonly ts_us: number; readonly dur_us: number; readonly kernels_launched_inside: number; readonly kernels_started_inside: number }[] };
  readonly threads: number;
  readonly python_source: null | {
    readonly python_events: number; readonly kernels_with_a_python_frame_direct: number; readonly kernels_with_a_python_frame_through_forward: number; readonly samples: readonly TruthSample[];
  };
  readonly call_stack_argument: null | { readonly ops_with_call_stack: number; readonly kernels_with_call_stack: number; readonly samples: readonly TruthSample[] };
}

export interface TruthCase {
  readonly name: string;
  readonly file: string;
  readonly truth: Truth;
}

/** Every chrome trace that has a truth. */
export function truthCases(): readonly TruthCase[] {
  const root = sharedPath('kineto');
  if (!existsSync(root)) {
    return [];
  }
  return readdirSync(root).sort().flatMap(folder => {
    const truthFile = path.join(root, folder, 'truth.json');
    if (!existsSync(truthFile)) {
      return [];
    }
    const truths = JSON.parse(readFileSync(truthFile, 'utf8')) as Record<string, Truth>;
    return Object.entries(truths).filter(([, truth]) => truth.kind === 'chrome trace').map(([file, truth]) => ({ name: `${folder}/${file}`, file: path.join(root, folder, file), truth }));
  });
}

export interface ReadTrace {
  readonly rank: RankData;
  readonly problems: readonly Problem[];
}

export async function readTrace(file: string, options: { readonly member?: string; readonly chunkSize?: number } = {}): Promise<ReadTrace> {
  const port = nodeFilePort();
  const problems = new ProblemList();
  const member = options.member ?? (await listMembers(port, file, await containerOf(port, file)))?.find(({ name }) => name.includes('.json'))?.name;
  const context = { port, problems, ...(options.chunkSize === undefined ? {} : { chunkSize: options.chunkSize }) };
  const rank = await readKinetoTrace(context, file, member === undefined ? {} : { member });
  return { rank, problems: problems.toArray() };
}

export type Interval = readonly [number, number];

/** Device rows of some kinds as intervals; a missing duration counts 0, as TRUTH.md says. */
export function intervals(rank: RankData, keep: (row: number) => boolean): Interval[] {
  const { deviceEvents: device } = rank;
  const found: Interval[] = [];
  for (let row = 0; row < device.count; row++) {
    if (keep(row) && !Number.isNaN(device.startNs[row])) {
      found.push([device.startNs[row], device.startNs[row] + (device.durationNs[row] || 0)]);
    }
  }
  return found;
}

export const isKernel = (rank: RankData, row: number): boolean => rank.deviceEvents.kind[row] === EventKind.Compute || rank.deviceEvents.kind[row] === EventKind.Communication;

export function merged(list: readonly Interval[]): Interval[] {
  const out: [number, number][] = [];
  for (const [start, end] of [...list].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = out[out.length - 1];
    if (last !== undefined && start <= last[1]) {
      last[1] = Math.max(last[1], end);
    } else {
      out.push([start, end]);
    }
  }
  return out;
}

export const lengthOf = (list: readonly Interval[]): number => list.reduce((sum, [start, end]) => sum + end - start, 0);

export const unionNs = (list: readonly Interval[]): number => lengthOf(merged(list));

export function intersectionNs(a: readonly Interval[], b: readonly Interval[]): number {
  return unionNs(a) + unionNs(b) - unionNs([...a, ...b]);
}
