/** Walks statements: assignments, branches as alternatives, loops as repetition. */
import type { Expression, Span, Statement } from './ast';
import { arithmetic, evaluate, truth } from './evaluate';
import { merge, type Lowering } from './lowering';
import { functionValue } from './scopes';
import { type Environment, nodesOf, UNKNOWN, type Value } from './values';

/** How a block ended: `falls` off its end, or left early by return, raise, break, continue. */
export type Ending = 'falls' | 'leaves';

/** Runs a block; values of `return` are added to `returns`. */
export function execute(lowering: Lowering, statements: readonly Statement[], environment: Environment, returns: Value[]): Ending {
  for (let i = 0; i < statements.length; i++) {
    const statement = statements[i];
    if (lowering.graph.cut) {
      return 'leaves';
    }
    const outer = lowering.graph.statement;
    lowering.graph.statement = lowering.place(statement);
    try {
      if (statement.kind === 'if') {
        const known = truth(evaluate(lowering, statement.condition, environment));
        if (known === undefined) {
          return branch(lowering, statement, statements.slice(i + 1), environment, returns);
        }
        if (execute(lowering, known ? statement.then : statement.otherwise, environment, returns) === 'leaves') {
          return 'leaves';
        }
        continue;
      }
      if (one(lowering, statement, environment, returns) === 'leaves') {
        return 'leaves';
      }
    } finally {
      lowering.graph.statement = outer;
    }
  }
  return 'falls';
}

/**
 * An `if` whose outcome is not in the source. A branch that leaves takes the rest of the block away from itself: the rest
 * then belongs to the other branch alone.
 */
function branch(lowering: Lowering, statement: Statement & { kind: 'if' }, rest: readonly Statement[], environment: Environment, returns: Value[]): Ending {
  const sides = [statement.then, statement.otherwise].map((body) => {
    const copy = environment.copy();
    const side: { ending: Ending } = { ending: 'falls' };
    const added = returns.length;
    const { result: steps, attributes } = lowering.sideOf(() => lowering.graph.capture(() => {
      side.ending = execute(lowering, body, copy, returns);
    }));
    return { copy, ending: side.ending, steps, attributes, raises: side.ending === 'leaves' && returns.length === added && body.some((s) => s.kind === 'raise') };
  });
  const [then, otherwise] = sides;
  if (then.raises || otherwise.raises) {
    // An error path does not run in a step that was profiled.
    const kept = then.raises ? otherwise : then;
    kept.steps.forEach((step) => lowering.graph.push(step));
    adopt(environment, kept.copy);
    lowering.mergeAttributes([kept.attributes]);
    return kept.ending === 'leaves' ? 'leaves' : execute(lowering, rest, environment, returns);
  }
  const finish = (side: (typeof sides)[number]): typeof side.steps => {
    if (side.ending === 'leaves') {
      return side.steps;
    }
    lowering.mergeAttributes([side.attributes]);
    const more = lowering.graph.capture(() => {
      execute(lowering, rest, side.copy, returns);
    });
    return [...side.steps, ...more];
  };
  if (then.ending === 'leaves' || otherwise.ending === 'leaves') {
    lowering.graph.push({ kind: 'alternatives', branches: [finish(then), finish(otherwise)], place: lowering.place(statement) });
    return 'leaves';
  }
  if (then.steps.length > 0 || otherwise.steps.length > 0) {
    lowering.graph.push({ kind: 'alternatives', branches: [then.steps, otherwise.steps], place: lowering.place(statement) });
  }
  join(lowering, environment, [then.copy, otherwise.copy], statement);
  lowering.mergeAttributes([then.attributes, otherwise.attributes]);
  return execute(lowering, rest, environment, returns);
}

function adopt(environment: Environment, from: Environment): void {
  for (const [name, value] of from.variables) {
    environment.variables.set(name, value);
  }
}

