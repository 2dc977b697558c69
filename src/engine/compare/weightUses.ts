import type { RankDigest, WeightUse } from '../../protocol/compare';
import { modelWeights } from './modelWeights';

/** Smaller tensors are scales and biases, not weights or activations. */
const SMALLEST_TENSOR = 1024;
const MOST_WEIGHTS = 400;

interface Tensor {
  /** As written. */
  readonly dimensions: readonly number[];
  readonly shape: string;
  readonly elements: number;
}

/**
 * Which operands large multiplications have, from the input shapes as written (`4096,2048;2048,6144`). An operand that both
 * runs multiply by is a weight of one model; the other operand's size tells how much work went through it.
 */
export class WeightUses {
  private kernels = 0;
  private shaped = 0;
  private readonly uses = new Map<string, { kernels: number; otherElements: number }>();
  private readonly parsed = new Map<string, readonly Tensor[]>();
  private readonly calls = new Map<string, number>();

  add(shapes: string): void {
    this.kernels++;
    const tensors = this.tensorsOf(shapes);
    if (tensors.length < 2) {
      return;
    }
    this.shaped++;
    this.calls.set(shapes, (this.calls.get(shapes) ?? 0) + 1);
    const seen = new Set<string>();
    tensors.forEach(({ shape }, i) => {
      if (!seen.has(shape)) {
        seen.add(shape);
        const use = this.uses.get(shape) ?? { kernels: 0, otherElements: 0 };
        this.uses.set(shape, use);
        use.kernels++;
        use.otherElements += Math.max(...tensors.filter((_tensor, other) => other !== i).map(({ elements }) => elements));
      }
    });
  }

  finish(): RankDigest['matmul'] {
    const weights = [...this.uses].map(([shape, { kernels, otherElements }]): WeightUse => ({ shape, kernels, otherElements }))
      .sort((a, b) => b.kernels - a.kernels || (a.shape < b.shape ? -1 : 1)).slice(0, MOST_WEIGHTS);
    const multiplications = [...this.calls].map(([shapes, kernels]) => ({ tensors: this.tensorsOf(shapes).map(({ dimensions }) => dimensions), kernels }));
    return { kernels: this.kernels, shaped: this.shaped, weights, modelWeights: modelWeights(multiplications).slice(0, MOST_WEIGHTS) };
  }

  private tensorsOf(shapes: string): readonly Tensor[] {
    let known = this.parsed.get(shapes);
    if (known === undefined) {
      known = shapes.split(';').flatMap((part) => {
        const dimensions = part.split(',').map(Number).filter((value) => value > 1);
        const elements = dimensions.reduce((product, value) => product * value, 1);
        return dimensions.length < 2 || !(elements >= SMALLEST_TENSOR) ? [] : [{ dimensions, shape: [...dimensions].sort((a, b) => a - b).join(','), elements }];
      });
      this.parsed.set(shapes, known);
    }
    return known;
  }
}
