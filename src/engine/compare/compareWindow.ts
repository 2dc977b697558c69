/** One side of a pair of windows: found by what it was chosen for, cut out with its lanes, brackets and idle times. */
import type { CompareWindow, CompareWindowParams, WindowBracket, WindowFocus, WindowKernel } from '../../protocol/compare';
import { FAMILIES } from '../../protocol/families';
import { computeIdleIntervals, mainStream } from '../analysis/laneFigures';
import { clip, lengthOf, type Intervals } from '../analysis/intervals';
import { busyUnions, isKernel, selectEvents, type Selection } from '../analysis/selection';
import type { Explanation } from '../attribution/explain';
import { canonicalOperator, kernelTokens } from '../chains/kernelSequence';
import { PHASES } from '../chains/phases';
import { EventKind, type RankData } from '../profile/columns';
import { eventPhases, fusedPhase } from './eventPhases';
import { collectiveOf } from './rankDigest';

/** Kernels and brackets that are drawn; a window is some milliseconds wide, so this is seldom reached. */
const MOST_KERNELS = 3000;
const MOST_BRACKETS = 200;
/** Room before the first kernel of the focus, as a share of the window. */
const LEAD = 0.03;
const MATMUL = FAMILIES.indexOf('matmul');

export function compareWindow(data: RankData, params: CompareWindowParams, explanation: Explanation | undefined): CompareWindow {
  const { widthNs, place } = params;
  const selection = selectEvents(data.deviceEvents, params.step ?? undefined);
  const rows = selection.rows.filter((row) => isTimed(data, row));
  const focus = focusRows(data, rows, params.focus, explanation);
  const anchors = rows.filter((row) => data.deviceEvents.family[row] === MATMUL && data.deviceEvents.kind[row] === EventKind.Compute);
  const startNs = windowStart(data, rows, focus, anchors, widthNs, place);
  return cut(data, selection, rows, focus, anchors, explanation, params.focus, startNs, widthNs);
}

const isTimed = ({ deviceEvents }: RankData, row: number): boolean => !Number.isNaN(deviceEvents.startNs[row] + deviceEvents.durationNs[row]);

/** Rows of the focus, ascending by start. */
function focusRows(data: RankData, rows: Uint32Array, focus: WindowFocus, explanation: Explanation | undefined): Uint32Array {
  const { deviceEvents: events, strings } = data;
  const chains = new Set(focus.chains);
  const operators = new Set(focus.operators);
  const tokenOf = kernelTokens(data);
  const phases = operators.size > 0 && focus.phase !== null ? eventPhases(data, explanation) : undefined;
  const operatorOf = (row: number): string => {
    const name = strings.get(events.name[row]);
    if (events.kind[row] === EventKind.Communication) {
      return collectiveOf(name);
    }
    const token = canonicalOperator(tokenOf(row).op);
    const type = strings.get(events.type[row]);
    return token !== '' ? token : type !== '' && type !== 'N/A' ? type : name;
  };
  return rows.filter((row) => {
    if (!isKernel(events.kind[row])) {
      return false;
    }
    const chain = explanation?.fingerprints[explanation.chainOf[row]]?.fingerprint.id;
    if (chain !== undefined && chains.has(chain)) {
      return true;
    }
    const operator = operators.size > 0 ? operatorOf(row) : '';
    return operators.has(operator) && (phases === undefined || fusedPhase(operator, PHASES[phases[row]]) === focus.phase);
  });
}

/**
 * With a focus and no place: where most of its time falls into one window. With a place: the focus nearest to it. Without a
 * focus: the place itself, so that what is gone leaves its surroundings to be seen.
 */
function windowStart(data: RankData, rows: Uint32Array, focus: Uint32Array, anchors: Uint32Array, widthNs: number, place: number | null): number {
  const { startNs, durationNs } = data.deviceEvents;
  if (rows.length === 0) {
    return 0;
  }
  const lead = widthNs * LEAD;
  if (focus.length === 0) {
    const anchor = anchors.length === 0 ? rows[0] : anchors[Math.min(anchors.length - 1, Math.max(0, Math.round((place ?? 0) * anchors.length)))];
    return startNs[anchor] - lead;
  }
  if (place !== null && anchors.length > 0) {
    let best = focus[0];
    let nearest = Infinity;
    for (const row of focus) {
      const distance = Math.abs(before(data, anchors, startNs[row]) / anchors.length - place);
      if (distance < nearest) {
        nearest = distance;
        best = row;
      }
    }
    return startNs[best] - lead;
  }
  let best = focus[0];
  let most = -1;
  let sum = 0;
  for (let from = 0, to = 0; from < focus.length; from++) {
    for (; to < focus.length && startNs[focus[to]] + durationNs[focus[to]] <= startNs[focus[from]] + widthNs - lead; to++) {
      sum += durationNs[focus[to]];
    }
    if (sum > most) {
      most = sum;
      best = focus[from];
    }
    sum -= to > from ? durationNs[focus[from]] : 0;
    to = Math.max(to, from + 1);
  }
  return startNs[best] - lead;
}

