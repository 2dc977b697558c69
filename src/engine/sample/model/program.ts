import type { Block, Kernel, KernelFactory } from './kernel';

/** A collective: `transferUs` is the time on the wire once every rank has arrived. */
export interface Collective {
  readonly kind: 'allReduce' | 'allGather' | 'reduceScatter';
  readonly unit: string;
  readonly transferUs: number;
  readonly megabytes: number;
}

/**
 * One step as every rank runs it, in the order of the compute stream. `issue` starts a collective (each kind has its own
 * queue), `wait` holds the compute stream until it has ended, `pause` is the host not feeding the device, `seam` is where
 * unmodelled kernels may go, `mark` names a place.
 */
export type Operation =
  | { readonly kind: 'kernel'; readonly kernel: Kernel; readonly gap: Gap }
  | { readonly kind: 'issue'; readonly collective: number }
  | { readonly kind: 'wait'; readonly collective: number }
  | { readonly kind: 'pause'; readonly name: PauseName }
  | { readonly kind: 'seam'; readonly seam: number; readonly weight: number }
  | { readonly kind: 'mark'; readonly name: MarkName };

/** What the device idles before a kernel: the usual launch gap, the tight one of figure 3C, or waiting for a slow host. */
export type Gap = 'normal' | 'chain' | 'host';
export type PauseName = 'first-micro-batch' | 'next-micro-batch' | 'loss';
export type MarkName = 'gated-forward' | 'gated-recompute' | 'recompute' | 'recompute-end' | 'norm-after-gated' | 'micro-batch' | 'backward' | 'optimizer';

export interface Program {
  readonly operations: readonly Operation[];
  readonly collectives: readonly Collective[];
  /** Weight of each seam. */
  readonly seams: readonly number[];
}

export class ProgramBuilder {
  private readonly operations: Operation[] = [];
  private readonly collectives: Collective[] = [];
  private readonly seams: number[] = [];

  constructor(private readonly factory: KernelFactory) {}

  run(block: Block, gap: Gap = 'normal'): void {
    for (const line of block) {
      this.operations.push({ kind: 'kernel', kernel: this.factory.kernel(line), gap });
    }
  }

  issue(collective: Collective): number {
    const id = this.collectives.push(collective) - 1;
    this.operations.push({ kind: 'issue', collective: id });
    return id;
  }

  wait(collective: number): void {
    this.operations.push({ kind: 'wait', collective });
  }

  pause(name: PauseName): void {
    this.operations.push({ kind: 'pause', name });
  }

  /** `weight` says which share of the remainder goes here. */
  seam(weight: number): void {
    const seam = this.seams.push(weight) - 1;
    this.operations.push({ kind: 'seam', seam, weight });
  }

  mark(name: MarkName): void {
    this.operations.push({ kind: 'mark', name });
  }

  finish(): Program {
    return { operations: this.operations, collectives: this.collectives, seams: this.seams };
  }
}

/** The program with kernels put into its seams; `fill[i]` goes to seam i. */
export function fillSeams(program: Program, fill: readonly (readonly Kernel[])[]): Program {
  const operations: Operation[] = [];
  for (const operation of program.operations) {
    if (operation.kind !== 'seam') {
      operations.push(operation);
      continue;
    }
    for (const kernel of fill[operation.seam] ?? []) {
      operations.push({ kind: 'kernel', kernel, gap: 'normal' });
    }
  }
  return { ...program, operations };
}
