/**
 * One shape for all spellings: `x * x`, `x ** 2` and `torch.square(x)` become `sq`; `1 / torch.sqrt(y)`, `y ** -0.5` and
 * `torch.rsqrt(y)` become `rsqrt`; `x / torch.sqrt(y)` becomes a product; `x * torch.sigmoid(x)` becomes `silu`. Casts,
 * copies and views are transparent: they are looked through here, and read back where a condition asks for rounding.
 */
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';

export interface CanonicalNode {
  readonly op: string;
  /** Canonical node indices, after looking through casts and views. */
  readonly inputs: readonly number[];
  readonly scalar: number | undefined;
  readonly dims: readonly number[] | undefined;
  /** Nodes of the operator graph this one stands for. */
  readonly covers: readonly number[];
}

export interface CanonicalGraph {
  readonly graph: OperatorGraph;
  /** The first `graph.nodes.length` entries stand at their node's index; rewriting may add more behind. */
  readonly nodes: readonly CanonicalNode[];
  /** For each graph node: the node behind its casts, copies and views. */
  readonly behind: Int32Array;
}

const TRANSPARENT: ReadonlySet<string> = new Set(['cast', 'copy', 'view']);

export function canonicalGraph(graph: OperatorGraph): CanonicalGraph {
  const behind = new Int32Array(graph.nodes.length);
  const nodes: CanonicalNode[] = [];
  graph.nodes.forEach((node) => {
    const [first] = node.inputs;
    // A view that picks a part (a slice, one item of a chunk) is another value, not the same one.
    const sameValue = TRANSPARENT.has(node.op) && first !== undefined && first < node.id && !isPart(node);
    behind[node.id] = sameValue ? behind[first] : node.id;
    nodes.push({ op: node.op, inputs: [], scalar: node.attributes.scalar, dims: node.attributes.dims, covers: [node.id] });
  });
  const rewriter = new Rewriter(graph, nodes, behind);
  graph.nodes.forEach((node) => {
    nodes[node.id] = rewriter.canonical(node);
  });
  return { graph, nodes, behind };
}

/** Views that take a part of a tensor. */
function isPart(node: OperatorNode): boolean {
  const name = node.attributes.name ?? '';
  return node.op === 'view' && /^(slice|item|chunk|split|unbind|select|narrow|output)/.test(name);
}

class Rewriter {
  constructor(private readonly graph: OperatorGraph, private readonly nodes: CanonicalNode[], private readonly behind: Int32Array) {}

  canonical(node: OperatorNode): CanonicalNode {
    const inputs = node.inputs.map((input) => (input < this.graph.nodes.length ? this.behind[input] : input));
    const plain: CanonicalNode = { op: node.op, inputs, scalar: node.attributes.scalar, dims: node.attributes.dims, covers: [node.id] };
    const [a, b] = inputs;
    switch (node.op) {
      case 'square':
        return { ...plain, op: 'sq' };
      case 'pow':
        return this.power(plain);
      case 'mul':
        if (a === b) {
          return { ...plain, op: 'sq', inputs: [a] };
        }
        return this.siluOf(plain, a, b) ?? this.siluOf(plain, b, a) ?? plain;
      case 'reciprocal':
        return this.nodes[a]?.op === 'sqrt' ? { ...plain, op: 'rsqrt', inputs: this.nodes[a].inputs, scalar: undefined, covers: [node.id, ...this.nodes[a].covers] } : plain;
      case 'div': {
        const root = b === undefined ? undefined : this.nodes[b];
        return root?.op === 'sqrt' ? { ...plain, op: 'mul', inputs: [a, this.add({ op: 'rsqrt', inputs: root.inputs, scalar: undefined, dims: undefined, covers: root.covers })] } : plain;
      }
      case 'divs': {
        const value = this.nodes[a];
        if (value?.op === 'sum' && Number.isNaN(node.attributes.scalar ?? 0)) {
          // sum / x.shape[-1]
          return { ...plain, op: 'mean', inputs: value.inputs, scalar: undefined, dims: value.dims, covers: [node.id, ...value.covers] };
        }
        return { ...plain, op: 'muls', scalar: plain.scalar === undefined ? undefined : 1 / plain.scalar };
      }
      default:
        return plain;
    }
  }

  private power(node: CanonicalNode): CanonicalNode {
    switch (node.scalar) {
      case 2: return { ...node, op: 'sq', scalar: undefined };
      case -0.5: return { ...node, op: 'rsqrt', scalar: undefined };
      case 0.5: return { ...node, op: 'sqrt', scalar: undefined };
      case -1: return { ...node, op: 'reciprocal', scalar: undefined };
      default: return node;
    }
  }

  /** x · sigmoid(x). */
  private siluOf(node: CanonicalNode, x: number, gate: number): CanonicalNode | undefined {
    const sigmoid = this.nodes[gate];
    return sigmoid?.op === 'sigmoid' && sigmoid.inputs[0] === x ? { ...node, op: 'silu', inputs: [x], covers: [...node.covers, ...sigmoid.covers] } : undefined;
  }

  private add(node: CanonicalNode): number {
    this.nodes.push(node);
    return this.nodes.length - 1;
  }
}
