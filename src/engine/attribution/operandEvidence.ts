/**
 * What shapes and dtypes say against an alignment. Two sources may launch the same operators in the same order; whether a product
 * has a bias, and what a cast starts from, still tells them apart. Evidence counts against an answer only: that a product
 * reads two tensors proves no source.
 */
import type { TokenNames } from '../chains/kernelSequence';
import type { RankData } from '../profile/columns';
import type { OperatorNode } from '../python/operatorGraph';
import type { Ranked } from './rankCandidates';

/** Fewer checks than this say nothing. */
const LEAST_CHECKS = 8;
/** A few disagreements are our reading of the source; this share of them is free. */
const FREE = 0.1;

const DTYPES: Readonly<Record<string, string>> = { FLOAT: 'float32', DT_FLOAT: 'float32', FLOAT32: 'float32', DT_BF16: 'bfloat16', BFLOAT16: 'bfloat16', BF16: 'bfloat16', FLOAT16: 'float16', DT_FLOAT16: 'float16', INT64: 'int64', DT_INT64: 'int64', INT32: 'int32', DT_INT32: 'int32' };

/** Share of the checks that contradict the source, 0 where the profile has neither shapes nor dtypes. `events` are the device events of the window. */
export function conflictShare(rank: RankData, events: readonly number[], window: Uint16Array, names: TokenNames, { candidate, automaton, alignment }: Ranked): number {
  if (rank.backend !== 'ascend') {
    // Shapes of other backends are those of the framework's operator, bias or not.
    return 0;
  }
  const { deviceEvents, strings } = rank;
  const add = names.has('add');
  let checks = 0;
  let conflicts = 0;
  alignment.states.forEach((state, i) => {
    const node = state > 0 && automaton.token[state] === window[i] ? candidate.graph.nodes[automaton.node[state]] : undefined;
    if (node === undefined) {
      return;
    }
    const bias = biasConflict(node, strings.get(deviceEvents.shapes[events[i]]));
    // Without a bias of its own the product may be followed by a sum; one that nothing explains is that sum.
    const apart = window[i + 1] === add && alignment.states[i + 1] <= 0;
    const dtype = castConflict(node, strings.get(deviceEvents.dtypes[events[i]]));
    for (const found of [apart ? undefined : bias, dtype]) {
      checks += found === undefined ? 0 : 1;
      conflicts += found === true ? 1 : 0;
    }
  });
  return checks < LEAST_CHECKS ? 0 : Math.max(0, conflicts / checks - FREE) / (1 - FREE);
}

/** Undefined where nothing can be said. */
function biasConflict({ op, attributes }: OperatorNode, shapes: string): boolean | undefined {
  const tensors = shapes.split(';').filter((shape) => shape.trim() !== '').length;
  return op !== 'matmul' || attributes.operands === undefined || tensors < 2 ? undefined : (tensors > 2) !== (attributes.operands > 2);
}

/** A cast to what the operand already is launches nothing. */
function castConflict({ op, attributes }: OperatorNode, dtypes: string): boolean | undefined {
  const from = DTYPES[dtypes.split(';')[0].trim()];
  return op !== 'cast' || from === undefined || attributes.dtype?.kind !== 'named' ? undefined : from === attributes.dtype.name.replace(/^torch\./, '').replace(/^float$/, 'float32');
}