/** Variables after a branch: one value where both sides agree, else either. */
function join(lowering: Lowering, environment: Environment, sides: readonly Environment[], span: Span): void {
  const names = new Set(sides.flatMap((side) => [...side.variables.keys()]));
  for (const name of names) {
    const values = sides.map((side) => side.variables.get(name)).filter((value): value is Value => value !== undefined);
    environment.variables.set(name, merge(lowering, values, span));
  }
}

function one(lowering: Lowering, statement: Exclude<Statement, { kind: 'if' }>, environment: Environment, returns: Value[]): Ending {
  switch (statement.kind) {
    case 'assign': {
      const value = evaluate(lowering, statement.value, environment);
      statement.targets.forEach((target) => assign(lowering, target, value, environment));
      return 'falls';
    }
    case 'augmented': {
      const left = evaluate(lowering, statement.target, environment);
      const right = evaluate(lowering, statement.value, environment);
      assign(lowering, statement.target, arithmetic(lowering, statement.operator, left, right, statement, true), environment);
      return 'falls';
    }
    case 'expression':
      evaluate(lowering, statement.value, environment);
      return 'falls';
    case 'return':
      returns.push(statement.value === undefined ? { kind: 'none' } : evaluate(lowering, statement.value, environment));
      return 'leaves';
    case 'for':
      loop(lowering, statement, environment, returns);
      return 'falls';
    case 'while': {
      const steps = lowering.graph.capture(() => repeated(lowering, statement.body, environment, returns, () => evaluate(lowering, statement.condition, environment)));
      lowering.graph.push({ kind: 'loop', steps, place: lowering.place(statement), count: undefined });
      return 'falls';
    }
    case 'with':
      return withBlock(lowering, statement, environment, returns);
    case 'try': {
      const ending = execute(lowering, statement.body, environment, returns);
      const last = ending === 'leaves' ? ending : execute(lowering, statement.otherwise, environment, returns);
      execute(lowering, statement.finally, environment, returns);
      return last;
    }
    case 'match': {
      evaluate(lowering, statement.subject, environment);
      const sides = statement.cases.map((body) => {
        const copy = environment.copy();
        return { copy, steps: lowering.graph.capture(() => execute(lowering, body, copy, returns)) };
      });
      lowering.graph.push({ kind: 'alternatives', branches: [...sides.map((side) => side.steps), []], place: lowering.place(statement) });
      join(lowering, environment, [environment, ...sides.map((side) => side.copy)], statement);
      return 'falls';
    }
    case 'function':
      environment.variables.set(statement.name, functionValue(statement, lowering.scope, { closure: environment }));
      return 'falls';
    case 'class':
      environment.variables.set(statement.name, { kind: 'class', definition: statement, scope: lowering.scope });
      return 'falls';
    case 'import':
      statement.names.forEach(({ module, alias }) => environment.variables.set(alias ?? module.split('.')[0], lowering.scopes.imported(alias === undefined ? module.split('.')[0] : module, 0, undefined, lowering.scope)));
      return 'falls';
    case 'importFrom':
      statement.names.forEach(({ name, alias }) => environment.variables.set(alias ?? name, lowering.scopes.imported(statement.module, statement.level, name, lowering.scope)));
      return 'falls';
    case 'raise': case 'jump':
      return 'leaves';
    case 'declare':
      return 'falls';
    case 'opaque': {
      const nodes = statement.parts.flatMap((part) => nodesOf(evaluate(lowering, part, environment)));
      if (statement.what === 'syntax error') {
        lowering.graph.hole('syntax error', nodes, lowering.place(statement));
      }
      return 'falls';
    }
  }
}

export function assign(lowering: Lowering, target: Expression, value: Value, environment: Environment): void {
  switch (target.kind) {
    case 'name':
      environment.variables.set(target.name, value);
      return;
    case 'sequence':
      unpack(lowering, target.items, value, target, environment);
      return;
    case 'attribute': {
      const object = evaluate(lowering, target.object, environment);
      if (object.kind === 'instance') {
        lowering.setAttribute(object, target.name, value);
      }
      return;
    }
    case 'subscript':
      assignItem(lowering, target, value, environment);
      return;
    case 'splat':
      assign(lowering, target.value, value, environment);
      return;
    default:
      return;
  }
}

