/**
 * From the function a recorded frame names to the expression: the kernels of one call are aligned with what the function
 * itself launches. Frames come from the machine of the run, so their paths are mapped to the workspace first.
 */
import { canonicalOperator, kernelTokens, TokenNames } from '../chains/kernelSequence';
import type { FrameText } from '../links/frames';
import type { RankData } from '../profile/columns';
import type { ClassDefinition, FunctionDefinition, Statement } from '../python/ast';
import { LineIndex } from '../python/lineIndex';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';
import type { ModuleScope } from '../python/program';
import type { SourceIndex } from '../python/sourceIndex';
import { align } from './align';
import { automatonOf, type Automaton } from './automaton';
import { tokenWeights } from './rankCandidates';

export interface RefinedPlace {
  readonly event: number;
  readonly node: OperatorNode;
  readonly graph: OperatorGraph;
}

/** A frame's function in the workspace. */
export interface WorkspaceFunction {
  readonly scope: ModuleScope;
  readonly definition: FunctionDefinition;
  readonly owner: ClassDefinition | undefined;
}

/** More of a call than this unexplained, and the source is not what ran. */
const MOST_UNEXPLAINED = 0.2;
/** Calls with more kernels than this are loops over layers; their callees have frames of their own. */
const MOST_KERNELS = 4000;

/**
 * The workspace's function for a frame: the file with the longest common path suffix (at least two parts, or one where
 * only one file has that name), and in it a function of that name that begins on that line. Undefined when the file is
 * another, was changed since, or two files fit equally.
 */
export function workspaceFunction(index: SourceIndex, frame: FrameText): WorkspaceFunction | undefined {
  const wanted = parts(frame.file);
  let best: WorkspaceFunction | undefined;
  let bestLength = 0;
  let ties = 0;
  for (const scope of index.scopes) {
    const length = commonSuffix(parts(scope.file), wanted);
    if (length === 0 || length < bestLength || (length < 2 && wanted.length > 1)) {
      continue;
    }
    const found = functionAt(scope, frame);
    if (found === undefined) {
      continue;
    }
    ties = length > bestLength ? 1 : ties + 1;
    best = found;
    bestLength = length;
  }
  return ties === 1 ? best : undefined;
}

const parts = (file: string): readonly string[] => file.replaceAll('\\', '/').split('/').filter((part) => part !== '' && part !== '.');

function commonSuffix(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[a.length - 1 - length] === b[b.length - 1 - length]) {
    length++;
  }
  return length;
}

/** The frame's line is that of the `def`, or of its first decorator. */
function functionAt(scope: ModuleScope, frame: FrameText): WorkspaceFunction | undefined {
  const lines = new LineIndex(scope.text);
  const name = frame.function.split('.').pop();
  const pending: { readonly body: readonly Statement[]; readonly owner: ClassDefinition | undefined }[] = [{ body: scope.module.body, owner: undefined }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const statement of next.body) {
      if (statement.kind === 'class') {
        pending.push({ body: statement.body, owner: statement });
      } else if (statement.kind === 'if') {
        pending.push({ body: statement.then, owner: next.owner }, { body: statement.otherwise, owner: next.owner });
      } else if (statement.kind === 'function') {
        const first = Math.min(lines.line(statement.start), ...statement.decorators.map((decorator) => lines.line(decorator.start)));
        if (statement.name === name && frame.line >= first && frame.line <= lines.line(statement.nameSpan.start)) {
          return { scope, definition: statement, owner: next.owner };
        }
        pending.push({ body: statement.body, owner: undefined });
      }
    }
  }
  return undefined;
}

/** Expressions of the kernels of many calls. `calls` holds the device events of each call of a frame, by its host row. */
export function refineCalls(rank: RankData, index: SourceIndex, calls: ReadonlyMap<number, { readonly frame: FrameText; readonly events: number[] }>): readonly RefinedPlace[] {
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
      functions.set(key, lowered(index, frame, names, rank.backend !== 'ascend'));
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
function lowered(index: SourceIndex, frame: FrameText, names: TokenNames, cuda: boolean): { readonly graph: OperatorGraph; readonly automaton: Automaton } | undefined {
  const found = workspaceFunction(index, frame);
  if (found === undefined) {
    return undefined;
  }
  const graph = lowerFunction(index.program, found.scope, found.definition, found.owner, { follow: false });
  return { graph, automaton: automatonOf(graph, names, { cuda }) };
}

function nodesOf(tokens: Uint16Array, automaton: Automaton, names: TokenNames): Int32Array | undefined {
  const weights = tokenWeights(names);
  const alignment = align(tokens, automaton, { ...weights, edge: 1 });
  const total = Math.max(1, tokens.reduce((sum, token) => sum + weights.count[token], 0));
  return (alignment.unexplained + alignment.missing + alignment.holeCost) / total > MOST_UNEXPLAINED ? undefined : alignment.states.map((state) => (state > 0 ? automaton.node[state] : -1));
}
