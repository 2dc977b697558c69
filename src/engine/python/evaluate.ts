/** Walks expressions. */
import type { Expression, FunctionDefinition, Span } from './ast';
import { callValue } from './callValue';
import { assign, elementOf } from './execute';
import { ACTIVATION_CHAINS, ACTIVATIONS } from './libraryCalls';
import { merge, TABLE, type Lowering } from './lowering';
import { isCacheMethod, libraryBase } from './modelLibraryCalls';
import type { Dtype } from './operatorGraph';
import { decoratorName, functionValue } from './scopes';
import { setLater } from './setLater';
import { choiceOf, Environment, NONE, nodesOf, NO_ARGUMENTS, UNKNOWN, unknownNumber, type CallArguments, type InstanceValue, type Value } from './values';

const DTYPES: ReadonlySet<string> = new Set(['float32', 'float', 'float16', 'half', 'bfloat16', 'float64', 'double', 'int8', 'int16', 'int32', 'int', 'int64', 'long', 'bool', 'uint8']);
const DTYPE_NAMES: Readonly<Record<string, string>> = { float: 'float32', half: 'float16', double: 'float64', int: 'int32', long: 'int64' };
const BUILTINS: ReadonlySet<string> = new Set(['range', 'len', 'enumerate', 'zip', 'isinstance', 'getattr', 'setattr', 'hasattr', 'int', 'float', 'bool', 'str', 'tuple', 'list', 'dict', 'set', 'super', 'min', 'max', 'sum', 'abs', 'map', 'print', 'reversed', 'sorted', 'any', 'all', 'type', 'next', 'iter', 'filter', 'callable', 'round', 'id', 'slice']);

/** Expressions beyond this end the lowering: classes whose every argument is open branch without end. */
const MAX_EVALUATED = 1_000_000;

export function evaluate(lowering: Lowering, expression: Expression, environment: Environment): Value {
  if (++lowering.evaluated > MAX_EVALUATED) {
    lowering.graph.cut = true;
    return UNKNOWN;
  }
  const value = valueOf(lowering, expression, environment);
  lowering.observe?.(expression, value);
  return value;
}

function valueOf(lowering: Lowering, expression: Expression, environment: Environment): Value {
  switch (expression.kind) {
    case 'name':
      return name(lowering, expression.name, environment);
    case 'number':
      return { kind: 'number', value: expression.value, place: lowering.place(expression) };
    case 'string':
      return { kind: 'string', value: expression.value };
    case 'constant':
      return expression.value === undefined ? NONE : { kind: 'boolean', value: expression.value };
    case 'attribute':
      return attribute(lowering, evaluate(lowering, expression.object, environment), expression.name, expression);
    case 'call':
      return call(lowering, expression, environment);
    case 'binary':
      return arithmetic(lowering, expression.operator, evaluate(lowering, expression.left, environment), evaluate(lowering, expression.right, environment), expression, false);
    case 'unary':
      return unary(lowering, expression.operator, evaluate(lowering, expression.operand, environment), expression);
    case 'boolean': {
      const left = evaluate(lowering, expression.left, environment);
      const known = truth(left);
      if (known !== undefined) {
        return known === (expression.operator === 'or') ? left : evaluate(lowering, expression.right, environment);
      }
      const right = evaluate(lowering, expression.right, environment);
      // Two conditions of unknown outcome stay unknown; `a or default` is one of both.
      const settled = truth(right);
      if (settled === (expression.operator === 'or')) {
        return right;
      }
      return nodesOf(left).length + nodesOf(right).length > 0 ? merge(lowering, [left, right], expression) : choiceOf([left, right]);
    }
    case 'compare':
      return compare(lowering, expression, environment);
    case 'conditional':
      return conditional(lowering, expression, environment);
    case 'subscript':
      return subscript(lowering, expression, environment);
    case 'slice':
      expression.parts.forEach((part) => part !== undefined && evaluate(lowering, part, environment));
      return UNKNOWN;
    case 'sequence':
      return { kind: 'sequence', open: false, items: expression.items.flatMap((item) => spread(lowering, item, environment)) };
    case 'dictionary':
      return dictionary(lowering, expression, environment);
    case 'comprehension':
      return comprehension(lowering, expression, environment);
    case 'lambda':
      return { kind: 'function', name: '<lambda>', parameters: expression.parameters, body: expression.body, definition: undefined, scope: lowering.scope, closure: environment, self: undefined, owner: undefined };
    case 'walrus': {
      const value = evaluate(lowering, expression.value, environment);
      environment.variables.set(expression.name, value);
      return value;
    }
    case 'splat':
    case 'await':
      return evaluate(lowering, expression.value, environment);
    case 'opaque': {
      const nodes = expression.parts.flatMap((part) => nodesOf(evaluate(lowering, part, environment)));
      return { kind: 'unknown', nodes };
    }
  }
}

