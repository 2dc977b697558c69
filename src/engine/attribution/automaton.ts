/**
 * The kernel sequences a function may launch, as an automaton over operator tokens: branches are alternatives, loops are
 * back edges, holes take any token, and a matched fusion may appear as its fused kernel instead.
 */
import { canonicalOperator, type TokenNames } from '../chains/kernelSequence';
import type { FusionMatch } from '../fusions/matchGraph';
import { onCuda } from '../operators/kernelToken';
import type { OperatorGraph, Step } from '../python/operatorGraph';

export interface Automaton {
  readonly size: number;
  /** Token a state consumes, -1 for junctions, -2 for holes. */
  readonly token: Int32Array;
  /** Graph node of a state, -1 for junctions. */
  readonly node: Int32Array;
  /** What leaving the state's kernel out costs. */
  readonly skip: Float32Array;
  /** Predecessors of state s: `edges[from[s] … from[s+1])`. States are in topological order but for loop edges. */
  readonly from: Uint32Array;
  readonly edges: Uint32Array;
  readonly hasLoops: boolean;
}

export const JUNCTION = -1;
export const HOLE = -2;

/** Operators whose kernels come and go: no-op casts, copies by strides, masks built elsewhere. */
const LIGHT: Readonly<Record<string, number>> = { cast: 0.1, copy: 0.1, fill: 0.1, dropout: 0.05, compare: 0.25, logical: 0.25, arange: 0.15, where: 0.4, hostRead: 0, index: 0.5, triu: 0.3, clamp: 0.5, any: 0.3, maskedFill: 0.4, stack: 0.4, random: 0.2 };
/** Operators that never vanish. */
const HEAVY: Readonly<Record<string, number>> = { matmul: 2, attention: 2, conv: 1.5, softmax: 1.5, indexSelect: 1 };

export const operatorWeight = (op: string): number => LIGHT[op] ?? HEAVY[op] ?? 1;

export interface AutomatonOptions {
  readonly cuda: boolean;
  /** Fusions matched in the graph: each may run as its fused kernel. */
  readonly matches?: readonly FusionMatch[];
}

export function automatonOf(graph: OperatorGraph, names: TokenNames, options: AutomatonOptions): Automaton {
  const builder = new Builder(graph, names, options);
  builder.walk(graph.steps);
  return builder.finish();
}

class Builder {
  private readonly token: number[] = [JUNCTION];
  private readonly node: number[] = [-1];
  private readonly skip: number[] = [0];
  private readonly predecessors: number[][] = [[]];
  private last = 0;
  private hasLoops = false;
  private readonly fusedAt = new Map<number, { readonly fused: readonly string[]; readonly lastNode: number }>();
  /** Shortcuts waiting for the last operator of their match. */
  private readonly open: { readonly state: number; readonly until: number }[] = [];

  constructor(private readonly graph: OperatorGraph, private readonly names: TokenNames, private readonly options: AutomatonOptions) {
    for (const match of options.matches ?? []) {
      const fused = match.fusion.fused ?? [];
      if (fused.length > 0) {
        this.fusedAt.set(match.nodes[0], { fused, lastNode: match.nodes[match.nodes.length - 1] });
      }
    }
  }

  walk(steps: readonly Step[]): void {
    for (const step of steps) {
      switch (step.kind) {
        case 'operator':
          this.operator(step.node);
          break;
        case 'call':
          this.walk(step.steps);
          break;
        case 'alternatives': {
          const before = this.last;
          const ends: number[] = [];
          for (const branch of step.branches) {
            this.last = before;
            this.walk(branch);
            ends.push(this.last);
          }
          this.last = this.junction([...new Set(ends)]);
          break;
        }
        case 'loop': {
          const head = this.junction([this.last]);
          this.last = head;
          this.walk(step.steps);
          if (this.last !== head) {
            this.predecessors[head].push(this.last);
            this.hasLoops = true;
          }
          this.last = this.junction([head]);
          break;
        }
      }
    }
  }

  private operator(node: number): void {
    const { op } = this.graph.nodes[node];
    if (op === 'hostRead') {
      return;
    }
    const shortcut = this.fusedAt.get(node);
    if (shortcut !== undefined) {
      for (const fused of shortcut.fused) {
        this.open.push({ state: this.state(this.names.id(fused), node, [this.last], 3), until: shortcut.lastNode });
      }
    }
    if (op === 'hole') {
      this.last = this.state(HOLE, node, [this.last], 0);
    } else {
      const seenAs = canonicalOperator(this.options.cuda ? onCuda(op) : op);
      this.last = this.state(this.names.id(seenAs), node, [this.last], operatorWeight(seenAs));
    }
    const closing = this.open.filter((entry) => entry.until === node);
    if (closing.length > 0) {
      this.last = this.junction([this.last, ...closing.map((entry) => entry.state)]);
      closing.forEach((entry) => this.open.splice(this.open.indexOf(entry), 1));
    }
  }

  private junction(predecessors: number[]): number {
    return this.state(JUNCTION, -1, predecessors, 0);
  }

  private state(token: number, node: number, predecessors: number[], skip: number): number {
    this.token.push(token);
    this.node.push(node);
    this.skip.push(skip);
    this.predecessors.push(predecessors);
    return this.token.length - 1;
  }

  finish(): Automaton {
    const from = new Uint32Array(this.token.length + 1);
    this.predecessors.forEach((list, state) => {
      from[state + 1] = from[state] + list.length;
    });
    const edges = new Uint32Array(from[this.token.length]);
    this.predecessors.forEach((list, state) => edges.set(list, from[state]));
    return { size: this.token.length, token: Int32Array.from(this.token), node: Int32Array.from(this.node), skip: Float32Array.from(this.skip), from, edges, hasLoops: this.hasLoops };
  }
}

/** A straight line of tokens, for sequences that leave no choice (the reversed tape of a forward pass). */
export function lineAutomaton(tokens: readonly number[], nodes: readonly number[], skip: readonly number[]): Automaton {
  const size = tokens.length + 1;
  const from = new Uint32Array(size + 1);
  const edges = new Uint32Array(size - 1);
  for (let state = 1; state < size; state++) {
    from[state + 1] = state;
    edges[state - 1] = state - 1;
  }
  return { size, token: Int32Array.from([JUNCTION, ...tokens]), node: Int32Array.from([-1, ...nodes]), skip: Float32Array.from([0, ...skip]), from, edges, hasLoops: false };
}
