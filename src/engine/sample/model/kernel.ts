import { operatorOf } from './operators';

/**
 * One line of a block table: operator, input shapes, output shape and, where the article gives one, the mean duration in
 * microseconds. Shapes are written `T,2048` (bf16), `T,2048:f` (fp32), `T:i` (int64); `T` is tokens per micro-batch and
 * rank, `C` tokens per loss chunk; several inputs are separated by `;`.
 */
export type KernelLine = readonly [operator: string, inputs: string, output: string, microseconds?: number];
export type Block = readonly KernelLine[];

/** A kernel as the program runs it: everything but when, and the jitter. */
export interface Kernel {
  readonly name: string;
  readonly type: string;
  readonly core: string;
  readonly inputShapes: string;
  readonly inputTypes: string;
  readonly outputShapes: string;
  readonly outputTypes: string;
  /** Belongs to the group that closes the counts. */
  readonly remainder: boolean;
  /** Mean duration in nanoseconds. */
  readonly meanNs: number;
}

const DTYPES = { b: ['DT_BF16', 2], f: ['FLOAT', 4], i: ['INT64', 8] } as const;

interface Tensor { readonly shape: string; readonly dtype: string; readonly bytes: number; readonly dims: readonly number[] }

export interface CostModel {
  /** Tokens of one micro-batch on one rank. */
  readonly tokens: number;
  readonly lossChunkTokens: number;
  /** Effective matrix rate, floating-point operations per nanosecond (1,000 = 1 TFLOP/s). */
  readonly matrixRate: number;
  /** Factor on copies into and out of FSDP buffers: they lose to the collectives when those run all the time. */
  readonly copyScale: number;
  /** Launch floor of a kernel, ns. */
  readonly floorNs: number;
}

/** Turns block lines into kernels under one cost model; equal lines share one object. */
export class KernelFactory {
  private readonly cache = new Map<string, Kernel>();

  constructor(private readonly cost: CostModel) {}

  kernels(block: Block): Kernel[] {
    return block.map((line) => this.kernel(line));
  }

  kernel([key, inputs, output, microseconds]: KernelLine): Kernel {
    const id = `${key}|${inputs}|${output}|${microseconds ?? ''}`;
    let kernel = this.cache.get(id);
    if (kernel === undefined) {
      const operator = operatorOf(key);
      const sources = inputs.split(';').map((text) => this.tensor(text));
      const target = this.tensor(output);
      const meanNs = microseconds === undefined ? this.costOf(key, operator.rate, sources, target) : microseconds * 1000;
      kernel = {
        name: operator.name, type: operator.type, core: operator.core, meanNs, remainder: false,
        inputShapes: sources.map((t) => t.shape).join(';'), inputTypes: sources.map((t) => t.dtype).join(';'),
        outputShapes: target.shape, outputTypes: target.dtype,
      };
      this.cache.set(id, kernel);
    }
    return kernel;
  }

  /** Matrix products by arithmetic, everything else by bytes moved, both over a launch floor. */
  private costOf(key: string, rate: number, inputs: readonly Tensor[], output: Tensor): number {
    if (key === 'MatMul') {
      const [left] = inputs;
      const inner = left.dims[left.dims.length - 1];
      const flops = 2 * inner * output.dims.reduce((product, n) => product * n, 1);
      return 6000 + flops / this.cost.matrixRate;
    }
    // A slice reads only what it keeps.
    const bytes = key.startsWith('Slice') ? 2 * output.bytes : inputs.reduce((sum, tensor) => sum + tensor.bytes, output.bytes);
    const scale = key === 'Move' || key === 'CastInto' ? this.cost.copyScale : 1;
    return this.cost.floorNs + bytes / (rate * scale);
  }

  private tensor(text: string): Tensor {
    const [shape, mark = 'b'] = text.split(':');
    const [dtype, width] = DTYPES[mark as keyof typeof DTYPES];
    const dims = shape.split(',').map((d) => (d === 'T' ? this.cost.tokens : d === 'C' ? this.cost.lossChunkTokens : Number(d)));
    return { shape: dims.join(','), dtype, dims, bytes: width * dims.reduce((product, n) => product * n, 1) };
  }
}
