import { canonicalGraph } from '../fusions/canonicalGraph';
import type { FusionMatch } from '../fusions/matchGraph';
import type { OperatorGraph, OperatorNode, Place } from '../python/operatorGraph';

/** What the graph says about a match beyond its roles: where its result is rounded, and which values its roles really are. */
export interface MatchFacts {
  /** The expression that the replacement stands for: the match without the casts that follow it. */
  readonly inner: OperatorNode;
  readonly fp32Result: boolean;
  readonly roundedAfter: boolean;
  /** The match without the casts that follow it, which stay in the source. */
  readonly own: readonly number[];
  /** A cast inside the form whose dtype the source does not tell. */
  readonly unknownCast: boolean;
  /** Views between two operators of the form: a norm over groups whose weight has the full width. */
  readonly innerViews: number;
  /** Role → the node the form reads, before casts of the form but after views. */
  readonly values: ReadonlyMap<string, number>;
  /** Roles that the form reads as two different values. */
  readonly ambiguous: readonly string[];
}

export function matchFacts(graph: OperatorGraph, match: FusionMatch): MatchFacts {
  const { nodes } = graph;
  const { behind } = canonicalGraph(graph);
  const members = new Set(match.nodes);
  const operators = new Set(match.operators);
  let inner = match.root;
  const trailing = new Set<number>();
  while (nodes[inner].op === 'cast' && !operators.has(inner)) {
    trailing.add(inner);
    [inner] = nodes[inner].inputs;
  }
  const casts = match.nodes.filter((node) => nodes[node].op === 'cast');
  const wide = (node: number): boolean => {
    const { dtype } = nodes[node].attributes;
    return dtype?.kind === 'named' && (dtype.name === 'float32' || dtype.name === 'float');
  };
  const ofRole = casts.filter((node) => !operators.has(behind[node]));
  const ofValue = casts.filter((node) => operators.has(behind[node]) && !trailing.has(node));
  const values = new Map<string, number>();
  const ambiguous: string[] = [];
  for (const [role, bound] of match.roles) {
    if (bound.kind === 'tensor') {
      const found = new Set<number>();
      match.nodes.forEach((member) => nodes[member].inputs.forEach((input) => {
        const value = withoutCasts(nodes, members, input, wide);
        if (!operators.has(value) && behind[value] === bound.node) {
          found.add(value);
        }
      }));
      if (found.size === 1) {
        values.set(role, [...found][0]);
      } else {
        ambiguous.push(role);
      }
    }
  }
  return {
    innerViews: innerViews(graph, operators), inner: nodes[inner], own: match.nodes.filter((node) => !trailing.has(node)), values, ambiguous,
    fp32Result: ofRole.some(wide) && !ofValue.some((node) => !wide(node)), roundedAfter: [...trailing].some((node) => !wide(node)),
    unknownCast: ofRole.some((node) => !wide(node) && nodes[node].attributes.dtype?.kind !== 'of'),
  };
}

function innerViews({ nodes }: OperatorGraph, operators: ReadonlySet<number>): number {
  const views = new Set<number>();
  for (const operator of operators) {
    for (let input of nodes[operator].inputs) {
      const passed: number[] = [];
      while ((nodes[input].op === 'view' || nodes[input].op === 'cast') && !operators.has(input) && nodes[input].inputs.length > 0 && nodes[input].inputs[0] < input) {
        if (nodes[input].op === 'view') {
          passed.push(input);
        }
        [input] = nodes[input].inputs;
      }
      if (operators.has(input)) {
        passed.forEach((view) => views.add(view));
      }
    }
  }
  return views.size;
}

/** The same of a form's snippet, all of which is the form. */
export function innerViewsOf(graph: OperatorGraph): number {
  return innerViews(graph, new Set(graph.nodes.filter(({ op }) => !['input', 'parameter', 'view', 'cast', 'shape', 'phi'].includes(op)).map(({ id }) => id)));
}

function withoutCasts(nodes: readonly OperatorNode[], members: ReadonlySet<number>, from: number, wide: (node: number) => boolean): number {
  let node = from;
  while (members.has(node) && nodes[node].op === 'cast' && wide(node)) {
    [node] = nodes[node].inputs;
  }
  return node;
}

/** Where nodes of a match stand in the function itself: their own place, or the call they were reached through. */
export function sitesOf(graph: OperatorGraph, nodes: readonly number[]): readonly Place[] {
  return nodes.map((id) => {
    let { place, call } = graph.nodes[id];
    while (call >= 0) {
      ({ site: place, parent: call } = graph.calls[call]);
    }
    return place;
  });
}
