/**
 * Lowers one Python function to an operator graph by walking it with abstract values: tensors are graph nodes, numbers and
 * modules are what the source says, everything else is unknown. Calls into indexed code are followed.
 */
import type { ClassDefinition, Expression, FunctionDefinition, Span } from './ast';
import { annotatedInstance } from './configurations';
import { evaluate } from './evaluate';
import { execute } from './execute';
import { GraphBuilder } from './graphBuilder';
import type { OperatorGraph, Place } from './operatorGraph';
import type { ModuleScope, Program } from './program';
import { decoratorName, functionValue, Scopes, type ClassRef } from './scopes';
import { choiceOf, Environment, nodesOf, NONE, UNKNOWN, unknownNumber, type FunctionValue, type InstanceValue, type Value } from './values';

/** Calls nested deeper than this end in a hole: model code stays well below. */
export const MAX_CALL_DEPTH = 40;

/** Attribute under which an instance built from a dictionary keeps it, for subscripts. */
export const TABLE = '<table>';

export interface LoweringOptions {
  /** Follow calls into indexed code; false lowers the one function alone. Default true. */
  readonly follow?: boolean;
  /** Whoever builds the instance may have passed anything: defaults of its `__init__` settle nothing. Default false. */
  readonly anyArguments?: boolean;
  /** The same, except that defaults which are code (a class of layers, a function) are what is built. Default false. */
  readonly anySizes?: boolean;
  /**
   * How often one function is followed when others than the root call it; more often its calls are holes. Helpers that call one
   * another twice each, thirty deep, are a billion calls. Default: as often as the graph has room for.
   */
  readonly mostCalls?: number;
  /** Told of every expression of the root function itself that was evaluated, with the graph node that carries its value. */
  readonly observe?: (expression: Expression, node: number | undefined) => void;
}

/** Attribute maps of instances with the attributes that changed. */
type AttributeChanges = Map<Map<string, Value>, Map<string, { readonly after: Value; readonly before: Value | undefined }>>;

/** State of one lowering, shared by `evaluate`, `execute` and `callValue`. */
export class Lowering {
  readonly graph: GraphBuilder;
  readonly scopes: Scopes;
  readonly follow: boolean;
  /** Functions being walked, to end recursion. */
  readonly active: FunctionValue['body'][] = [];
  private readonly mostCalls: number;
  private readonly calls = new Map<FunctionValue['body'], number>();
  /** Inputs that may be None: a test against None then has both outcomes. */
  readonly optionalNodes = new Set<number>();
  /** Attributes set since the innermost branch began, with what they were: both sides of a branch start from the same instance. */
  journal: { readonly attributes: Map<string, Value>; readonly name: string; readonly before: Value | undefined }[] = [];
  /** Expressions evaluated so far. */
  evaluated = 0;
  /** Attribute maps of instances built since the innermost branch began: nothing outside it knows them. */
  private newborn = new Set<Map<string, Value>>();
  /** Names of attributes whose later values are being worked out, to end recursion. */
  readonly settingLater = new Set<string>();
  scope: ModuleScope;
  readonly observe: ((expression: Expression, value: Value) => void) | undefined;

  constructor(program: Program, scope: ModuleScope, root: Span, options: LoweringOptions) {
    this.scope = scope;
    const { observe } = options;
    this.observe = observe === undefined ? undefined : (expression, value) => {
      if (this.graph.call === -1 && this.graph.muted === 0) {
        observe(expression, value.kind === 'tensor' || value.kind === 'parameter' ? this.node(value, expression) : undefined);
      }
    };
    this.follow = options.follow !== false;
    this.mostCalls = options.mostCalls ?? Infinity;
    this.graph = new GraphBuilder({ file: scope.file, start: root.start, end: root.end });
    this.scopes = new Scopes(program, (expression, from) => this.quietly(from, () => evaluate(this, expression, new Environment(undefined))));
  }

  /** Whether this call of a function is one too many; calls written in the root itself never are. */
  isOneTooMany(body: FunctionValue['body']): boolean {
    if (this.active.length <= 1) {
      return false;
    }
    const calls = (this.calls.get(body) ?? 0) + 1;
    this.calls.set(body, calls);
    return calls > this.mostCalls;
  }

