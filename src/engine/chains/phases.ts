/** Forward, recompute, backward: read from the kernels that only one of them launches. */
import type { TokenNames } from './kernelSequence';

export type Phase = 'forward' | 'recompute' | 'backward' | 'optimizer' | 'unknown';

/** Operators that only the backward pass launches. */
const BACKWARD_ONLY = /Backward$|Grad$/;
export const isBackwardOnly = (operator: string): boolean => BACKWARD_ONLY.test(operator);
/** Operators that end a forward pass. */
const LOSS = new Set(['logSoftmax', 'nllLoss', 'mseLoss', 'fused.crossEntropy']);
const OPTIMIZER = new Set(['fused.adamw', 'addcdiv', 'foreach', 'lerp']);

/**
 * Phase of each token. A step runs forward until the loss or the first backward kernel; from there on it is in the
 * backward pass, where forward-only chains are recompute, until the optimizer or the next micro-batch (an embedding after
 * the backward kernels ended). Without any backward kernel the phase is unknown when nothing else tells (an inference run).
 */
export function phasesOf(tokens: Uint16Array, names: TokenNames): Uint8Array {
  const phases = new Uint8Array(tokens.length);
  const kinds = names.names.map((name) => (isBackwardOnly(name) ? 1 : LOSS.has(name) ? 2 : OPTIMIZER.has(name) ? 3 : name === 'indexSelect' ? 4 : 0));
  // Index of the next backward-only kernel, to tell the gap between micro-batches from a lull in the backward pass.
  const nextBackward = new Int32Array(tokens.length + 1).fill(-1);
  for (let i = tokens.length - 1; i >= 0; i--) {
    nextBackward[i] = kinds[tokens[i]] === 1 ? i : nextBackward[i + 1];
  }
  if (nextBackward[0] < 0) {
    return phases.fill(PHASES.indexOf('unknown'));
  }
  let phase: number = FORWARD;
  let sawBackward = false;
  for (let i = 0; i < tokens.length; i++) {
    switch (kinds[tokens[i]]) {
      case 1:
        phase = BACKWARD;
        sawBackward = true;
        break;
      case 2:
        if (phase === OPTIMIZER_PHASE || phase === FORWARD) {
          phase = LOSS_SEEN;
        }
        break;
      case 3:
        if (sawBackward) {
          phase = OPTIMIZER_PHASE;
        }
        break;
      case 4:
        // An embedding: the next micro-batch, when a loss comes before the next backward kernel.
        if (phase === OPTIMIZER_PHASE || (phase === BACKWARD && lossBefore(tokens, kinds, i, nextBackward[i]))) {
          phase = FORWARD;
        }
        break;
      default:
        break;
    }
    phases[i] = phase === LOSS_SEEN ? FORWARD : phase;
  }
  return phases;
}

function lossBefore(tokens: Uint16Array, kinds: readonly number[], from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (kinds[tokens[i]] === 2) {
      return true;
    }
  }
  return false;
}

export const PHASES: readonly Phase[] = ['forward', 'recompute', 'backward', 'optimizer', 'unknown'];
const FORWARD = 0;
const BACKWARD = 2;
const OPTIMIZER_PHASE = 3;
const LOSS_SEEN = 5;