function name(lowering: Lowering, wanted: string, environment: Environment): Value {
  return environment.get(wanted) ?? lowering.scopes.global(wanted, lowering.scope) ?? (BUILTINS.has(wanted) ? { kind: 'external', path: `builtins.${wanted}` } : UNKNOWN);
}

function spread(lowering: Lowering, item: Expression, environment: Environment): readonly Value[] {
  if (item.kind !== 'splat') {
    return [evaluate(lowering, item, environment)];
  }
  const value = evaluate(lowering, item.value, environment);
  return value.kind === 'sequence' ? value.items : [value];
}

/** Attributes of a tensor that are again that tensor, and those that are numbers. */
const TENSOR_VIEWS: ReadonlySet<string> = new Set(['T', 'mT', 'H', 'data', 'real', 'imag', 'grad']);
const TENSOR_NUMBERS: ReadonlySet<string> = new Set(['ndim', 'device', 'is_cuda', 'requires_grad', 'is_contiguous', 'layout', 'itemsize', 'nbytes', 'is_npu', 'is_leaf']);

export function attribute(lowering: Lowering, object: Value, wanted: string, span: Span): Value {
  switch (object.kind) {
    case 'tensor':
    case 'parameter': {
      if (wanted === 'shape') {
        return { kind: 'shape', node: lowering.node(object, span) ?? 0 };
      }
      if (wanted === 'dtype') {
        return { kind: 'dtype', dtype: { kind: 'of', node: lowering.node(object, span) ?? 0 } };
      }
      if (TENSOR_VIEWS.has(wanted)) {
        return object.kind === 'parameter' ? object : { kind: 'tensor', node: lowering.graph.emit('view', [object.node], { name: wanted }, lowering.place(span)) };
      }
      return TENSOR_NUMBERS.has(wanted) ? unknownNumber() : { kind: 'bound', receiver: object, name: wanted };
    }
    case 'instance':
      return instanceAttribute(lowering, object, wanted, span);
    case 'super': {
      const member = lowering.scopes.member(object.instance, wanted, object.after);
      return member?.statement.kind === 'function' ? functionValue(member.statement, member.owner.scope, { self: object.instance, owner: member.owner.definition }) : wanted === 'forward' ? libraryBase(lowering, object.instance) ?? UNKNOWN : UNKNOWN;
    }
    case 'class': {
      const member = lowering.scopes.member(object, wanted);
      if (member?.statement.kind === 'function') {
        return functionValue(member.statement, member.owner.scope, { self: isClassMethod(member.statement) ? object : undefined, owner: member.owner.definition });
      }
      return wanted === 'apply' ? autogradForward(lowering, object) : UNKNOWN;
    }
    case 'module':
      return lowering.scopes.global(wanted, object.scope) ?? lowering.scopes.imported(`${object.scope.name}.${wanted}`, 0, undefined, object.scope);
    case 'external':
      if (/^(math|numpy|torch)$/.test(object.path) && (wanted === 'pi' || wanted === 'e')) {
        return { kind: 'number', value: wanted === 'pi' ? Math.PI : Math.E, place: lowering.place(span) };
      }
      return DTYPES.has(wanted) && /(^|\.)(torch|mindspore|np|numpy)$/.test(object.path) ? { kind: 'dtype', dtype: { kind: 'named', name: DTYPE_NAMES[wanted] ?? wanted } } : { kind: 'external', path: `${object.path}.${wanted}` };
    case 'libraryObject':
      return wanted === 'weight' || wanted === 'bias' ? { kind: 'parameter', name: wanted, place: lowering.place(span) } : { kind: 'bound', receiver: object, name: wanted };
    case 'choice': {
      if (isCacheMethod(wanted) && wanted !== 'update') {
        return { kind: 'bound', receiver: UNKNOWN, name: wanted };
      }
      if (wanted === 'update' && object.options.some((option) => option.kind === 'instance' && isCache(option))) {
        return { kind: 'bound', receiver: UNKNOWN, name: wanted };
      }
      const options = object.options.filter((option) => option.kind !== 'none').map((option) => attribute(lowering, option, wanted, span));
      return options.length === 0 ? UNKNOWN : merge(lowering, options, span);
    }
    case 'dictionary':
      return object.entries.get(wanted) ?? (/^(get|pop|items|keys|values|update|copy|setdefault)$/.test(wanted) ? { kind: 'bound', receiver: object, name: wanted } : object.fallback ?? { kind: 'bound', receiver: object, name: wanted });
    case 'sequence': {
      // Named fields of `x.max(dim)`, `x.topk(k)`.
      const field = ['values', 'indices'].indexOf(wanted);
      return field >= 0 && object.items.length === 2 && !object.open ? object.items[field] : { kind: 'bound', receiver: object, name: wanted };
    }
    case 'string': case 'shape': case 'dtype': case 'unknown': case 'number': case 'partial': case 'bound': case 'function':
      return object.kind === 'unknown' && object.nodes.length === 0 ? { kind: 'bound', receiver: UNKNOWN, name: wanted } : { kind: 'bound', receiver: object, name: wanted };
    case 'boolean': case 'none':
      return UNKNOWN;
  }
}

