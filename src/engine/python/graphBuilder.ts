import type { CallRecord, Hole, NodeAttributes, OperatorGraph, OperatorNode, Place, Step } from './operatorGraph';

/** Nodes beyond this end the lowering: such a graph is generated code, or a runaway expansion. */
const MAX_NODES = 20_000;

/** Operators that launch nothing and so make no step. */
const SILENT: ReadonlySet<string> = new Set(['input', 'parameter', 'view', 'phi', 'shape']);
/** Views that copy when strides do not allow the new shape: they make a step, whose kernel may be absent. */
const MAY_COPY: ReadonlySet<string> = new Set(['reshape', 'flatten', 'reshape_as']);

/** Collects nodes and steps while a function is walked. */
export class GraphBuilder {
  readonly nodes: OperatorNode[] = [];
  readonly calls: CallRecord[] = [];
  readonly holes: Hole[] = [];
  cut = false;
  /** The innermost statement being walked. */
  statement: Place;
  /** Index of the call being walked, -1 in the root. */
  call = -1;
  /** While > 0 nothing is emitted: constructors run once at start-up, not in the step. */
  muted = 0;
  /** Names of the `with` contexts around (`torch.autocast`). */
  readonly contexts: string[] = [];
  private steps: Step[] = [];
  private readonly parameters = new Map<string, number>();

  constructor(root: Place) {
    this.statement = root;
  }

  emit(op: string, inputs: readonly number[], attributes: NodeAttributes, place: Place): number {
    if (this.nodes.length >= MAX_NODES) {
      this.cut = true;
      return this.nodes.length - 1;
    }
    const id = this.nodes.length;
    this.nodes.push({ id, op, inputs, attributes: this.contexts.length === 0 ? attributes : { ...attributes, context: this.contexts[this.contexts.length - 1] }, place, statement: this.statement, call: this.call });
    if ((!SILENT.has(op) || (op === 'view' && MAY_COPY.has(attributes.name ?? ''))) && this.muted === 0) {
      this.steps.push({ kind: 'operator', node: id });
    }
    return id;
  }

  hole(reason: string, inputs: readonly number[], place: Place): number {
    this.holes.push({ place, reason });
    return this.emit('hole', inputs, { name: reason }, place);
  }

  /** One node per weight, however often it is read. */
  parameter(name: string, place: Place): number {
    const key = `${place.file}:${place.start}:${name}:${this.call}`;
    const known = this.parameters.get(key);
    if (known !== undefined) {
      return known;
    }
    const id = this.emit('parameter', [], { name }, place);
    this.parameters.set(key, id);
    return id;
  }

  /** One of several values; equal ones need no phi. */
  phi(options: readonly number[], place: Place): number {
    const distinct = [...new Set(options)];
    return distinct.length === 1 ? distinct[0] : this.emit('phi', distinct, {}, place);
  }

  /** Adds an input that was not known when the phi of a loop was made. */
  addInput(phi: number, input: number): void {
    const node = this.nodes[phi];
    if (input !== phi && !node.inputs.includes(input)) {
      this.nodes[phi] = { ...node, inputs: [...node.inputs, input] };
    }
  }

  /** Runs `body` and returns the steps it made, apart from the current ones. */
  capture(body: () => void): readonly Step[] {
    const outer = this.steps;
    this.steps = [];
    try {
      body();
      return this.steps;
    } finally {
      this.steps = outer;
    }
  }

  push(step: Step): void {
    if (this.muted === 0) {
      this.steps.push(step);
    }
  }

  finish(root: OperatorGraph['root'], outputs: readonly number[]): OperatorGraph {
    return { root, nodes: this.nodes, calls: this.calls, steps: this.steps, outputs, holes: this.holes, cut: this.cut };
  }
}