  place(span: Span): Place {
    return { file: this.scope.file, start: span.start, end: span.end };
  }

  /** Walks something that runs at import or construction time: no steps, and places are of its own module. */
  quietly<T>(scope: ModuleScope, body: () => T): T {
    const outer = this.scope;
    this.scope = scope;
    this.graph.muted++;
    try {
      return body();
    } finally {
      this.graph.muted--;
      this.scope = outer;
    }
  }

  setAttribute(instance: InstanceValue, name: string, value: Value): void {
    this.journal.push({ attributes: instance.attributes, name, before: instance.attributes.get(name) });
    instance.attributes.set(name, value);
  }

  /**
   * Walks one side of a branch, takes back the attributes it set and returns them. `mergeAttributes` then sets what both
   * sides leave: one value, or either.
   */
  sideOf<T>(body: () => T): { readonly result: T; readonly attributes: AttributeChanges } {
    const outer = this.journal;
    const older = this.newborn;
    this.journal = [];
    this.newborn = new Set();
    try {
      const result = body();
      const attributes: AttributeChanges = new Map();
      for (let i = this.journal.length - 1; i >= 0; i--) {
        const { attributes: target, name, before } = this.journal[i];
        if (this.newborn.has(target)) {
          continue;
        }
        const changed = attributes.get(target) ?? new Map<string, { readonly after: Value; readonly before: Value | undefined }>();
        attributes.set(target, changed);
        const after = changed.get(name)?.after ?? target.get(name) ?? UNKNOWN;
        changed.set(name, { after, before });
        if (before === undefined) {
          target.delete(name);
        } else {
          target.set(name, before);
        }
      }
      return { result, attributes };
    } finally {
      this.journal = outer;
      this.newborn.forEach((attributes) => older.add(attributes));
      this.newborn = older;
    }
  }

  /** Sets what the sides of a branch leave in attributes; a side that left the function does not count. */
  mergeAttributes(sides: readonly AttributeChanges[]): void {
    const targets = new Set(sides.flatMap((side) => [...side.keys()]));
    for (const target of targets) {
      const names = new Set(sides.flatMap((side) => [...(side.get(target)?.keys() ?? [])]));
      for (const name of names) {
        const values = sides.map((side) => side.get(target)?.get(name)?.after ?? target.get(name)).filter((value): value is Value => value !== undefined);
        const [first] = values;
        // Lists that one side made longer (`self.layer.append(…)` under an if): the longer one, as in `merge`.
        const value: Value = values.length === 1 || values.every((other) => other === first) ? first : values.every((other) => other.kind === 'sequence') ? merge(this, values, { start: 0, end: 0 }) : choiceOf(values);
        this.journal.push({ attributes: target, name, before: target.get(name) });
        target.set(name, value);
      }
    }
  }

  in<T>(scope: ModuleScope, body: () => T): T {
    const outer = this.scope;
    this.scope = scope;
    try {
      return body();
    } finally {
      this.scope = outer;
    }
  }

  /** The node that carries a value's data; undefined for values without (numbers, None …). */
  node(value: Value, span: Span): number | undefined {
    switch (value.kind) {
      case 'tensor':
        return value.node;
      case 'parameter':
        return this.graph.parameter(value.name, value.place);
      case 'choice': {
        const nodes = value.options.map((option) => this.node(option, span)).filter((node): node is number => node !== undefined);
        return nodes.length === 0 ? undefined : this.graph.phi(nodes, this.place(span));
      }
      default:
        return nodesOf(value)[0];
    }
  }