/** `Function.apply(x)` runs the class's static forward; a backward of its own makes no difference to the forward. */
function autogradForward(lowering: Lowering, object: Value & { kind: 'class' }): Value {
  const forward = lowering.scopes.member(object, 'forward');
  return forward?.statement.kind === 'function' ? functionValue(forward.statement, forward.owner.scope, { self: UNKNOWN, owner: forward.owner.definition }) : UNKNOWN;
}

const isClassMethod = ({ decorators }: FunctionDefinition): boolean => decorators.some((decorator) => decoratorName(decorator) === 'classmethod');

const isCache = (object: InstanceValue): boolean => /Cache$/.test(object.definition.name) && /(^|\.)cache_utils$/.test(object.scope.name);

function instanceAttribute(lowering: Lowering, object: InstanceValue, wanted: string, span: Span): Value {
  if (isCacheMethod(wanted) && isCache(object)) {
    return { kind: 'bound', receiver: UNKNOWN, name: wanted };
  }
  const own = object.attributes.get(wanted);
  if (own !== undefined) {
    return (own.kind === 'none' ? setLater(lowering, object, wanted) : undefined) ?? own;
  }
  if (wanted === '__call__' && lowering.scopes.member(object, wanted) === undefined) {
    return object;
  }
  const member = lowering.scopes.member(object, wanted);
  if (member?.statement.kind === 'assign') {
    const { value } = member.statement;
    return lowering.quietly(member.owner.scope, () => evaluate(lowering, value, new Environment(undefined)));
  }
  if (member?.statement.kind === 'function') {
    const decorators = new Set(member.statement.decorators.map(decoratorName));
    const isStatic = decorators.has('staticmethod');
    const self: Value | undefined = isStatic ? undefined : isClassMethod(member.statement) ? { kind: 'class', definition: object.definition, scope: object.scope } : object;
    const method = functionValue(member.statement, member.owner.scope, { self, owner: member.owner.definition });
    return decorators.has('property') || decorators.has('cached_property') ? callValue(lowering, method, NO_ARGUMENTS, span) : method;
  }
  if ((wanted === 'weight' || wanted === 'bias') && libraryBase(lowering, object) !== undefined) {
    return { kind: 'parameter', name: wanted, place: lowering.place(span) };
  }
  return (member === undefined ? setLater(lowering, object, wanted) : undefined) ?? { kind: 'bound', receiver: object, name: wanted };
}

