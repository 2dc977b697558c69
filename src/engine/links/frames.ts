/**
 * Python frames: their text (`file(line): function`) and which of them enclose a host event. Frames come as events of kind
 * Python (1.12 and newer) or as `Call stack` text on operators (1.8 to 1.12, Ascend).
 */
import type { HostEvents } from '../profile/columns';
import { HostKind } from '../profile/columns';
import { Nesting } from './nesting';

export interface FrameText {
  readonly file: string;
  /** The `def` line for frames entered during the recording, the running line for those already active and for `Call stack`. */
  readonly line: number;
  readonly function: string;
}

const FRAME = /^([\s\S]*)\((\d+)\): ([\s\S]*)$/;

/**
 * Splits at the LAST `(digits): `: file names are free text (generated code, whole source lines; pytorch#113001).
 * Undefined for `<built-in …>` and `nn.Module: …`, which are no places in a file.
 */
export function parseFrame(text: string): FrameText | undefined {
  const match = FRAME.exec(text);
  if (match === null) {
    return undefined;
  }
  return { file: match[1], line: Number(match[2]), function: match[3] };
}

const LIBRARY = /^torch\/|(?:^|\/)(?:site-packages|dist-packages)\/|(?:^|\/)lib\/python3[^/]*\/|^</i;
const PLUMBING = /^(?:.*\/)?(?:threading|contextlib|runpy|functools)\.py$/;

/** Whether a file looks like the user's own code, going by its path alone (no workspace at hand). */
export function isUserFile(file: string): boolean {
  const path = file.replaceAll('\\', '/');
  return !LIBRARY.test(path) && !PLUMBING.test(path);
}

/** The frames of a `Call stack` argument, innermost first, as written (`;` between, Ascend adds line breaks). */
export function splitCallStack(text: string): readonly string[] {
  return text.split(/;\s*/).map(frame => frame.trim()).filter(frame => frame !== '');
}

/** What is needed of a rank: its host events and how many threads they lie on. */
interface HasHost {
  readonly hostEvents: HostEvents;
  readonly threads: { readonly length: number };
}

const pythonNesting = new WeakMap<HostEvents, Nesting>();
const operatorNesting = new WeakMap<HostEvents, Nesting>();

/** Built on first use and kept as long as the columns live. */
function pythonFramesOf(rank: HasHost): Nesting {
  return cached(pythonNesting, rank, HostKind.Python);
}

export function operatorsOf(rank: HasHost): Nesting {
  return cached(operatorNesting, rank, HostKind.Operator);
}

function cached(cache: WeakMap<HostEvents, Nesting>, rank: HasHost, kind: HostKind): Nesting {
  let nesting = cache.get(rank.hostEvents);
  if (nesting === undefined) {
    nesting = Nesting.build(rank.hostEvents, rank.threads.length, k => k === kind);
    cache.set(rank.hostEvents, nesting);
  }
  return nesting;
}

/**
 * Python frames (host rows of kind Python: file frames, `nn.Module: …`, built-ins) round the start of host event `row`,
 * outermost first. Built by time; where starts are equal the parent ids decide, since a third of the frames of an
 * integer-µs file have no length.
 */
export function framesOf(rank: HasHost, row: number): number[] {
  const host = rank.hostEvents;
  const frames = pythonFramesOf(rank).enclosing(host.thread[row], host.startNs[row]);
  for (let from = 0; from < frames.length;) {
    let to = from + 1;
    while (to < frames.length && host.startNs[frames[to]] === host.startNs[frames[from]]) {
      to++;
    }
    if (to - from > 1) {
      orderByParent(host, frames, from, to);
    }
    from = to;
  }
  return frames;
}

/** Within `[from, to)`: every frame behind its parent, else as it was. */
function orderByParent(host: HostEvents, frames: number[], from: number, to: number): void {
  const rest = frames.slice(from, to);
  const byId = new Map(rest.map(frame => [host.pythonId[frame], frame]));
  const placed = new Set<number>();
  let at = from;
  for (const frame of rest) {
    const chain: number[] = [];
    let current: number | undefined = frame;
    while (current !== undefined && !placed.has(current)) {
      chain.push(current);
      placed.add(current);
      current = host.pythonParent[current] >= 0 ? byId.get(host.pythonParent[current]) : undefined;
    }
    while (chain.length > 0) {
      frames[at++] = chain.pop() ?? frame;
    }
  }
}