  /** An instance of a class: `__init__` is walked for its attributes, its arguments unknown unless given. */
  construct(ref: ClassRef, args: { readonly positional: readonly Value[]; readonly keywords: ReadonlyMap<string, Value>; readonly anything?: Unsettled }): InstanceValue {
    const instance: InstanceValue = { kind: 'instance', definition: ref.definition, scope: ref.scope, attributes: new Map() };
    this.newborn.add(instance.attributes);
    const [table] = args.positional;
    if (table?.kind === 'dictionary') {
      // `ACT2FN = ClassInstantier(ACT2CLS)`: a mapping whose entries are classes to instantiate.
      instance.attributes.set(TABLE, table);
    }
    const init = this.scopes.member(ref, '__init__');
    if (init?.statement.kind === 'function' && !this.active.includes(init.statement.body) && this.active.length < MAX_CALL_DEPTH) {
      const method = functionValue(init.statement, init.owner.scope, { self: instance, owner: init.owner.definition });
      this.quietly(init.owner.scope, () => this.run(method, bindParameters(this, method, args.positional, args.keywords, args.anything ?? 'none')));
    }
    if (init === undefined) {
      // A dataclass: its fields are its arguments.
      args.keywords.forEach((value, name) => instance.attributes.set(name, value));
      const fields = ref.definition.body.flatMap((statement) => (statement.kind === 'declare' ? [statement.target] : statement.kind === 'assign' && statement.annotation !== undefined ? statement.targets : []));
      args.positional.forEach((value, i) => {
        const field = fields[i];
        if (field?.kind === 'name') {
          instance.attributes.set(field.name, value);
        }
      });
    }
    return instance;
  }

  /** Walks a function's body in a fresh environment and returns its value. */
  run(callee: FunctionValue, environment: Environment): Value {
    this.active.push(callee.body);
    try {
      return this.in(callee.scope, () => {
        if (!isBody(callee.body)) {
          return evaluate(this, callee.body, environment);
        }
        const returns: Value[] = [];
        execute(this, callee.body, environment, returns);
        return returns.length === 0 ? NONE : merge(this, returns, callee.definition ?? { start: 0, end: 0 });
      });
    } finally {
      this.active.pop();
    }
  }
}

const isBody = (body: FunctionValue['body']): body is FunctionDefinition['body'] => Array.isArray(body);

/** What a test against None is asked of: `self.norm = Norm() if config.norm else None`. */
const MAY_BE_ABSENT: ReadonlySet<Value['kind']> = new Set<Value['kind']>(['instance', 'libraryObject', 'function', 'partial', 'class']);

/** One value for several that control flow may yield. */
export function merge(lowering: Lowering, values: readonly Value[], span: Span): Value {
  const [first] = values;
  if (values.length === 1 || values.every((value) => value === first)) {
    return first;
  }
  const present = values.filter((value) => value.kind !== 'none');
  if (present.length > 0 && present.every((value) => value.kind === 'tensor' || value.kind === 'parameter')) {
    const node = lowering.graph.phi(present.map((value) => lowering.node(value, span) ?? 0), lowering.place(span));
    if (present.length < values.length || present.some((value) => value.kind === 'tensor' && lowering.optionalNodes.has(value.node))) {
      lowering.optionalNodes.add(node);
    }
    return { kind: 'tensor', node };
  }
  if (values.every((value) => value.kind === 'sequence')) {
    const sequences = values.filter((value): value is Value & { kind: 'sequence' } => value.kind === 'sequence');
    const length = sequences[0].items.length;
    if (sequences.every((sequence) => sequence.items.length === length)) {
      return { kind: 'sequence', open: sequences.some((sequence) => sequence.open), items: sequences[0].items.map((_, i) => merge(lowering, sequences.map((sequence) => sequence.items[i]), span)) };
    }
    return sequences.reduce((longest, sequence) => (sequence.items.length > longest.items.length ? sequence : longest));
  }
  if (values.every((value) => value.kind === 'number')) {
    return unknownNumber();
  }
  if (present.length === 1 && !(present.length < values.length && MAY_BE_ABSENT.has(present[0].kind))) {
    return present[0];
  }
  return choiceOf(values);
}

/** Defaults that settle nothing, because arguments of unknown content were passed: none, all, or those that are no code. */
type Unsettled = 'none' | 'all' | 'plain';

/** Binds arguments to parameters; what is missing takes its default, else it is unknown. */
export function bindParameters(lowering: Lowering, callee: FunctionValue, positional: readonly Value[], keywords: ReadonlyMap<string, Value>, unsettled: Unsettled): Environment {
  const environment = new Environment(callee.closure);
  const rest = callee.self === undefined ? [...positional] : [callee.self, ...positional];
  const unused = new Map(keywords);
  for (const parameter of callee.parameters) {
    if (parameter.stars === 1) {
      environment.variables.set(parameter.name, { kind: 'sequence', items: rest.splice(0), open: false });
      continue;
    }
    if (parameter.stars === 2) {
      environment.variables.set(parameter.name, { kind: 'dictionary', entries: unused, fallback: unsettled === 'none' ? undefined : UNKNOWN });
      continue;
    }
    const named = unused.get(parameter.name);
    unused.delete(parameter.name);
    const given = named ?? rest.shift() ?? defaultOf(lowering, callee, parameter.defaultValue, unsettled);
    environment.variables.set(parameter.name, (isUnsaid(given) ? annotatedInstance(lowering, parameter.annotation, callee.scope) : undefined) ?? given);
  }
  return environment;
}

