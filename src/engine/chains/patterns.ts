/** From the eager form of a fusion to the kernels it launches: the pattern that recognition looks for. */
import { onCuda, TENSOR_FORM } from '../operators/kernelToken';
import type { Parser } from 'web-tree-sitter';
import type { Backend } from '../profile/columns';
import { SNIPPET_PRELUDE, type Fusion } from '../fusions/fusion';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph, Step } from '../python/operatorGraph';
import { parsePython } from '../python/parsePython';
import { moduleScope, ModuleSet } from '../python/program';
import { canonicalOperator, type TokenNames } from './kernelSequence';

export interface PatternToken {
  readonly token: number;
  /** Casts, copies and fills may be absent: a no-op cast launches nothing, a copy depends on strides. */
  readonly optional: boolean;
  /** Text of the source expression, shown as the term of the formula. */
  readonly term: string;
}

export interface ChainPattern {
  readonly fusion: Fusion;
  readonly form: string;
  readonly tokens: readonly PatternToken[];
  /** How many tokens are not optional. */
  readonly required: number;
  /** See `EagerForm.notAfter`. */
  readonly notAfter: ReadonlySet<number>;
}

const OPTIONAL: ReadonlySet<string> = new Set(['cast', 'copy', 'fill', 'dropout', 'dropoutMask']);
const NO_KERNEL: ReadonlySet<string> = new Set(['hostRead', 'view']);

export interface SnippetGraph {
  readonly graph: OperatorGraph;
  readonly text: string;
}

/** Snippets do not change while we run. */
const lowered = new WeakMap<Parser, Map<string, SnippetGraph>>();

/** Lowers one form of a fusion. Throws when the snippet is no function `eager`: a mistake in the catalogue, caught by its test. */
export function lowerForm(parser: Parser, python: string): SnippetGraph {
  const known = lowered.get(parser) ?? new Map<string, SnippetGraph>();
  lowered.set(parser, known);
  let snippet = known.get(python);
  if (snippet === undefined) {
    snippet = lowerSnippet(parser, python);
    known.set(python, snippet);
  }
  return snippet;
}

function lowerSnippet(parser: Parser, python: string): SnippetGraph {
  const text = SNIPPET_PRELUDE + python;
  const scope = moduleScope('snippet.py', 'snippet', text, parsePython(parser, text));
  const eager = scope.names.get('eager');
  if (eager?.kind !== 'function') {
    throw new Error('a snippet must define eager()');
  }
  return { graph: lowerFunction(new ModuleSet([scope]), scope, eager.definition), text };
}

/** Patterns of all forms on one backend. */
export function chainPatterns(parser: Parser, fusions: readonly Fusion[], backend: Backend, names: TokenNames): readonly ChainPattern[] {
  const patterns: ChainPattern[] = [];
  const seen = new Set<string>();
  for (const fusion of fusions) {
    for (const form of fusion.forms) {
      const { graph, text } = lowerForm(parser, form.python);
      const tokens: PatternToken[] = [];
      let blurred = false;
      for (const node of operatorsOf(graph)) {
        const { op, place } = graph.nodes[node];
        if (NO_KERNEL.has(op)) {
          continue;
        }
        const seenAs = canonicalOperator(backend === 'ascend' ? op : backend === 'cpu' ? TENSOR_FORM[op] ?? op : onCuda(op));
        blurred ||= seenAs !== canonicalOperator(op);
        tokens.push({ token: names.id(seenAs), optional: OPTIONAL.has(seenAs), term: text.slice(place.start, place.end).replace(/\s+/g, ' ') });
      }
      const required = tokens.filter((token) => !token.optional).length;
      const key = `${fusion.id}:${tokens.map((token) => token.token).join(',')}`;
      // Where kernel names blur operators together, a pair of them says nothing.
      if (!seen.has(key) && !(blurred && required < 3)) {
        seen.add(key);
        patterns.push({ fusion, form: form.name, tokens, required, notAfter: new Set((form.notAfter ?? []).map((name) => names.id(name))) });
      }
    }
  }
  return patterns;
}

/** Operator nodes in the order they run; the first branch stands for alternatives, a loop for one turn. */
function operatorsOf(graph: OperatorGraph): readonly number[] {
  const nodes: number[] = [];
  const walk = (steps: readonly Step[]): void => {
    for (const step of steps) {
      switch (step.kind) {
        case 'operator': nodes.push(step.node); break;
        case 'call': case 'loop': walk(step.steps); break;
        case 'alternatives': walk(step.branches[0] ?? []); break;
      }
    }
  };
  walk(graph.steps);
  return nodes;
}
