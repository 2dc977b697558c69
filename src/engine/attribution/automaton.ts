/**
 * The kernel sequences a function may launch, as an automaton over operator tokens: branches are alternatives, loops are
 * back edges, holes take any token, and a matched fusion may appear as its fused kernel instead.
 */
import { canonicalOperator, type TokenNames } from '../chains/kernelSequence';
import type { FusionMatch } from '../fusions/matchGraph';
import { onCuda, TENSOR_FORM } from '../operators/kernelToken';
import type { OperatorGraph, Step } from '../python/operatorGraph';
import { IN_PIECES, type InPieces } from './inPieces';

export interface Automaton {
  readonly size: number;
  /** Token a state consumes; JUNCTION, HOLE or FUSED_HOLE. */
  readonly token: Int32Array;
  /** Graph node of a state, -1 for junctions. */
  readonly node: Int32Array;
  /** What leaving the state's kernel out costs. */
  readonly skip: Float32Array;
  /** Part of `skip` that counts as unexplained source: light operators come and go, and count nothing. */
  readonly missing: Float32Array;
  /** For holes: what a kernel in it costs, as a share of leaving it unexplained. */
  readonly share: Float32Array;
  /** 1 for the head of an outermost loop: passing it is a turn (a layer). */
  readonly turn: Uint8Array;
  /** Predecessors of state s: `edges[from[s] … from[s+1])`. States are in topological order but for loop edges. */
  readonly from: Uint32Array;
  readonly edges: Uint32Array;
  readonly hasLoops: boolean;
}

const JUNCTION = -1;
export const HOLE = -2;
/** A hole that only fused and unknown kernels fill (a kernel from a hub, a Triton kernel). */
export const FUSED_HOLE = -3;

/** A hole for what builds masks and positions: integer and element-wise kernels. */
export const MASK_HOLE = -4;
const MASK_SHARE = 0.05;
/** Operators that mask and position code launches. */
export const MASK_OPERATORS: ReadonlySet<string> = new Set(['', 'add', 'adds', 'sub', 'subs', 'rsubs', 'mul', 'muls', 'cat', 'stack', 'compare', 'logical', 'where', 'fill', 'arange', 'cumsum', 'index', 'indexPut', 'cast', 'copy', 'triu', 'maskedFill', 'any', 'max', 'floor', 'fmod', 'abs', 'clamp', 'neg', 'gather', 'pad', 'repeat', 'sum']);

/** What a kernel inside a hole costs: one of a known operator rarely belongs there. */
const HOLE_SHARE = 0.5;
/** Expert implementations that are not indexed run many known operators. */
const EXPERTS_SHARE = 0.15;

/** Operators whose kernels come and go: no-op casts, copies by strides, masks built elsewhere. */
const LIGHT: Readonly<Record<string, number>> = { cast: 0.1, copy: 0.1, fill: 0.1, dropout: 0.05, dropoutMask: 0.02, compare: 0.25, logical: 0.25, arange: 0.15, where: 0.4, hostRead: 0, index: 0.5, triu: 0.3, clamp: 0.5, any: 0.3, maskedFill: 0.4, stack: 0.4, random: 0.2, oneHot: 0.2, bincount: 0.3, sort: 0.5, scatter: 0.4, pad: 0.3, floor: 0.3, fmod: 0.3, cumsum: 0.5, nonzero: 0.4, gather: 0.5, repeat: 0.1, sign: 0.3, max: 0.4 };
/** Operators that never vanish. */
const HEAVY: Readonly<Record<string, number>> = { matmul: 2, attention: 2, conv: 1.5, softmax: 1.5, indexSelect: 1 };

export const operatorWeight = (op: string): number => LIGHT[op] ?? HEAVY[op] ?? 1;

/** What counts when we say how much stays unexplained: weighty operators only. A kernel no row knows counts a little. */
export const countWeight = (op: string): number => (op === '' || op.startsWith('fused.') ? 0.3 : operatorWeight(op) < 0.6 ? 0 : operatorWeight(op));

/** A fused kernel that stands for a body is never absent: without a price, bodies could be left out for nothing. */
const ABSENT_KERNEL = 6;

/** Token, share, and price of staying empty of a hole by its mode. */
const HOLES: Readonly<Record<string, readonly [number, number, number]>> = { '': [HOLE, HOLE_SHARE, 0], fused: [FUSED_HOLE, 0, ABSENT_KERNEL], experts: [HOLE, EXPERTS_SHARE, ABSENT_KERNEL], mask: [MASK_HOLE, MASK_SHARE, 0] };

export interface AutomatonOptions {
  readonly cuda: boolean;
  /** Kernels carry their type only (no `aclnnAdds`): scalar and tensor forms look alike. */
  readonly typesOnly?: boolean;
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
  private readonly missing: number[] = [0];
  private readonly share: number[] = [0];
  private readonly turn: number[] = [0];
  private loopDepth = 0;
  private readonly predecessors: number[][] = [[]];
  private last = 0;
  private hasLoops = false;
  private readonly fusedAt = new Map<number, { readonly fused: readonly string[]; readonly lastNode: number; readonly weight: number }>();
  /** Shortcuts waiting for the last operator of their match. */
  private readonly open: { readonly state: number; readonly until: number }[] = [];

