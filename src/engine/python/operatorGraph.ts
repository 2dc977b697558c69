/**
 * What a Python function executes: a data-flow graph of framework operators, each with its place in the source, and the
 * order they run in, with branches, loops and calls kept. From it come the kernel sequence it would launch, the match of
 * a fusion, and the edit.
 */

/** A piece of a file, as UTF-16 offsets. */
export interface Place {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A dtype as far as the source tells: a name (`float32`), the dtype of a node, or unknown. */
export type Dtype = { readonly kind: 'named'; readonly name: string } | { readonly kind: 'of'; readonly node: number } | { readonly kind: 'unknown' };

export interface NodeAttributes {
  /** The other operand when it is a Python number: 1e-6 in `x + 1e-6`; NaN when it is a number the source does not give. */
  readonly scalar?: number;
  /** The scalar stood on the left: `1 - x`. */
  readonly scalarLeft?: boolean;
  /** The source does not tell whether the other operand is a number or a tensor (`x * self.scale` of a configuration). */
  readonly eitherForm?: boolean;
  /** Where the scalar's expression stands, so that an edit can quote it (`self.eps`). */
  readonly scalarPlace?: Place;
  /** Reduced or normalised dimensions as written; undefined when all or unknown. */
  readonly dims?: readonly number[];
  readonly keepdim?: boolean;
  readonly dtype?: Dtype;
  /** Name of an input or parameter, or what a view does (`transpose`). */
  readonly name?: string;
  /** The value was changed in place (`x.mul_(y)`). */
  readonly inPlace?: boolean;
  /** Innermost `with` context that changes what operators do: `torch.autocast`, `torch.no_grad`. */
  readonly context?: string;
  /** Tensors a product reads where the source tells: 2 without a bias, 3 with one. */
  readonly operands?: number;
  /** `gelu(approximate="tanh")` and the like. */
  readonly mode?: string;
}

/**
 * One operator. `op` is a token of the operator table, or one of: `input` (parameter of the root function), `parameter`
 * (a weight on an instance), `view` (launches nothing), `phi` (one of several values, by branch or loop), `shape`, `hole`
 * (not understood: may launch anything).
 */
export interface OperatorNode {
  readonly id: number;
  readonly op: string;
  readonly inputs: readonly number[];
  readonly attributes: NodeAttributes;
  readonly place: Place;
  /** The innermost statement the expression belongs to. */
  readonly statement: Place;
  /** Index into `OperatorGraph.calls` of the call it was reached through; -1 in the root function itself. */
  readonly call: number;
}

export interface CallRecord {
  readonly callee: string;
  /** Definition of the callee. */
  readonly definition: Place;
  readonly site: Place;
  /** The call this one was made in, -1 for the root. */
  readonly parent: number;
}

/** What runs, in order. */
export type Step =
  | { readonly kind: 'operator'; readonly node: number }
  | { readonly kind: 'call'; readonly call: number; readonly steps: readonly Step[] }
  | { readonly kind: 'alternatives'; readonly branches: readonly (readonly Step[])[]; readonly place: Place }
  | { readonly kind: 'loop'; readonly steps: readonly Step[]; readonly place: Place; /** Trip count where the source gives it. */ readonly count: number | undefined };

export interface Hole {
  readonly place: Place;
  readonly reason: string;
}

export interface OperatorGraph {
  readonly root: { readonly name: string; readonly place: Place };
  readonly nodes: readonly OperatorNode[];
  readonly calls: readonly CallRecord[];
  readonly steps: readonly Step[];
  /** Nodes whose values the root returns. */
  readonly outputs: readonly number[];
  readonly holes: readonly Hole[];
  /** True when the graph was cut at the size limit. */
  readonly cut: boolean;
}
