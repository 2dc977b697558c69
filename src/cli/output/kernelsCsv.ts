import Papa from 'papaparse';
import { FAMILIES } from '../../protocol/families';
import type { Explanation } from '../../engine/attribution/explain';
import type { RankData } from '../../engine/profile/columns';
import { isKernel } from '../../engine/analysis/selection';

/** Columns of `--kernels`; what we cannot say is an empty cell. */
export const KERNEL_COLUMNS = [
  'rank', 'step', 'stream', 'startNs', 'durationNs', 'name', 'type', 'family', 'phase', 'fingerprint', 'file', 'startLine', 'endLine', 'function', 'method',
  'confidence', 'equals',
] as const;

const ROWS_PER_CHUNK = 4096;

export function kernelsCsvHeader(): string {
  return `${KERNEL_COLUMNS.join(',')}\n`;
}

/**
 * One row per kernel of a rank, in order of the columns, as chunks of text: a million kernels never become one string.
 * `startNs` is absolute (decimal text, beyond what a double holds); `step` limits the rows to one step.
 */
export function* kernelsCsv(data: RankData, rank: number | undefined, step?: number, explanation?: Explanation): Generator<string> {
  const { deviceEvents: events, strings } = data;
  let rows: string[][] = [];
  for (let row = 0; row < events.count; row++) {
    if (!isKernel(events.kind[row]) || (step !== undefined && events.step[row] !== step)) {
      continue;
    }
    const stepInfo = data.steps[events.step[row]];
    rows.push([
      rank === undefined ? '' : String(rank),
      stepInfo === undefined ? '' : String(stepInfo.number ?? stepInfo.name),
      data.streams[events.stream[row]]?.stream ?? '',
      absolute(data.baseNs, events.startNs[row]),
      integer(events.durationNs[row]),
      strings.get(events.name[row]),
      strings.get(events.type[row]),
      FAMILIES[events.family[row]] ?? 'other',
      ...sourceCells(explanation, row),
    ]);
    if (rows.length === ROWS_PER_CHUNK) {
      yield unparse(rows);
      rows = [];
    }
  }
  if (rows.length > 0) {
    yield unparse(rows);
  }
}

function unparse(rows: string[][]): string {
  return `${Papa.unparse(rows, { header: false, newline: '\n' })}\n`;
}

function absolute(baseNs: bigint, relativeNs: number): string {
  return Number.isNaN(relativeNs) ? '' : (baseNs + BigInt(Math.round(relativeNs))).toString();
}

function integer(ns: number): string {
  return Number.isNaN(ns) ? '' : String(Math.round(ns));
}

/** Phase, chain and source of a kernel; empty where there is none, or where we abstain. */
function sourceCells(explanation: Explanation | undefined, row: number): readonly string[] {
  const chain = explanation?.fingerprints[explanation.chainOf[row]]?.fingerprint;
  const origin = explanation?.origins[explanation.originOf[row]];
  return [
    chain?.phase ?? (origin?.backward === true ? 'backward' : ''), chain?.id ?? '',
    ...(origin === undefined ? ['', '', '', '', '', '', ''] : [origin.file, String(origin.startLine), String(origin.endLine), origin.function, origin.method, origin.confidence.toFixed(2), String(origin.equals)]),
  ];
}