  constructor(private readonly graph: OperatorGraph, private readonly names: TokenNames, private readonly options: AutomatonOptions) {
    for (const match of options.matches ?? []) {
      const fused = match.fusion.fused ?? [];
      if (fused.length > 0) {
        this.fusedAt.set(match.nodes[0], { fused, lastNode: match.nodes[match.nodes.length - 1], weight: match.nodes.reduce((sum, node) => sum + operatorWeight(graph.nodes[node].op), 0) });
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
          this.turn[head] = this.loopDepth === 0 ? 1 : 0;
          this.last = head;
          this.loopDepth++;
          this.walk(step.steps);
          this.loopDepth--;
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
    const { op, attributes } = this.graph.nodes[node];
    if (op === 'hostRead') {
      return;
    }
    const shortcut = this.fusedAt.get(node);
    if (shortcut !== undefined) {
      for (const fused of shortcut.fused) {
        this.open.push({ state: this.state(this.names.id(fused), node, [this.last], Math.max(3, shortcut.weight), shortcut.weight), until: shortcut.lastNode });
      }
    }
    if (op === 'hole') {
      const [hole, share, absent] = HOLES[attributes.mode ?? ''] ?? HOLES[''];
      this.last = this.state(hole, node, [this.last], absent, absent);
      this.share[this.last] = share;
    } else if (op === 'view') {
      this.copies(node, 1);
    } else {
      if (op === 'matmul' || op === 'bmm') {
        // Operands are laid out anew where their strides do not suit.
        this.copies(node, this.graph.nodes[node].inputs.filter((input) => this.graph.nodes[input].op === 'view').length);
      }
      const pieces = IN_PIECES.get(op);
      if (pieces !== undefined) {
        this.inPieces(node, pieces);
        return;
      }
      const seenAs = this.seen(op);
      const before = this.last;
      this.last = this.state(this.names.id(seenAs), node, [before], operatorWeight(seenAs), countWeight(seenAs));
      if (op === 'matmul' && attributes.operands !== 2 && this.isTransposed(this.graph.nodes[node].inputs[0])) {
        // Over a transposed operand the bias is a sum of its own.
        this.last = this.state(this.names.id(this.seen('add')), node, [this.last], MAYBE_COPY);
      }
      if (op === 'reciprocal' && attributes.scalar === 1) {
        // The product with 1 changes nothing and is launched all the same.
        this.last = this.state(this.names.id(this.seen('muls')), node, [this.last], NEUTRAL);
      }
      const tensorForm = attributes.eitherForm === true ? TENSOR_FORM[op] : undefined;
      if (tensorForm !== undefined) {
        const other = this.seen(tensorForm);
        if (other !== seenAs) {
          this.last = this.junction([this.last, this.state(this.names.id(other), node, [before], operatorWeight(other), countWeight(other))]);
        }
      }
    }
    const closing = this.open.filter((entry) => entry.until === node);
    if (closing.length > 0) {
      this.last = this.junction([this.last, ...closing.map((entry) => entry.state)]);
      closing.forEach((entry) => this.open.splice(this.open.indexOf(entry), 1));
    }
  }

  /** One fused kernel, or the operators it stands for. */
  private inPieces(node: number, { fused, pieces }: InPieces): void {
    const before = this.last;
    const whole = this.state(this.names.id(fused), node, [before], operatorWeight(fused), countWeight(fused));
    this.last = before;
    for (const [op, skip] of pieces) {
      this.last = this.state(this.names.id(this.seen(op)), node, [this.last], skip, skip >= 1 ? skip : 0);
    }
    this.last = this.junction([whole, this.last]);
  }

  /** An operator as the backend's kernels show it. */
  private seen(op: string): string {
    return canonicalOperator(this.options.cuda ? onCuda(op) : this.options.typesOnly === true ? TENSOR_FORM[op] ?? op : op);
  }

  private isTransposed(node: number | undefined): boolean {
    const { op, attributes } = node === undefined ? { op: '', attributes: { name: undefined } } : this.graph.nodes[node];
    return op === 'view' && TRANSPOSING.has(attributes.name ?? '');
  }

  private copies(node: number, count: number): void {
    for (let i = 0; i < Math.min(count, 2); i++) {
      this.last = this.state(this.names.id('copy'), node, [this.last], MAYBE_COPY);
    }
  }

  /** Junctions of more than `MAX_EDGES` become trees: the traceback keeps six bits for an edge. */
  private junction(predecessors: number[]): number {
    if (predecessors.length > MAX_EDGES) {
      const groups: number[] = [];
      for (let i = 0; i < predecessors.length; i += MAX_EDGES) {
        groups.push(this.junction(predecessors.slice(i, i + MAX_EDGES)));
      }
      return this.junction(groups);
    }
    return this.state(JUNCTION, -1, predecessors, 0);
  }

  private state(token: number, node: number, predecessors: number[], skip: number, missing = 0): number {
    this.token.push(token);
    this.node.push(node);
    this.skip.push(skip);
    this.missing.push(missing);
    this.share.push(0);
    this.turn.push(0);
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
    return { size: this.token.length, token: Int32Array.from(this.token), node: Int32Array.from(this.node), skip: Float32Array.from(this.skip), missing: Float32Array.from(this.missing), share: Float32Array.from(this.share), turn: Uint8Array.from(this.turn), from, edges, hasLoops: this.hasLoops };
  }
}

/** Views that change the order of dimensions. */
const TRANSPOSING: ReadonlySet<string> = new Set(['transpose', 'permute', 'T', 'mT', 'movedim', 'swapaxes']);
const MAX_EDGES = 60;
/** A product with 1, where a backend has reciprocal as one kernel. */
const NEUTRAL = 0.1;
/** A copy that strides may or may not need. */
const MAYBE_COPY = 0.02;
