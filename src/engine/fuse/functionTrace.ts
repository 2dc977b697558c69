import type { ClassDefinition, Expression, FunctionDefinition, Span, Statement } from '../python/ast';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph } from '../python/operatorGraph';
import type { ModuleScope, Program } from '../python/program';
import { blocksOf, within } from './names';

/** An edit is of the function's own expressions: what its helpers' helpers do the thirtieth time tells nothing about them. */
const MOST_CALLS = 32;

/** A function lowered for editing: its graph, and which expression of its own body carries which node. */
export interface FunctionTrace {
  readonly program: Program;
  readonly scope: ModuleScope;
  readonly owner: ClassDefinition | undefined;
  readonly definition: FunctionDefinition;
  readonly graph: OperatorGraph;
  /** Expressions by the node they evaluate to, in source order. */
  readonly expressions: ReadonlyMap<number, readonly Expression[]>;
  /** Nodes of an expression; several when it runs more than once (a loop, both sides of a branch). */
  readonly nodes: ReadonlyMap<Expression, ReadonlySet<number>>;
}

export function traceFunction(program: Program, scope: ModuleScope, definition: FunctionDefinition, owner: ClassDefinition | undefined): FunctionTrace {
  const nodes = new Map<Expression, Set<number>>();
  const observe = (expression: Expression, node: number | undefined): void => {
    if (within(expression, definition)) {
      const known = nodes.get(expression) ?? new Set<number>();
      nodes.set(expression, known);
      if (node !== undefined) {
        known.add(node);
      }
    }
  };
  const graph = lowerFunction(program, scope, definition, owner, { observe, anyArguments: true, mostCalls: MOST_CALLS });
  const expressions = new Map<number, Expression[]>();
  for (const [expression, carried] of [...nodes].sort(([a], [b]) => a.start - b.start || b.end - a.end)) {
    carried.forEach((node) => expressions.set(node, [...(expressions.get(node) ?? []), expression]));
  }
  return { program, scope, owner, definition, graph, expressions, nodes };
}

/** Where a span lies: the block whose statement holds it, and that statement's place in it. */
export function statementAt(definition: FunctionDefinition, at: Span): { readonly block: readonly Statement[]; readonly index: number } | undefined {
  let best: { readonly block: readonly Statement[]; readonly index: number } | undefined;
  for (const block of blocksOf(definition)) {
    const index = block.findIndex((statement) => within(at, statement));
    if (index >= 0 && (best === undefined || within(block[index], best.block[best.index]))) {
      best = { block, index };
    }
  }
  return best;
}

/** Functions and methods of a module, those of its classes included. */
export function functionsOf(scope: ModuleScope): readonly { readonly definition: FunctionDefinition; readonly owner: ClassDefinition | undefined }[] {
  return [...scope.names.values()].flatMap((top) => {
    if (top.kind === 'function') {
      return [{ definition: top.definition, owner: undefined }];
    }
    const owner = top.kind === 'class' ? top.definition : undefined;
    return (owner?.body ?? []).filter((statement): statement is FunctionDefinition => statement.kind === 'function').map((definition) => ({ definition, owner }));
  });
}