const PLAIN_DEFAULTS: ReadonlySet<string> = new Set<Expression['kind']>(['number', 'string', 'constant', 'unary', 'sequence', 'dictionary']);

const isUnsaid = (value: Value): boolean => (value.kind === 'unknown' && value.nodes.length === 0) || value.kind === 'bound';

function defaultOf(lowering: Lowering, callee: FunctionValue, expression: Expression | undefined, unsettled: Unsettled): Value {
  if (expression === undefined || unsettled === 'all' || (unsettled === 'plain' && PLAIN_DEFAULTS.has(expression.kind))) {
    return expression?.kind === 'number' ? unknownNumber() : UNKNOWN;
  }
  return lowering.quietly(callee.scope, () => evaluate(lowering, expression, new Environment(callee.closure)));
}

/** Annotations of parameters that hold no tensor. */
const PLAIN = /^(Optional\[)?(int|float|bool|str)\b/;

/**
 * Lowers a function, or a method of `owner` on an instance built by its `__init__`. Parameters become inputs, unless their
 * annotation or default says that they hold no tensor.
 */
export function lowerFunction(program: Program, scope: ModuleScope, definition: FunctionDefinition, owner?: ClassDefinition, options: LoweringOptions = {}): OperatorGraph {
  const lowering = new Lowering(program, scope, definition, options);
  const decorators = new Set(definition.decorators.map(decoratorName));
  const isMethod = owner !== undefined && !decorators.has('staticmethod');
  const self = isMethod ? lowering.construct({ definition: owner, scope }, { positional: [], keywords: new Map(), anything: options.anyArguments === true ? 'all' : options.anySizes === true ? 'plain' : 'none' }) : undefined;
  const callee = functionValue(definition, scope, { self, owner });
  const environment = new Environment(undefined);
  definition.parameters.forEach((parameter, index) => {
    environment.variables.set(parameter.name, index === 0 && self !== undefined ? self : rootInput(lowering, parameter));
  });
  const result = lowering.run(callee, environment);
  const name = owner === undefined ? definition.name : `${owner.name}.${definition.name}`;
  return lowering.graph.finish({ name, place: lowering.place(definition) }, lowering.in(scope, () => nodesOf(result)));
}

/** Parameters that hold a key/value cache, an object with methods of its own. */
const CACHE = /(^|_)(kv_?)?caches?$/;

function rootInput(lowering: Lowering, parameter: FunctionDefinition['parameters'][number]): Value {
  if (parameter.stars === 1) {
    return { kind: 'sequence', items: [], open: true };
  }
  if (parameter.stars === 2) {
    return { kind: 'dictionary', entries: new Map(), fallback: UNKNOWN };
  }
  const standard = parameter.defaultValue;
  if (standard?.kind === 'number' || (parameter.annotation !== undefined && /^(Optional\[)?(int|float)\b/.test(parameter.annotation))) {
    return unknownNumber(lowering.place(parameter));
  }
  if (standard?.kind === 'string' || (standard?.kind === 'constant' && standard.value !== undefined) || (parameter.annotation !== undefined && PLAIN.test(parameter.annotation)) || /config$/i.test(parameter.name)) {
    return UNKNOWN;
  }
  const configuration = annotatedInstance(lowering, parameter.annotation, lowering.scope);
  if (configuration !== undefined || CACHE.test(parameter.name)) {
    return configuration ?? UNKNOWN;
  }
  const node = lowering.graph.emit('input', [], { name: parameter.name }, lowering.place(parameter));
  if (standard?.kind === 'constant') {
    lowering.optionalNodes.add(node);
  }
  return { kind: 'tensor', node };
}
