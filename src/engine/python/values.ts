/** What an expression may stand for while a function is lowered. Immutable, except an instance's attributes. */
import type { ClassDefinition, Expression, FunctionDefinition, Parameter } from './ast';
import type { Dtype, Place } from './operatorGraph';
import type { ModuleScope } from './program';

export type Value =
  /** Output of a graph node. */
  | { readonly kind: 'tensor'; readonly node: number }
  /** A Python number; NaN when its value is not in the source (`config.eps`). `place` is where it was written or read. */
  | { readonly kind: 'number'; readonly value: number; readonly place: Place | undefined }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'none' }
  | { readonly kind: 'dtype'; readonly dtype: Dtype }
  /** `x.shape`, `x.size()`: numbers of a tensor. */
  | { readonly kind: 'shape'; readonly node: number }
  /** A name of a library that is not indexed: `torch.nn.functional`, `torch.float32`, `transformers.activations.ACT2FN`. */
  | { readonly kind: 'external'; readonly path: string }
  /** An instance of a library class, `torch.nn.Linear(…)`: keyword arguments and positional ones as values. */
  | { readonly kind: 'libraryObject'; readonly path: string; readonly args: CallArguments }
  /** A weight on an instance. */
  | { readonly kind: 'parameter'; readonly name: string; readonly place: Place }
  | { readonly kind: 'module'; readonly scope: ModuleScope }
  | FunctionValue
  | { readonly kind: 'class'; readonly definition: ClassDefinition; readonly scope: ModuleScope }
  | InstanceValue
  | { readonly kind: 'bound'; readonly receiver: Value; readonly name: string }
  | { readonly kind: 'super'; readonly instance: InstanceValue; readonly after: ClassDefinition }
  | { readonly kind: 'partial'; readonly callee: Value; readonly args: CallArguments }
  /** A tuple or list. `open`: the items repeat an unknown number of times (a ModuleList over `range(n)`). */
  | { readonly kind: 'sequence'; readonly items: readonly Value[]; readonly open: boolean }
  | { readonly kind: 'dictionary'; readonly entries: ReadonlyMap<string, Value>; readonly fallback: Value | undefined }
  /** One of several, by configuration: `ACT2FN[config.hidden_act]`. */
  | { readonly kind: 'choice'; readonly options: readonly Value[] }
  /** Not understood. `nodes` are the tensors it may hold. */
  | { readonly kind: 'unknown'; readonly nodes: readonly number[] };

export interface FunctionValue {
  readonly kind: 'function';
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: FunctionDefinition['body'] | Expression;
  readonly definition: FunctionDefinition | undefined;
  readonly scope: ModuleScope;
  readonly closure: Environment | undefined;
  readonly self: Value | undefined;
  /** The class whose body holds the method, for `super()`. */
  readonly owner: ClassDefinition | undefined;
}

export interface InstanceValue {
  readonly kind: 'instance';
  readonly definition: ClassDefinition;
  readonly scope: ModuleScope;
  readonly attributes: Map<string, Value>;
}

export interface CallArguments {
  readonly positional: readonly Value[];
  readonly keywords: ReadonlyMap<string, Value>;
  /** `*args` or `**kwargs` of unknown content were passed. */
  readonly open: boolean;
}

export const NO_ARGUMENTS: CallArguments = { positional: [], keywords: new Map(), open: false };
export const NONE: Value = { kind: 'none' };
export const UNKNOWN: Value = { kind: 'unknown', nodes: [] };
export const unknownNumber = (place?: Place): Value => ({ kind: 'number', value: NaN, place });

/** More alternatives than this say nothing about a value. */
const MOST_OPTIONS = 32;

/** One of several values. Choices among them are taken apart and equal ones are one: nested they would grow without end. */
export function choiceOf(values: readonly Value[]): Value {
  const options: Value[] = [];
  const nodes = new Set<number>();
  let none = false;
  for (const value of values.flatMap((option) => (option.kind === 'choice' ? option.options : [option]))) {
    if (value.kind === 'tensor' ? nodes.has(value.node) : value.kind === 'none' ? none : options.includes(value)) {
      continue;
    }
    if (value.kind === 'tensor') {
      nodes.add(value.node);
    }
    none ||= value.kind === 'none';
    options.push(value);
  }
  return options.length === 1 ? options[0] : { kind: 'choice', options: options.slice(0, MOST_OPTIONS) };
}

/** Variables of one function call; a lookup falls back to the enclosing function's. */
export class Environment {
  readonly variables: Map<string, Value>;

  constructor(readonly parent: Environment | undefined, variables?: ReadonlyMap<string, Value>) {
    this.variables = new Map(variables);
  }

  get(name: string): Value | undefined {
    return this.variables.get(name) ?? this.parent?.get(name);
  }

  copy(): Environment {
    return new Environment(this.parent, this.variables);
  }
}

/** Nodes whose data a value carries. */
export function nodesOf(value: Value): readonly number[] {
  switch (value.kind) {
    case 'tensor':
      return [value.node];
    case 'sequence':
      return value.items.flatMap(nodesOf);
    case 'dictionary':
      return [...value.entries.values()].flatMap(nodesOf);
    case 'choice':
      return value.options.flatMap(nodesOf);
    case 'unknown':
      return value.nodes;
    case 'number': case 'string': case 'boolean': case 'none': case 'dtype': case 'shape': case 'external': case 'libraryObject': case 'parameter':
    case 'module': case 'function': case 'class': case 'instance': case 'bound': case 'super': case 'partial':
      return [];
  }
}
