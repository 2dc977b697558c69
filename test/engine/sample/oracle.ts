import Papa from 'papaparse';

/**
 * A slow, obvious reading of kernel_details.csv, apart from everything the product does: papaparse for the cells, BigInt for
 * the times, whole numbers of nanoseconds after the first start.
 */
export interface OracleRow {
  readonly name: string;
  readonly type: string;
  readonly core: string;
  readonly communication: boolean;
  readonly start: number;
  readonly duration: number;
  readonly end: number;
  readonly cells: Readonly<Record<string, string>>;
}

export interface OracleTable { readonly base: bigint; readonly rows: readonly OracleRow[]; readonly columns: readonly string[] }

export function nanoseconds(cell: string): bigint {
  const match = /^(\d+)\.(\d{3})\t?$/.exec(cell);
  if (match === null) {
    throw new Error(`not microseconds with three decimals: ${JSON.stringify(cell)}`);
  }
  return BigInt(match[1]) * 1000n + BigInt(match[2]);
}

export function readKernels(text: string): OracleTable {
  const parsed = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true });
  if (parsed.errors.length > 0) {
    throw new Error(JSON.stringify(parsed.errors[0]));
  }
  const starts = parsed.data.map((cells) => nanoseconds(cells['Start Time(us)']));
  const base = starts.reduce((least, ns) => (ns < least ? ns : least));
  const rows = parsed.data.map((cells, i): OracleRow => {
    const start = Number(starts[i] - base);
    const duration = Number(nanoseconds(cells['Duration(us)']));
    return {
      name: cells.Name, type: cells.Type, core: cells['Accelerator Core'], communication: cells['Accelerator Core'] === 'COMMUNICATION',
      start, duration, end: start + duration, cells,
    };
  });
  return { base, rows, columns: parsed.meta.fields ?? [] };
}

/** Nearest rank over all kernels, communication included. */
export function percentile(rows: readonly OracleRow[], share: number): number {
  const sorted = rows.map((row) => row.duration).sort((a, b) => a - b);
  return sorted[Math.ceil(share * sorted.length) - 1];
}

export const shareUpTo = (rows: readonly OracleRow[], ns: number): number => rows.filter((row) => row.duration <= ns).length / rows.length;

/** Lanes by colouring every elementary interval between two borders: no cleverness, no union code. */
export function lanes(rows: readonly OracleRow[]): { span: number; computeBusy: number; exposed: number; free: number; overlapped: number } {
  const events = rows.flatMap((row) => [{ at: row.start, step: 1, row }, { at: row.end, step: -1, row }]).sort((a, b) => a.at - b.at);
  const result = { span: 0, computeBusy: 0, exposed: 0, free: 0, overlapped: 0 };
  let compute = 0;
  let communication = 0;
  let previous = events[0].at;
  for (const { at, step, row } of events) {
    const length = at - previous;
    result.span += length;
    result.computeBusy += compute > 0 ? length : 0;
    result.overlapped += compute > 0 && communication > 0 ? length : 0;
    result.exposed += compute === 0 && communication > 0 ? length : 0;
    result.free += compute === 0 && communication === 0 ? length : 0;
    previous = at;
    if (row.communication) { communication += step; } else { compute += step; }
  }
  return result;
}

const MATRIX = /^(MatMulV3|FlashAttentionScore|FlashAttentionScoreGrad)$/;
const GLUE = /^(Cast|TensorMove|Slice|StridedSlice|PadV3|Transpose|ConcatD|ZerosLike|MemSet|Range|Sort|GatherV2|EmbeddingDenseGradV2)$/;
const ELEMENTWISE = /^(Add|Mul|RealDiv|Neg|Abs|NotEqual|Cos|Sin|Sigmoid|SigmoidGrad|Swish|SiluGrad|Pows|ReduceMean|ReduceSum|Rsqrt|_swiglu_fwd|_swiglu_bwd)$/;

export interface Families { readonly matrix: readonly OracleRow[]; readonly glue: readonly OracleRow[]; readonly elementwise: readonly OracleRow[]; readonly norm: readonly OracleRow[] }

/** By type; then five compute kernels in a row that spell a norm's core leave elementwise for norm. */
export function families(rows: readonly OracleRow[]): Families {
  const compute = rows.filter((row) => !row.communication);
  const core = ['Pows', 'ReduceMean', 'Add', 'Rsqrt', 'Mul'];
  const norm = new Set<OracleRow>();
  compute.forEach((_, i) => {
    const run = compute.slice(i, i + core.length);
    if (run.length === core.length && run.every((row, j) => row.type === core[j])) {
      run.forEach((row) => norm.add(row));
    }
  });
  return {
    matrix: compute.filter((row) => MATRIX.test(row.type)),
    glue: compute.filter((row) => GLUE.test(row.type)),
    elementwise: compute.filter((row) => ELEMENTWISE.test(row.type) && !norm.has(row)),
    norm: [...norm],
  };
}

export const total = (rows: readonly OracleRow[]): number => rows.reduce((sum, row) => sum + row.duration, 0);