function assignItem(lowering: Lowering, target: Expression & { kind: 'subscript' }, value: Value, environment: Environment): void {
  const object = evaluate(lowering, target.object, environment);
  if (object.kind === 'dictionary' && (target.object.kind === 'name' || target.object.kind === 'attribute')) {
    const key = evaluate(lowering, target.indices[0], environment);
    const entries = new Map(object.entries);
    entries.set(key.kind === 'string' ? key.value : `?${entries.size}`, value);
    assign(lowering, target.object, { ...object, entries }, environment);
    return;
  }
  const destination = lowering.node(object, target);
  if (destination === undefined) {
    return;
  }
  const indices = target.indices.map((index) => (index.kind === 'slice' ? undefined : lowering.node(evaluate(lowering, index, environment), index))).filter((node): node is number => node !== undefined);
  const source = lowering.node(value, target);
  const inputs = [destination, ...indices, ...(source === undefined ? [] : [source])];
  const op = indices.length > 0 ? 'indexPut' : source === undefined ? 'fill' : 'copy';
  const node = lowering.graph.emit(op, inputs, { inPlace: true }, lowering.place(target));
  if (target.object.kind === 'name') {
    environment.variables.set(target.object.name, { kind: 'tensor', node });
  }
}

function unpack(lowering: Lowering, targets: readonly Expression[], value: Value, span: Span, environment: Environment): void {
  if (value.kind === 'sequence' && !value.open) {
    const star = targets.findIndex((target) => target.kind === 'splat');
    targets.forEach((target, i) => {
      if (i === star) {
        assign(lowering, target, { kind: 'sequence', items: value.items.slice(i, value.items.length - (targets.length - 1 - i)), open: false }, environment);
      } else {
        const index = star >= 0 && i > star ? value.items.length - (targets.length - i) : i;
        assign(lowering, target, value.items[index] ?? UNKNOWN, environment);
      }
    });
    return;
  }
  if (value.kind === 'choice') {
    const sequence = value.options.find((option) => option.kind === 'sequence' && option.items.length === targets.length);
    if (sequence !== undefined) {
      unpack(lowering, targets, sequence, span, environment);
      return;
    }
  }
  if (value.kind === 'shape') {
    targets.forEach((target) => assign(lowering, target, { kind: 'number', value: NaN, place: lowering.place(target) }, environment));
    return;
  }
  const item = value.kind === 'sequence' ? value.items[0] ?? UNKNOWN : value;
  const node = lowering.node(item, span);
  targets.forEach((target, i) => assign(lowering, target, node === undefined ? UNKNOWN : { kind: 'tensor', node: lowering.graph.emit('view', [node], { name: `item ${i}` }, lowering.place(target)) }, environment));
}

function loop(lowering: Lowering, statement: Statement & { kind: 'for' }, environment: Environment, returns: Value[]): void {
  const iterable = evaluate(lowering, statement.iterable, environment);
  if (iterable.kind === 'sequence' && !iterable.open && iterable.items.length <= 8) {
    for (const item of iterable.items) {
      assign(lowering, statement.target, item, environment);
      if (execute(lowering, statement.body, environment, returns) === 'leaves') {
        break;
      }
    }
    return;
  }
  const items: readonly Value[] = iterable.kind === 'sequence' && iterable.items.length > 0 ? iterable.items : [elementOf(lowering, iterable, statement.iterable)];
  const steps = lowering.graph.capture(() => repeated(lowering, statement.body, environment, returns, () => assign(lowering, statement.target, merge(lowering, items, statement.iterable), environment)));
  lowering.graph.push({ kind: 'loop', steps, place: lowering.place(statement), count: iterable.kind === 'sequence' && !iterable.open ? iterable.items.length : undefined });
}

