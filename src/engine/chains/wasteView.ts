/** What the finders of wastes look at, and what they answer. Evidence thresholds stand in each finder, with the reason. */
import type { RankData } from '../profile/columns';
import type { KernelSequence, TokenNames } from './kernelSequence';

export interface WasteView {
  readonly rank: RankData;
  readonly names: TokenNames;
  /** The stream with most compute first. */
  readonly sequences: readonly KernelSequence[];
  /** Steps in the window, at least 1. */
  readonly steps: number;
  /** False for device events that a recognised chain or another waste has taken. */
  readonly isFree: (event: number) => boolean;
}

/** One occurrence of a waste. */
export interface WasteRun {
  /** Device events in order. */
  readonly events: readonly number[];
  /** What sets its group apart: operators or kernel types, joined by spaces. */
  readonly chain: string;
  /** How long the host waited for it, ns; absent where nothing tells. */
  readonly stallNs?: number;
}

export type WasteFinder = (view: WasteView) => readonly WasteRun[];

/** Runs of neighbouring free tokens of a sequence for which `wanted` holds, as token ranges, end exclusive. */
export function freeRuns(view: WasteView, sequence: KernelSequence, wanted: (operator: string) => boolean): readonly (readonly [number, number])[] {
  const { tokens, positions, order } = sequence;
  const fits = view.names.names.map(wanted);
  const runs: [number, number][] = [];
  let start = -1;
  for (let i = 0; i <= tokens.length; i++) {
    const inside = i < tokens.length && fits[tokens[i]] && view.isFree(order[positions[i]]);
    if (inside && start < 0) {
      start = i;
    } else if (!inside && start >= 0) {
      runs.push([start, i]);
      start = -1;
    }
  }
  return runs;
}

/** Device events of tokens `[start, end)`; helpers between them are theirs. */
export const eventsOf = ({ order, positions }: KernelSequence, start: number, end: number): readonly number[] => [...order.subarray(positions[start], positions[end - 1] + 1)];
