/**
 * From the function a recorded frame names to the expression: the kernels of one call are aligned with what the function
 * itself launches.
 */
import { canonicalOperator, kernelTokens, TokenNames } from '../chains/kernelSequence';
import type { FrameText } from '../links/frames';
import type { RankData } from '../profile/columns';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';
import type { SourceIndex } from '../python/sourceIndex';
import { align } from './align';
import { automatonOf, type Automaton } from './automaton';
import type { BackendLook } from './candidates';
import type { PathMapping } from './pathMapping';
import { tokenWeights } from './rankCandidates';

export interface RefinedPlace {
  readonly event: number;
  readonly node: OperatorNode;
  readonly graph: OperatorGraph;
}

/** More of a call than this unexplained, and the source is not what ran. */
const MOST_UNEXPLAINED = 0.2;
/** Calls with more kernels than this are loops over layers; their callees have frames of their own. */
const MOST_KERNELS = 4000;

/** Expressions of the kernels of many calls. `calls` holds the device events of each call of a frame, by its host row. */
export function refineCalls(rank: RankData, index: SourceIndex, paths: PathMapping, calls: ReadonlyMap<number, { readonly frame: FrameText; readonly events: number[] }>): readonly RefinedPlace[] {
  const tokenOf = kernelTokens(rank);
  const names = new TokenNames();
  const functions = new Map<string, { readonly graph: OperatorGraph; readonly automaton: Automaton } | undefined>();
  const answers = new Map<string, Int32Array | undefined>();
  const places: RefinedPlace[] = [];
  for (const { frame, events } of calls.values()) {
    if (events.length > MOST_KERNELS) {
      continue;
    }
    const key = `${frame.file}:${frame.line}:${frame.function}`;
    if (!functions.has(key)) {
      functions.set(key, lowered(index, paths, frame, names, { cuda: rank.backend !== 'ascend' && rank.backend !== 'cpu', typesOnly: rank.backend === 'cpu' }));
    }
    const known = functions.get(key);
    if (known === undefined) {
      continue;
    }
    const ordered = events.filter((event) => tokenOf(event).satelliteOf === undefined).sort((a, b) => rank.deviceEvents.startNs[a] - rank.deviceEvents.startNs[b]);
    const tokens = Uint16Array.from(ordered, (event) => names.id(canonicalOperator(tokenOf(event).op)));
    const text = `${key} ${tokens.join(',')}`;
    if (!answers.has(text)) {
      answers.set(text, nodesOf(tokens, known.automaton, names));
    }
    answers.get(text)?.forEach((node, i) => {
      if (node >= 0 && known.graph.nodes[node].op !== 'hole') {
        places.push({ event: ordered[i], node: known.graph.nodes[node], graph: known.graph });
      }
    });
  }
  return places;
}

/** The function alone: kernels of the functions it calls have frames of their own. */
function lowered(index: SourceIndex, paths: PathMapping, frame: FrameText, names: TokenNames, look: BackendLook): { readonly graph: OperatorGraph; readonly automaton: Automaton } | undefined {
  const place = paths.place(frame);
  if (place.kind !== 'found') {
    return undefined;
  }
  const { found } = place;
  const graph = lowerFunction(index.program, found.scope, found.definition, found.owner, { follow: false });
  return { graph, automaton: automatonOf(graph, names, look) };
}

function nodesOf(tokens: Uint16Array, automaton: Automaton, names: TokenNames): Int32Array | undefined {
  const weights = tokenWeights(names);
  const alignment = align(tokens, automaton, { ...weights, edge: 1 });
  const total = Math.max(1, tokens.reduce((sum, token) => sum + weights.count[token], 0));
  return (alignment.unexplained + alignment.missing + alignment.holeCost) / total > MOST_UNEXPLAINED ? undefined : alignment.states.map((state) => (state > 0 ? automaton.node[state] : -1));
}
