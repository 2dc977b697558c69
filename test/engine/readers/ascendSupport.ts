/** What the Ascend reader tests share: reading by detection, and slow oracles over the files' own text. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { EventKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList, type Problem } from '../../../src/engine/profile/problems';
import { findAscendFolders, type AscendFinding } from '../../../src/engine/readers/ascendFolders';
import type { RankSource } from '../../../src/engine/readers/reader';
import { nodeFilePort } from '../../../src/node/filePort';

export const port = nodeFilePort();

export async function find(folder: string, prefer?: 'text' | 'db'): Promise<AscendFinding & { readonly problems: readonly Problem[] }> {
  const problems = new ProblemList();
  const found = await findAscendFolders(port, folder, { problems, prefer });
  return { ...found, problems: problems.toArray() };
}

export interface ReadRank {
  readonly source: RankSource;
  readonly data: RankData;
  readonly problems: readonly Problem[];
}

export async function readSource(source: RankSource | undefined, chunkSize?: number): Promise<ReadRank> {
  if (source?.read === undefined) {
    throw new Error(`cannot be read: ${source?.id}`);
  }
  const problems = new ProblemList();
  const data = await source.read({ port, problems, ...(chunkSize === undefined ? {} : { chunkSize }) });
  return { source, data, problems: problems.toArray() };
}

/** The only rank below a path. */
export async function readOnly(folder: string, chunkSize?: number): Promise<ReadRank> {
  const { sources } = await find(folder);
  if (sources.length !== 1) {
    throw new Error(`${folder}: ${sources.length} ranks`);
  }
  return readSource(sources[0], chunkSize);
}

export interface OracleKernel {
  readonly startNs: bigint | undefined;
  readonly durationNs: bigint | undefined;
  readonly name: string;
  readonly type: string;
  readonly core: string;
  readonly stream: string;
  readonly shapes: string;
  readonly dtypes: string;
  readonly step: string;
}

/** Microseconds as text to ns; undefined for anything but plain digits. */
export function nanoseconds(text: string): bigint | undefined {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text.replace(/["\s]/g, ''));
  if (match === null) {
    return undefined;
  }
  const fraction = (match[2] ?? '').padEnd(4, '0');
  return BigInt(match[1]) * 1000n + BigInt(fraction.slice(0, 3)) + (fraction[3] >= '5' ? 1n : 0n);
}

export function csvRows(file: string): readonly Readonly<Record<string, string>>[] {
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  return Papa.parse<Record<string, string>>(text, { header: true, delimiter: ',', newline: '\n', skipEmptyLines: true }).data;
}

/** Rows of a kernel table in order of start (ties in file order), by papaparse and BigInt. */
export function oracleKernels(file: string): readonly OracleKernel[] {
  const cell = (row: Readonly<Record<string, string>>, ...names: readonly string[]): string => {
    const value = (names.map((name) => row[name]).find((one) => one !== undefined) ?? '').trim();
    return value === 'N/A' ? '' : value;
  };
  const kernels = csvRows(file).map((row) => ({
    startNs: nanoseconds(cell(row, 'Start Time(us)', 'Task Start Time(us)')), durationNs: nanoseconds(cell(row, 'Duration(us)', 'Task Duration(us)')), name: cell(row, 'Name', 'Op Name'),
    type: cell(row, 'Type', 'OP Type'), core: cell(row, 'Accelerator Core', 'Task Type'), stream: cell(row, 'Stream ID'), shapes: cell(row, 'Input Shapes').replace(/^"|"$/g, ''),
    dtypes: cell(row, 'Input Data Types').replace(/^"|"$/g, ''), step: cell(row, 'Step Id'),
  }));
  return kernels.map((kernel, i) => ({ kernel, i })).sort((a, b) => compare(a.kernel.startNs, b.kernel.startNs) || a.i - b.i).map(({ kernel }) => kernel);
}

function compare(a: bigint | undefined, b: bigint | undefined): number {
  return a === undefined || b === undefined ? (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0) : a < b ? -1 : a > b ? 1 : 0;
}

export interface ReadKernel extends OracleKernel {
  readonly kind: number;
  readonly row: number;
}

/** Kernels (no copies) as read, in the oracle's shape. */
export function kernelsOf(data: RankData): readonly ReadKernel[] {
  const { deviceEvents: events, strings } = data;
  const ns = (value: number): bigint | undefined => (Number.isNaN(value) ? undefined : BigInt(value));
  const kernels: ReadKernel[] = [];
  for (let row = 0; row < events.count; row++) {
    if (events.kind[row] > EventKind.Communication) {
      continue;
    }
    const start = ns(events.startNs[row]);
    kernels.push({
      row, kind: events.kind[row], startNs: start === undefined ? undefined : data.baseNs + start, durationNs: ns(events.durationNs[row]), name: strings.get(events.name[row]),
      type: strings.get(events.type[row]), core: strings.get(events.core[row]), stream: data.streams[events.stream[row]].stream ?? '', shapes: strings.get(events.shapes[row]),
      dtypes: strings.get(events.dtypes[row]), step: events.step[row] < 0 ? '' : String(data.steps[events.step[row]].number ?? ''),
    });
  }
  return kernels;
}

export const problemKinds = (problems: readonly Problem[]): readonly string[] => problems.map((problem) => problem.kind).sort();

export const outputOf = (folder: string, file: string): string => path.join(folder, 'ASCEND_PROFILER_OUTPUT', file);