function call(lowering: Lowering, expression: Expression & { kind: 'call' }, environment: Environment): Value {
  const { callee } = expression;
  if (callee.kind === 'name' && callee.name === 'super' && expression.args.length === 0) {
    const self = environment.get('self');
    const owner = lowering.active.length > 0 ? ownerOf(lowering, environment) : undefined;
    return self?.kind === 'instance' && owner !== undefined ? { kind: 'super', instance: self, after: owner } : UNKNOWN;
  }
  const target = evaluate(lowering, callee, environment);
  const positional: Value[] = [];
  const keywords = new Map<string, Value>();
  let open = false;
  for (const { name: keyword, value } of expression.args) {
    if (keyword !== undefined) {
      keywords.set(keyword, evaluate(lowering, value, environment));
    } else if (value.kind === 'splat' && value.stars === 2) {
      const entries = evaluate(lowering, value.value, environment);
      if (entries.kind === 'dictionary') {
        entries.entries.forEach((entry, key) => keywords.set(key, entry));
        open ||= entries.fallback !== undefined;
      } else {
        open = true;
      }
    } else if (value.kind === 'splat') {
      const items = evaluate(lowering, value.value, environment);
      if (target.kind === 'external' && /(^|\.)Sequential$/.test(target.path) && items.kind === 'sequence' && items.open) {
        // Modules that repeat stay together: the others beside them run once.
        positional.push(items);
        continue;
      }
      positional.push(...(items.kind === 'sequence' ? items.items : [items]));
      open ||= items.kind !== 'sequence' || items.open;
    } else {
      positional.push(evaluate(lowering, value, environment));
    }
  }
  const args: CallArguments = { positional, keywords, open };
  // `out.append(x)` changes the list that the variable holds.
  if (target.kind === 'bound' && target.receiver.kind === 'sequence' && callee.kind === 'attribute' && (target.name === 'append' || target.name === 'extend')) {
    const added = target.name === 'append' ? positional : positional.flatMap((value) => (value.kind === 'sequence' ? value.items : [value]));
    const { items } = target.receiver;
    assign(lowering, callee.object, { kind: 'sequence', items: items.length < 256 ? [...items, ...added] : items, open: target.receiver.open }, environment);
    return NONE;
  }
  if (target.kind === 'bound' && target.receiver.kind === 'dictionary' && callee.kind === 'attribute' && target.name === 'update') {
    const [added] = positional;
    const entries = new Map([...target.receiver.entries, ...(added?.kind === 'dictionary' ? added.entries : []), ...keywords]);
    assign(lowering, callee.object, { ...target.receiver, entries, fallback: target.receiver.fallback ?? (added === undefined || added.kind === 'dictionary' ? undefined : UNKNOWN) }, environment);
    return NONE;
  }
  return callValue(lowering, target, args, expression);
}

/** The class whose method is running, for a bare `super()`. */
function ownerOf(lowering: Lowering, environment: Environment): Parameters<Lowering['scopes']['member']>[2] {
  const self = environment.get('self');
  if (self?.kind !== 'instance') {
    return undefined;
  }
  const body = lowering.active[lowering.active.length - 1];
  return lowering.scopes.resolutionOrder(self).find((entry) => entry.definition.body.some((statement) => statement.kind === 'function' && statement.body === body))?.definition;
}

/** Operator names with a tensor on the right, and with a Python number. */
const TENSOR_OPERATORS: Readonly<Record<string, readonly [string, string]>> = {
  '+': ['add', 'adds'], '-': ['sub', 'subs'], '*': ['mul', 'muls'], '/': ['div', 'divs'], '**': ['pow', 'pow'], '@': ['matmul', 'matmul'], '//': ['floor', 'floor'], '%': ['fmod', 'fmod'], '&': ['logical', 'logical'], '|': ['logical', 'logical'], '^': ['logical', 'logical'],
};

