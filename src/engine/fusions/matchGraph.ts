/**
 * Finds a fusion's eager form in the operator graph of a function: unification of two data-flow graphs, products and sums
 * in either order, the parameters of the snippet bound to what stands in their place.
 */
import type { OperatorGraph, Place } from '../python/operatorGraph';
import { canonicalGraph, type CanonicalGraph } from './canonicalGraph';
import type { Fusion } from './fusion';
import { followsAnother } from './notAfter';

export interface TensorRole {
  readonly kind: 'tensor';
  /** The value as the form uses it: before a cast that belongs to the form. */
  readonly node: number;
}

export interface NumberRole {
  readonly kind: 'number';
  /** NaN when the source does not give it (`self.eps`). */
  readonly value: number;
  /** Where its expression stands; undefined when it cannot be quoted. */
  readonly place: Place | undefined;
}

export interface FusionMatch {
  readonly fusion: Fusion;
  readonly form: string;
  /** The node whose value the fused operator replaces: behind it only casts that belong to the form. */
  readonly root: number;
  /** Graph nodes of the form, casts between them included. */
  readonly nodes: readonly number[];
  /** The same without casts. */
  readonly operators: readonly number[];
  readonly roles: ReadonlyMap<string, TensorRole | NumberRole>;
  /** Nodes of the form that others use as well: an edit must keep them, and usually cannot. */
  readonly shared: readonly number[];
}

export interface LoweredForm {
  readonly fusion: Fusion;
  readonly form: string;
  readonly graph: CanonicalGraph;
  /** Canonical index of the snippet's output. */
  readonly output: number;
}

export function loweredForm(fusion: Fusion, form: string, graph: OperatorGraph): LoweredForm | undefined {
  const canonical = canonicalGraph(graph);
  const output = graph.outputs[0];
  return output === undefined ? undefined : { fusion, form, graph: canonical, output: canonical.behind[output] };
}

/** All matches of all forms in a graph; where forms overlap the one that explains more operators stays. */
export function matchFusions(graph: OperatorGraph, forms: readonly LoweredForm[]): readonly FusionMatch[] {
  const target = canonicalGraph(graph);
  const users = usersOf(graph);
  const found: FusionMatch[] = [];
  for (const form of forms) {
    const wanted = form.graph.nodes[form.output].op;
    for (let root = 0; root < graph.nodes.length; root++) {
      if (target.nodes[root].op !== wanted) {
        continue;
      }
      const state = unify(form, target, form.output, root, EMPTY);
      if (state !== undefined && plausible(form, state)) {
        const match = describe(form, target, users, root, state);
        if (form.fusion.meant?.(graph, match.operators) !== false) {
          found.push(match);
        }
      }
    }
  }
  const kept = withoutOverlap(found);
  return kept.filter((match) => !followsAnother(graph, match, kept));
}

interface State {
  /** Role name → canonical target node. */
  readonly tensors: ReadonlyMap<string, number>;
  readonly numbers: ReadonlyMap<string, NumberRole>;
  /** Snippet node → target node. */
  readonly pairs: ReadonlyMap<number, number>;
}

const EMPTY: State = { tensors: new Map(), numbers: new Map(), pairs: new Map() };
const COMMUTES: ReadonlySet<string> = new Set(['add', 'mul']);

function unify(form: LoweredForm, target: CanonicalGraph, wanted: number, at: number, state: State): State | undefined {
  const known = state.pairs.get(wanted);
  if (known !== undefined) {
    return known === at ? state : undefined;
  }
  const pattern = form.graph.nodes[wanted];
  if (pattern.op === 'input') {
    return bind(state, roleName(form, wanted), at);
  }
  const node = target.nodes[at];
  if (node === undefined || node.op !== pattern.op || node.inputs.length < pattern.inputs.length) {
    return undefined;
  }
  if (pattern.dims !== undefined && node.dims !== undefined && pattern.dims.join() !== node.dims.join()) {
    return undefined;
  }
  let next: State | undefined = { ...state, pairs: new Map(state.pairs).set(wanted, at) };
  if (pattern.scalar !== undefined) {
    next = number(form, target, wanted, at, next);
    if (next === undefined) {
      return undefined;
    }
  }
  const inOrder = operands(form, target, pattern.inputs, node.inputs, next);
  if (inOrder !== undefined || !COMMUTES.has(pattern.op)) {
    return inOrder;
  }
  return operands(form, target, pattern.inputs, [...node.inputs].reverse(), next);
}