/** How many of the ascending rows start before a time. */
function before({ deviceEvents }: RankData, rows: Uint32Array, timeNs: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (deviceEvents.startNs[rows[middle]] < timeNs) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function cut(data: RankData, selection: Selection, rows: Uint32Array, focus: Uint32Array, anchors: Uint32Array, explanation: Explanation | undefined, wanted: WindowFocus, startNs: number, widthNs: number): CompareWindow {
  const { deviceEvents: events, strings, streams } = data;
  const endNs = startNs + widthNs;
  const tokenOf = kernelTokens(data);
  const inFocus = new Set(focus);
  const inside = rows.filter((row) => events.startNs[row] < endNs && events.startNs[row] + events.durationNs[row] > startNs);
  const started = inside.filter((row) => events.startNs[row] >= startNs && isKernel(events.kind[row]));
  const own = focus.filter((row) => events.startNs[row] >= startNs && events.startNs[row] < endNs);
  const main = mainStream(events, selection, streams);
  const lane = (row: number): WindowKernel['lane'] => {
    switch (events.kind[row]) {
      case EventKind.Communication: return 'communication';
      case EventKind.Compute: return main === undefined || events.stream[row] === main ? 'compute' : 'side';
      default: return 'copy';
    }
  };
  const unions = busyUnions(events, selection);
  const idle = clip(computeIdleIntervals(unions), startNs, endNs);
  return {
    startNs, widthNs, count: started.length, focusCount: own.length, focusNs: own.reduce((sum, row) => sum + events.durationNs[row], 0),
    kernels: [...inside.slice(0, MOST_KERNELS)].map((row): WindowKernel => ({
      event: row, startNs: events.startNs[row] - startNs, durationNs: events.durationNs[row], name: strings.get(events.name[row]), type: strings.get(events.type[row]),
      family: FAMILIES[events.family[row]] ?? 'other', operator: events.kind[row] === EventKind.Compute ? tokenOf(row).op : '', lane: lane(row), focus: inFocus.has(row),
    })),
    brackets: brackets(data, own, explanation, wanted, startNs), idle: pieces(idle, startNs), idleNs: lengthOf(idle),
    place: anchors.length === 0 || inside.length === 0 ? null : before(data, anchors, startNs + widthNs * LEAD) / anchors.length,
  };
}

/** One bracket per occurrence of a chain; neighbouring kernels of an operator, with nothing between them, share one. */
function brackets({ deviceEvents: events }: RankData, own: Uint32Array, explanation: Explanation | undefined, wanted: WindowFocus, startNs: number): readonly WindowBracket[] {
  const occurrence = occurrences(explanation, wanted);
  const found: { startNs: number; endNs: number; kernels: number; totalNs: number; group: string }[] = [];
  for (const row of own) {
    const start = events.startNs[row] - startNs;
    const end = start + events.durationNs[row];
    const last = found.at(-1);
    const group = occurrence.get(row) ?? '';
    const joins = last?.group === group && (group !== '' || start - last.endNs < events.durationNs[row] * 0.5);
    if (last !== undefined && joins) {
      last.endNs = Math.max(last.endNs, end);
      last.kernels++;
      last.totalNs += events.durationNs[row];
    } else {
      found.push({ startNs: start, endNs: end, kernels: 1, totalNs: events.durationNs[row], group });
    }
  }
  return found.slice(0, MOST_BRACKETS).map(({ group: _group, ...bracket }) => bracket);
}

/** Device event → which occurrence of which wanted chain it is in. */
function occurrences(explanation: Explanation | undefined, { chains }: WindowFocus): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { fingerprint } of explanation?.fingerprints ?? []) {
    if (chains.includes(fingerprint.id)) {
      fingerprint.events.forEach((list, i) => list.forEach((event) => found.set(event, `${fingerprint.id} ${i}`)));
    }
  }
  return found;
}

const pieces = ({ count, starts, ends }: Intervals, startNs: number): readonly (readonly [number, number])[] =>
  Array.from({ length: Math.min(count, MOST_KERNELS) }, (_piece, i) => [starts[i] - startNs, ends[i] - starts[i]] as const);