export function arithmetic(lowering: Lowering, operator: string, left: Value, right: Value, span: Span, inPlace: boolean): Value {
  const place = lowering.place(span);
  if (left.kind === 'number' && right.kind === 'number') {
    return { kind: 'number', value: fold(operator, left.value, right.value), place };
  }
  if (left.kind === 'sequence' && right.kind === 'sequence' && operator === '+') {
    return { kind: 'sequence', items: [...left.items, ...right.items], open: left.open || right.open };
  }
  if (left.kind === 'sequence' && operator === '*') {
    return { ...left, open: right.kind !== 'number' };
  }
  const a = lowering.node(left, span);
  const b = lowering.node(right, span);
  const names = TENSOR_OPERATORS[operator];
  if (names === undefined || (a === undefined && b === undefined)) {
    return left.kind === 'string' || right.kind === 'string' ? UNKNOWN : unknownNumber(place);
  }
  const mark = inPlace ? { inPlace: true } : {};
  if (a !== undefined && b !== undefined) {
    return { kind: 'tensor', node: lowering.graph.emit(names[0], [a, b], mark, place) };
  }
  const scalarValue = a === undefined ? left : right;
  const scalar = scalarValue.kind === 'number' ? scalarValue.value : NaN;
  const scalarPlace = scalarValue.kind === 'number' ? scalarValue.place : undefined;
  const attributes = { ...mark, scalar, ...(scalarPlace === undefined ? {} : { scalarPlace }), ...(mayHoldTensor(scalarValue) ? { eitherForm: true } : {}) };
  if (a !== undefined) {
    return { kind: 'tensor', node: lowering.graph.emit(names[1], [a], attributes, place) };
  }
  const input = b ?? 0;
  switch (operator) {
    case '-':
      return { kind: 'tensor', node: lowering.graph.emit('rsubs', [input], { ...attributes, scalarLeft: true }, place) };
    case '/': {
      // torch runs 2/x as reciprocal, then multiplies by the number.
      const inverse = lowering.graph.emit('reciprocal', [input], { ...attributes, scalarLeft: true }, place);
      return { kind: 'tensor', node: scalar === 1 ? inverse : lowering.graph.emit('muls', [inverse], attributes, place) };
    }
    default:
      return { kind: 'tensor', node: lowering.graph.emit(names[1], [input], { ...attributes, scalarLeft: true }, place) };
  }
}

/** What the source says nothing about may be a tensor as well as a number. */
function mayHoldTensor(value: Value): boolean {
  return value.kind === 'unknown' || value.kind === 'bound' || value.kind === 'external' || (value.kind === 'choice' && value.options.some(mayHoldTensor));
}

function fold(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return a / b;
    case '//': return Math.floor(a / b);
    case '%': return a - b * Math.floor(a / b);
    case '**': return a ** b;
    default: return NaN;
  }
}

function unary(lowering: Lowering, operator: string, value: Value, span: Span): Value {
  if (operator === 'not') {
    const known = truth(value);
    return known === undefined ? UNKNOWN : { kind: 'boolean', value: !known };
  }
  if (value.kind === 'number') {
    return { kind: 'number', value: operator === '-' ? -value.value : value.value, place: lowering.place(span) };
  }
  const node = lowering.node(value, span);
  if (node === undefined || operator === '+') {
    return node === undefined ? unknownNumber(lowering.place(span)) : value;
  }
  return { kind: 'tensor', node: lowering.graph.emit(operator === '-' ? 'neg' : 'logical', [node], {}, lowering.place(span)) };
}

function compare(lowering: Lowering, expression: Expression & { kind: 'compare' }, environment: Environment): Value {
  const values = expression.operands.map((operand) => evaluate(lowering, operand, environment));
  const [operator] = expression.operators;
  const [left, right] = values;
  if (operator === 'is' || operator === 'is not') {
    if (right.kind !== 'none') {
      return UNKNOWN;
    }
    const isNone = isNoneValue(lowering, left);
    return isNone === undefined ? UNKNOWN : { kind: 'boolean', value: isNone === (operator === 'is') };
  }
  if (operator === 'in' || operator === 'not in') {
    if (left.kind === 'string' && right.kind === 'dictionary' && right.fallback === undefined) {
      return { kind: 'boolean', value: right.entries.has(left.value) === (operator === 'in') };
    }
    return UNKNOWN;
  }
  if (left.kind === 'string' && right.kind === 'string') {
    return { kind: 'boolean', value: (left.value === right.value) === (operator === '==') };
  }
  if (left.kind === 'number' && right.kind === 'number') {
    return Number.isNaN(left.value) || Number.isNaN(right.value) ? UNKNOWN : { kind: 'boolean', value: compareNumbers(operator, left.value, right.value) };
  }
  const tensors = values.map((value) => (value.kind === 'tensor' || value.kind === 'parameter' ? lowering.node(value, expression) : undefined)).filter((node): node is number => node !== undefined);
  return tensors.length === 0 ? UNKNOWN : { kind: 'tensor', node: lowering.graph.emit('compare', tensors, {}, lowering.place(expression)) };
}

