/**
 * The reversed tape of a forward pass: what autograd launches, in order. It runs nodes in reverse order of creation, so the
 * path the forward took tells the sequence; data flow along the path tells which steps the loss depends on, and where
 * gradients of a value used twice are added up.
 */
import type { TokenNames } from '../chains/kernelSequence';
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';
import { operatorWeight } from './automaton';
import { backwardTokens } from './backwardTokens';
import { seenOn, type BackendLook } from './candidates';
import type { Line } from './alignLine';

export interface PathStep {
  /** Operator as seen in the profile. */
  readonly op: string;
  readonly node: number;
  /** Turn of the outermost loop: the layer. */
  readonly turn: number;
}

export interface Tape {
  readonly line: Line;
  readonly nodes: Int32Array;
  /** 1 for backward entries, 0 for recomputed ones. */
  readonly backward: Uint8Array;
}

/** A kernel that may or may not come costs little to leave out. */
const MAYBE = 0.05;

/** Backward of what launches nothing forward, by the first word of a view's name. */
const VIEW_BACKWARD: Readonly<Record<string, readonly string[]>> = {
  slice: ['fill', 'copy'], item: ['fill', 'copy'], select: ['fill', 'copy'], narrow: ['fill', 'copy'], output: ['fill', 'copy'], expand: ['sum'], expand_as: ['sum'], broadcast_to: ['sum'],
  reshape: ['copy'], view: ['copy'], flatten: ['copy'], transpose: ['copy'], permute: ['copy'], chunk: ['cat', 'copy'], split: ['cat', 'copy'], unbind: ['stack', 'copy'], unsqueeze: [], squeeze: [],
};

/** Operators without a gradient of their own. */
const NO_GRADIENT: ReadonlySet<string> = new Set(['compare', 'logical', 'arange', 'fill', 'oneHot', 'nonzero', 'bincount', 'hostRead', 'random', 'dropoutMask', 'any', 'floor', 'sign', 'shape', 'input']);
const HAS_WEIGHT: ReadonlySet<string> = new Set(['matmul', 'indexSelect', 'conv', 'layerNorm', 'rmsNorm', 'groupNorm', 'batchNorm']);

interface TapeStep extends PathStep {
  readonly isView: boolean;
  /** Earlier steps whose values this one uses. */
  readonly uses: readonly number[];
  readonly gradient: boolean;
  /** Operands that carry a gradient. */
  readonly gradientInputs: number;
}

/**
 * Where the pass holds forward kernels (attention, activations) the layers were checkpointed, and each layer's forward may
 * come before its backward.
 */
export function reversedTape(path: readonly PathStep[], graph: OperatorGraph, tokens: Uint16Array, names: TokenNames, look: BackendLook): Tape {
  const forwardOnly = new Set(['attention', 'silu', 'gelu', 'softmax', 'fused.rmsNorm', 'fused.swiglu', 'rsqrt', 'tanh', 'conv', 'layerNorm'].map((name) => names.has(name)));
  const seen = tokens.reduce((count, token) => count + (forwardOnly.has(token) ? 1 : 0), 0);
  const recomputes = seen > path.filter((step) => forwardOnly.has(names.has(step.op))).length / 4;
  const steps = dataFlow(withViews(path, graph), graph);
  const { live, consumers } = liveSteps(steps);
  const entries: { token: number; node: number; skip: number; backward: number }[] = [];
  const push = (op: string, node: number, skip: number, backward: number): void => {
    entries.push({ token: names.id(seenOn(op, look)), node, skip, backward });
  };
  for (let end = steps.length; end > 0;) {
    let start = end;
    while (start > 0 && steps[start - 1].turn === steps[end - 1].turn) {
      start--;
    }
    if (recomputes) {
      steps.slice(start, end).forEach((step) => !step.isView && push(step.op, step.node, MAYBE, 0));
    }
    for (let i = end - 1; i >= start; i--) {
      const step = steps[i];
      const sure = live[i] === 1 && step.gradient;
      if (step.isView) {
        (VIEW_BACKWARD[viewName(graph.nodes[step.node])] ?? ['copy']).forEach((op) => push(op, step.node, MAYBE, 1));
      } else if (step.gradient || HAS_WEIGHT.has(step.op)) {
        backwardOf(step).forEach(({ op, optional }) => push(op, step.node, optional ? MAYBE : sure ? operatorWeight(op) : 2 * MAYBE, 1));
      }
      if (sure && step.uses.some((used) => consumers[used].some((other) => other > i))) {
        push('add', step.node, MAYBE, 1);
      }
    }
    end = start;
  }
  return { line: { tokens: Uint16Array.from(entries, (entry) => entry.token), skip: Float32Array.from(entries, (entry) => entry.skip) }, nodes: Int32Array.from(entries, (entry) => entry.node), backward: Uint8Array.from(entries, (entry) => entry.backward) };
}

