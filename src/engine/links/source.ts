/** Kernel → Python source: the frames round its launch, else round the forward operator of its backward operator. */
import type { RankData } from '../profile/columns';
import { framesOf, isUserFile, operatorsOf, parseFrame, splitCallStack } from './frames';

export interface KernelSource {
  /** `forward`: no frame round the launch, so these are the frames of the forward operator ("backward of …"). */
  readonly via: 'direct' | 'forward';
  /** Host rows of frames that name a file, outermost first. */
  readonly frames: readonly number[];
  /** Host rows of `nn.Module: …` frames between them, outermost first. */
  readonly modules: readonly number[];
  /** Innermost frame that looks like the user's own code, -1 when all are library frames. */
  readonly innermostUser: number;
  /** The forward operator, when `via` says so. */
  readonly forward: number;
}

type Rank = Pick<RankData, 'hostEvents' | 'deviceEvents' | 'threads' | 'strings'>;

/** Undefined when the kernel has no launch or no frame can be found. */
export function sourceOf(rank: Rank, kernel: number): KernelSource | undefined {
  const launch = rank.deviceEvents.launch[kernel];
  const op = rank.deviceEvents.op[kernel];
  // Under a task queue (torch_npu) the launch lies on a thread of its own, without frames; the operator has them.
  return (launch < 0 ? undefined : sourceOfHost(rank, launch)) ?? (op < 0 ? undefined : sourceOfHost(rank, op));
}

/** The same for any host event. */
export function sourceOfHost(rank: Rank, row: number): KernelSource | undefined {
  const direct = split(rank, framesOf(rank, row));
  if (direct.frames.length > 0) {
    return { via: 'direct', ...direct, forward: -1 };
  }
  const host = rank.hostEvents;
  const backward = operatorsOf(rank).findEnclosing(host.thread[row], host.startNs[row], op => host.forward[op] >= 0);
  if (backward < 0) {
    return undefined;
  }
  const forward = host.forward[backward];
  const through = split(rank, framesOf(rank, forward));
  return through.frames.length > 0 ? { via: 'forward', ...through, forward } : undefined;
}

export interface CallStackSource {
  /** The operator that recorded the stack. */
  readonly op: number;
  /** Frames as written, innermost first. */
  readonly frames: readonly string[];
  /** Innermost frame that looks like the user's own code; undefined when there is none. */
  readonly innermostUser: string | undefined;
}

/** The `Call stack` of the innermost enclosing operator that has one (only part of the operators do). */
export function callStackOf(rank: Rank, kernel: number): CallStackSource | undefined {
  const launch = rank.deviceEvents.launch[kernel];
  const host = rank.hostEvents;
  const linked = rank.deviceEvents.op[kernel];
  const enclosing = (at: number): number => (at < 0 ? -1 : operatorsOf(rank).findEnclosing(host.thread[at], host.startNs[at], row => host.stack[row] !== 0));
  const atLaunch = enclosing(launch);
  const op = atLaunch >= 0 ? atLaunch : enclosing(linked);
  if (op < 0) {
    return undefined;
  }
  const frames = splitCallStack(rank.strings.get(host.stack[op]));
  const innermostUser = frames.find(frame => {
    const parsed = parseFrame(frame);
    return parsed !== undefined && isUserFile(parsed.file);
  });
  return { op, frames, innermostUser };
}

function split(rank: Rank, rows: readonly number[]): { frames: number[]; modules: number[]; innermostUser: number } {
  const frames: number[] = [];
  const modules: number[] = [];
  let innermostUser = -1;
  for (const row of rows) {
    const text = rank.strings.get(rank.hostEvents.name[row]);
    if (text.startsWith('nn.Module: ')) {
      modules.push(row);
      continue;
    }
    const parsed = parseFrame(text);
    if (parsed !== undefined) {
      frames.push(row);
      if (isUserFile(parsed.file)) {
        innermostUser = row;
      }
    }
  }
  return { frames, modules, innermostUser };
}