function isNoneValue(lowering: Lowering, value: Value): boolean | undefined {
  switch (value.kind) {
    case 'none': return true;
    case 'tensor': return lowering.optionalNodes.has(value.node) ? undefined : false;
    case 'unknown': case 'choice': case 'bound': return undefined;
    default: return false;
  }
}

function compareNumbers(operator: string, a: number, b: number): boolean {
  switch (operator) {
    case '==': return a === b;
    case '!=': return a !== b;
    case '<': return a < b;
    case '<=': return a <= b;
    case '>': return a > b;
    default: return a >= b;
  }
}

/** Outcome of a condition where the source settles it. */
export function truth(value: Value): boolean | undefined {
  switch (value.kind) {
    case 'boolean': return value.value;
    case 'none': return false;
    case 'number': return Number.isNaN(value.value) ? undefined : value.value !== 0;
    case 'string': return value.value !== '';
    case 'sequence': return value.open ? undefined : value.items.length > 0;
    case 'function': case 'class': case 'instance': case 'module': case 'libraryObject': return true;
    case 'tensor': case 'unknown': case 'choice': case 'external': case 'dtype': case 'shape': case 'parameter': case 'bound': case 'super': case 'partial': case 'dictionary':
      return undefined;
  }
}

function conditional(lowering: Lowering, expression: Expression & { kind: 'conditional' }, environment: Environment): Value {
  const known = truth(evaluate(lowering, expression.condition, environment));
  if (known !== undefined) {
    return evaluate(lowering, known ? expression.then : expression.otherwise, environment);
  }
  const values: Value[] = [];
  const branches = [expression.then, expression.otherwise].map((side) => lowering.graph.capture(() => values.push(evaluate(lowering, side, environment))));
  if (branches.some((steps) => steps.length > 0)) {
    lowering.graph.push({ kind: 'alternatives', branches, place: lowering.place(expression) });
  }
  return merge(lowering, values, expression);
}

function subscript(lowering: Lowering, expression: Expression & { kind: 'subscript' }, environment: Environment): Value {
  const object = evaluate(lowering, expression.object, environment);
  const flat = expression.indices.flatMap((index) => (index.kind === 'sequence' && index.form === 'tuple' ? index.items : [index]));
  const indices = flat.map((index) => evaluate(lowering, index, environment));
  const [first] = indices;
  switch (object.kind) {
    case 'sequence': {
      if (flat[0]?.kind === 'slice') {
        return object;
      }
      const at = first?.kind === 'number' ? first.value : NaN;
      const item = object.items[at < 0 ? object.items.length + at : at];
      return item ?? (object.items.length > 0 ? merge(lowering, object.items, expression) : UNKNOWN);
    }
    case 'dictionary': {
      const item = first?.kind === 'string' ? object.entries.get(first.value) : first?.kind === 'number' ? [...object.entries.values()].filter((value) => value.kind !== 'none')[first.value] : undefined;
      return item ?? object.fallback ?? (object.entries.size === 0 ? UNKNOWN : { kind: 'choice', options: [...object.entries.values()] });
    }
    case 'shape':
      return flat[0]?.kind === 'slice' ? object : unknownNumber(lowering.place(expression));
    case 'instance': {
      const table = object.attributes.get(TABLE);
      return table?.kind === 'dictionary' ? tableEntry(lowering, table, first) : UNKNOWN;
    }
    case 'external':
      return first?.kind === 'string' ? { kind: 'external', path: `${object.path}[${first.value}]` } : { kind: 'external', path: `${object.path}[]` };
    default: {
      const node = lowering.node(object, expression);
      if (node === undefined) {
        return UNKNOWN;
      }
      const byData = indices.map((index) => (index.kind === 'tensor' || index.kind === 'parameter' ? lowering.node(index, expression) : undefined)).filter((index): index is number => index !== undefined);
      return { kind: 'tensor', node: lowering.graph.emit(byData.length > 0 ? 'index' : 'view', [node, ...byData], { name: 'slice' }, lowering.place(expression)) };
    }
  }
}