/** Products have one kernel for each operand with a gradient. */
function backwardOf(step: TapeStep): readonly { readonly op: string; readonly optional: boolean }[] {
  const tokens = backwardTokens(step.op);
  if (step.op !== 'matmul' && step.op !== 'mul') {
    return tokens;
  }
  const needed = Math.max(1, step.gradientInputs);
  let products = 0;
  return tokens.map((token) => (token.op === step.op ? { op: token.op, optional: ++products > needed } : token));
}

const viewName = (node: OperatorNode): string => (node.attributes.name ?? '').split(' ')[0];

/** Views between two steps of the path launch nothing forward but may launch kernels backward. */
function withViews(path: readonly PathStep[], graph: OperatorGraph): readonly (PathStep & { readonly isView: boolean })[] {
  const steps: (PathStep & { readonly isView: boolean })[] = [];
  path.forEach((step, i) => {
    const before = path[i - 1];
    const from = before !== undefined && before.node < step.node ? Math.max(before.node, step.node - 60) : Math.max(0, step.node - 12);
    for (let node = from + 1; node < step.node; node++) {
      if (graph.nodes[node].op === 'view') {
        steps.push({ op: 'view', node, turn: step.turn, isView: true });
      }
    }
    steps.push({ ...step, isView: graph.nodes[step.node]?.op === 'view' });
  });
  return steps;
}

/** For each step the steps whose values it uses; what launched nothing passes values through. */
function dataFlow(steps: readonly (PathStep & { readonly isView: boolean })[], graph: OperatorGraph): readonly TapeStep[] {
  const latest = new Map<number, number>();
  const done: TapeStep[] = [];
  const parameters = new Map<number, boolean>();
  const resolve = (node: number, depth: number): readonly number[] => {
    const known = latest.get(node);
    if (known !== undefined) {
      return [known];
    }
    const { op, inputs, attributes } = graph.nodes[node];
    if (depth > 12 || op === 'input' || op === 'parameter' || attributes.name === 'detach') {
      return [];
    }
    if (op === 'phi') {
      // Of the branches the one that ran last; one without a gradient (a cache, a mask) where no other is.
      const found = inputs.flatMap((input) => resolve(input, depth + 1));
      const carrying = found.filter((step) => done[step].gradient);
      return found.length === 0 ? [] : [Math.max(...(carrying.length > 0 ? carrying : found))];
    }
    return inputs.slice(0, 4).flatMap((input) => resolve(input, depth + 1));
  };
  const isParameter = (node: number, depth: number): boolean => {
    const { op, inputs } = graph.nodes[node];
    if (op === 'parameter') {
      return true;
    }
    if (depth > 6 || (op !== 'view' && op !== 'cast' && op !== 'phi')) {
      return false;
    }
    const known = parameters.get(node);
    if (known !== undefined) {
      return known;
    }
    const answer = (op === 'phi' ? inputs : inputs.slice(0, 1)).some((input) => isParameter(input, depth + 1));
    parameters.set(node, answer);
    return answer;
  };
  for (const step of steps) {
    const { inputs, op, attributes } = graph.nodes[step.node];
    const perInput = inputs.map((input) => resolve(input, 0));
    const carries = inputs.map((input, i) => isParameter(input, 0) || perInput[i].some((used) => done[used].gradient));
    const weighted = HAS_WEIGHT.has(op) && inputs.length === 1;
    const gradientInputs = carries.filter(Boolean).length + (weighted ? 1 : 0);
    latest.set(step.node, done.length);
    done.push({ ...step, uses: [...new Set(perInput.flat())], gradient: gradientInputs > 0 && !NO_GRADIENT.has(op) && attributes.context !== 'no_grad' && attributes.context !== 'inference_mode' && attributes.name !== 'detach', gradientInputs });
  }
  return done;
}

/** Steps the last one depends on, and for each step the live ones that use it. */
function liveSteps(steps: readonly TapeStep[]): { readonly live: Uint8Array; readonly consumers: readonly (readonly number[])[] } {
  const live = new Uint8Array(steps.length);
  const consumers: number[][] = steps.map(() => []);
  if (steps.length > 0) {
    live[steps.length - 1] = 1;
  }
  for (let i = steps.length - 1; i >= 0; i--) {
    if (live[i] === 1 && steps[i].gradient) {
      for (const used of steps[i].uses) {
        live[used] = 1;
        consumers[used].push(i);
      }
    }
  }
  return { live, consumers };
}