function operands(form: LoweredForm, target: CanonicalGraph, wanted: readonly number[], at: readonly number[], state: State): State | undefined {
  let next: State | undefined = state;
  for (let i = 0; i < wanted.length && next !== undefined; i++) {
    next = unify(form, target, wanted[i], at[i], next);
  }
  return next;
}

function bind(state: State, role: string, at: number): State | undefined {
  const bound = state.tensors.get(role);
  if (bound !== undefined) {
    return bound === at ? state : undefined;
  }
  return { ...state, tensors: new Map(state.tensors).set(role, at) };
}

/** Numbers of the snippet are either constants, which must agree, or roles, which take what the source has. */
function number(form: LoweredForm, target: CanonicalGraph, wanted: number, at: number, state: State): State | undefined {
  const pattern = form.graph.nodes[wanted];
  const value = target.nodes[at].scalar;
  if (value === undefined) {
    return undefined;
  }
  if (pattern.scalar !== undefined && !Number.isNaN(pattern.scalar)) {
    // Constants such as 0.7978845608 are written with more or fewer digits, or computed.
    return Number.isNaN(value) || Math.abs(value - pattern.scalar) <= 1e-4 * Math.abs(pattern.scalar) ? state : undefined;
  }
  const place = form.graph.graph.nodes[wanted]?.attributes.scalarPlace;
  const role = place === undefined ? 'scalar' : `number ${place.start}`;
  return { ...state, numbers: new Map(state.numbers).set(role, { kind: 'number', value, place: target.graph.nodes[at]?.attributes.scalarPlace }) };
}

const roleName = (form: LoweredForm, node: number): string => form.graph.graph.nodes[node]?.attributes.name ?? `role ${node}`;

/** Roles must be told apart: x · rsqrt(mean(x²)) with the weight bound to x again is no weight. */
function plausible(form: LoweredForm, state: State): boolean {
  const inside = new Set(state.pairs.values());
  const bound = [...state.tensors.values()];
  return new Set(bound).size === bound.length && bound.every((node) => !inside.has(node)) && form.graph.nodes.length > 0;
}

function describe(form: LoweredForm, target: CanonicalGraph, users: readonly (readonly number[])[], root: number, state: State): FusionMatch {
  const nodes = new Set<number>();
  for (const at of state.pairs.values()) {
    target.nodes[at].covers.forEach((covered) => nodes.add(covered));
  }
  const operators = [...nodes].sort((a, b) => a - b);
  const roles = new Map<string, TensorRole | NumberRole>(state.numbers);
  for (const [role, node] of state.tensors) {
    roles.set(role, { kind: 'tensor', node });
  }
  addTransparent(target, nodes, new Set(state.tensors.values()));
  let top = root;
  // Casts of the result belong to the form when it ends in one: `(w * h).to(dtype)`.
  for (;;) {
    const [only, ...more] = users[top];
    if (only === undefined || more.length > 0 || target.graph.nodes[only].op !== 'cast') {
      break;
    }
    top = only;
    nodes.add(top);
  }
  const shared = [...nodes].filter((node) => node !== top && (users[node].some((user) => !nodes.has(user)) || target.graph.outputs.includes(node)));
  return { fusion: form.fusion, form: form.form, root: top, nodes: [...nodes].sort((a, b) => a - b), operators, roles, shared };
}

/** Casts that lie between two nodes of the form, or between a role and its use. A view is not part of the chain: it launches nothing. */
function addTransparent(target: CanonicalGraph, nodes: Set<number>, roles: ReadonlySet<number>): void {
  for (const node of [...nodes]) {
    for (let input of target.graph.nodes[node]?.inputs ?? []) {
      const goal = target.behind[input];
      while (input !== goal) {
        if (target.graph.nodes[input].op === 'cast' && (nodes.has(goal) || roles.has(goal))) {
          nodes.add(input);
        }
        [input] = target.graph.nodes[input].inputs;
      }
    }
  }
}

function usersOf(graph: OperatorGraph): readonly (readonly number[])[] {
  const users: number[][] = graph.nodes.map(() => []);
  for (const node of graph.nodes) {
    for (const input of new Set(node.inputs)) {
      users[input]?.push(node.id);
    }
  }
  return users;
}

function withoutOverlap(found: readonly FusionMatch[]): readonly FusionMatch[] {
  const kept: FusionMatch[] = [];
  for (const match of [...found].sort((a, b) => b.nodes.length - a.nodes.length || a.root - b.root)) {
    // Two matches may share a cast of a common operand (`cos.float()` for query and key), never an operator.
    const nodes = new Set(match.operators);
    if (!kept.some((other) => other.operators.some((node) => nodes.has(node)))) {
      kept.push(match);
    }
  }
  return kept.sort((a, b) => a.root - b.root);
}