/** An entry of a class table: the class, or (class, keyword arguments), instantiated. */
function tableEntry(lowering: Lowering, table: Value & { kind: 'dictionary' }, key: Value | undefined): Value {
  const made = (entry: Value): Value => {
    const target = entry.kind === 'sequence' ? entry.items[0] ?? UNKNOWN : entry;
    const keywords = entry.kind === 'sequence' && entry.items[1]?.kind === 'dictionary' ? entry.items[1].entries : new Map<string, Value>();
    return target.kind === 'class' || target.kind === 'external' ? lowering.quietly(lowering.scope, () => callValue(lowering, target, { positional: [], keywords, open: false }, { start: 0, end: 0 })) : target;
  };
  const entry = key?.kind === 'string' ? table.entries.get(key.value) : undefined;
  if (entry !== undefined) {
    return made(entry);
  }
  // The key comes from a configuration: any activation that models are configured with may run.
  const usual = [...table.entries].filter(([name_]) => ACTIVATIONS.has(name_) || ACTIVATION_CHAINS.has(name_)).map(([, value]) => made(value));
  return usual.length > 0 ? { kind: 'choice', options: usual } : UNKNOWN;
}

function dictionary(lowering: Lowering, expression: Expression & { kind: 'dictionary' }, environment: Environment): Value {
  const entries = new Map<string, Value>();
  let fallback: Value | undefined;
  for (const { key, value } of expression.entries) {
    const evaluated = evaluate(lowering, value, environment);
    const keyValue = key === undefined ? undefined : evaluate(lowering, key, environment);
    if (keyValue?.kind === 'string') {
      entries.set(keyValue.value, evaluated);
    } else if (evaluated.kind === 'dictionary' && key === undefined) {
      evaluated.entries.forEach((entry, name_) => entries.set(name_, entry));
      fallback ??= evaluated.fallback;
    } else {
      fallback = evaluated;
    }
  }
  return { kind: 'dictionary', entries, fallback };
}

function comprehension(lowering: Lowering, expression: Expression & { kind: 'comprehension' }, environment: Environment): Value {
  const inner = new Environment(environment);
  const [first, ...more] = expression.clauses;
  const iterable = first === undefined ? UNKNOWN : evaluate(lowering, first.iterable, inner);
  const body = (item: Value): Value => {
    assign(lowering, first.target, item, inner);
    more.forEach((clause) => {
      const nested = evaluate(lowering, clause.iterable, inner);
      assign(lowering, clause.target, nested.kind === 'sequence' ? nested.items[0] ?? UNKNOWN : elementOf(lowering, nested, clause.iterable), inner);
    });
    expression.filters.forEach((filter) => evaluate(lowering, filter, inner));
    return evaluate(lowering, expression.body, inner);
  };
  if (first === undefined) {
    return UNKNOWN;
  }
  if (iterable.kind === 'sequence' && !iterable.open && iterable.items.length <= 8 && more.length === 0) {
    return { kind: 'sequence', open: false, items: iterable.items.map(body) };
  }
  let item: Value = UNKNOWN;
  const steps = lowering.graph.capture(() => {
    item = body(iterable.kind === 'sequence' ? iterable.items[0] ?? UNKNOWN : elementOf(lowering, iterable, first.iterable));
  });
  if (steps.length > 0) {
    lowering.graph.push({ kind: 'loop', steps, place: lowering.place(expression), count: undefined });
  }
  return { kind: 'sequence', open: true, items: [item] };
}

/** A dtype argument: `torch.float32`, `x.dtype`, or unknown. */
export function dtypeOf(lowering: Lowering, value: Value | undefined, span: Span): Dtype {
  if (value?.kind === 'dtype') {
    return value.dtype;
  }
  const node = value === undefined ? undefined : lowering.node(value, span);
  return node === undefined ? { kind: 'unknown' } : { kind: 'of', node };
}