/** What a loop over a tensor or an unknown yields. */
export function elementOf(lowering: Lowering, iterable: Value, span: Span): Value {
  if (iterable.kind === 'dictionary') {
    return UNKNOWN;
  }
  const node = lowering.node(iterable, span);
  return node === undefined ? UNKNOWN : { kind: 'tensor', node: lowering.graph.emit('view', [node], { name: 'item' }, lowering.place(span)) };
}

/** Walks a loop body once. Tensors that the body reassigns enter it as a phi of the value before and the value of the last turn. */
function repeated(lowering: Lowering, body: readonly Statement[], environment: Environment, returns: Value[], head: () => void): void {
  const carried = new Map<string, number>();
  for (const name of assignedNames(body)) {
    const value = environment.variables.get(name);
    if (value?.kind === 'tensor') {
      const phi = lowering.graph.emit('phi', [value.node], {}, lowering.graph.statement);
      carried.set(name, phi);
      environment.variables.set(name, { kind: 'tensor', node: phi });
    }
  }
  head();
  const lengths = new Map([...environment.variables].flatMap(([name, value]) => (value.kind === 'sequence' ? [[name, value.items.length] as const] : [])));
  const mark = lowering.journal.length;
  execute(lowering, body, environment, returns);
  openGrownLists(lowering, environment, lengths, mark);
  for (const [name, phi] of carried) {
    const after = environment.variables.get(name);
    if (after?.kind === 'tensor') {
      lowering.graph.addInput(phi, after.node);
    }
  }
}

/** A list that a loop of unknown length appends to holds its items an unknown number of times. */
function openGrownLists(lowering: Lowering, environment: Environment, lengths: ReadonlyMap<string, number>, mark: number): void {
  for (const [name, length] of lengths) {
    const value = environment.variables.get(name);
    if (value?.kind === 'sequence' && value.items.length > length) {
      environment.variables.set(name, { ...value, open: true });
    }
  }
  for (const { attributes, name, before } of lowering.journal.slice(mark)) {
    const value = attributes.get(name);
    if (value?.kind === 'sequence' && before?.kind === 'sequence' && value.items.length > before.items.length) {
      attributes.set(name, { ...value, open: true });
    }
  }
}

function assignedNames(body: readonly Statement[]): ReadonlySet<string> {
  const names = new Set<string>();
  const pending: Statement[] = [...body];
  const addTarget = (target: Expression): void => {
    if (target.kind === 'name') {
      names.add(target.name);
    } else if (target.kind === 'sequence') {
      target.items.forEach(addTarget);
    } else if (target.kind === 'subscript' && target.object.kind === 'name') {
      names.add(target.object.name);
    }
  };
  for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
    switch (statement.kind) {
      case 'assign': statement.targets.forEach(addTarget); break;
      case 'augmented': addTarget(statement.target); break;
      case 'if': pending.push(...statement.then, ...statement.otherwise); break;
      case 'for': case 'while': case 'with': case 'try': pending.push(...statement.body); break;
      case 'match': statement.cases.forEach((body_) => pending.push(...body_)); break;
      default: break;
    }
  }
  return names;
}

/** Contexts that change which operators run or whether they may be replaced. */
const CONTEXTS = /(autocast|no_grad|inference_mode|enable_grad|sdpa_kernel|record_function)/;

function withBlock(lowering: Lowering, statement: Statement & { kind: 'with' }, environment: Environment, returns: Value[]): Ending {
  const added: string[] = [];
  for (const { context, alias } of statement.items) {
    const value = evaluate(lowering, context, environment);
    const text = lowering.scope.text.slice(context.start, context.end);
    const match = CONTEXTS.exec(text);
    if (match !== null) {
      added.push(match[1]);
    }
    if (alias !== undefined) {
      assign(lowering, alias, value, environment);
    }
  }
  lowering.graph.contexts.push(...added);
  try {
    return execute(lowering, statement.body, environment, returns);
  } finally {
    lowering.graph.contexts.length -= added.length;
  }
}
