import type { Expression, FunctionDefinition, Span, Statement } from '../python/ast';

/** A name read or written somewhere in a function. */
export interface NameUse {
  readonly name: string;
  readonly at: number;
  readonly kind: 'read' | 'write';
}

/** Every use of a name below a part of the tree, inner functions included, in no order. */
export function nameUses(part: unknown, uses: NameUse[] = []): readonly NameUse[] {
  if (Array.isArray(part)) {
    part.forEach((item) => nameUses(item, uses));
    return uses;
  }
  if (!isNode(part)) {
    return uses;
  }
  switch (part.kind) {
    case 'name':
      uses.push({ name: part.name, at: part.start, kind: 'read' });
      return uses;
    case 'assign':
      part.targets.forEach((target) => written(target, uses));
      nameUses(part.value, uses);
      return uses;
    case 'call':
      // `x.mul_(y)` changes what the name holds.
      if (part.callee.kind === 'attribute' && /[^_]_$/.test(part.callee.name)) {
        written(part.callee.object, uses);
      }
      nameUses([part.callee, ...part.args.map(({ value }) => value)], uses);
      return uses;
    case 'augmented':
      written(part.target, uses);
      nameUses(part.target, uses);
      nameUses(part.value, uses);
      return uses;
    case 'for':
      written(part.target, uses);
      [part.iterable, part.body, part.otherwise].forEach((inner) => nameUses(inner, uses));
      return uses;
    case 'walrus':
      uses.push({ name: part.name, at: part.start, kind: 'write' });
      nameUses(part.value, uses);
      return uses;
    default:
      for (const inner of Object.values(part)) {
        if (typeof inner === 'object') {
          nameUses(inner, uses);
        }
      }
      return uses;
  }
}

/** Names that mean something of the function's own in it or in a part of it: a module of such a name cannot be written there. */
export function localNames(definition: FunctionDefinition): ReadonlySet<string> {
  const names = new Set(nameUses(definition).filter(({ kind }) => kind === 'write').map(({ name }) => name));
  parts([definition], (part) => {
    switch (part.kind) {
      case 'function': case 'lambda':
        part.parameters.forEach(({ name }) => names.add(name));
        break;
      case 'importFrom':
        part.names.forEach(({ name, alias }) => names.add(alias ?? name));
        break;
      case 'import':
        part.names.forEach(({ module, alias }) => alias !== undefined && alias !== module && names.add(alias));
        break;
      case 'with':
        part.items.forEach(({ alias }) => alias?.kind === 'name' && names.add(alias.name));
        break;
      case 'comprehension':
        part.clauses.forEach(({ target }) => nameUses(target).forEach(({ name }) => names.add(name)));
        break;
      default:
        break;
    }
  });
  return names;
}

function written(target: Expression, uses: NameUse[]): void {
  if (target.kind === 'name') {
    uses.push({ name: target.name, at: target.start, kind: 'write' });
  } else if (target.kind === 'sequence') {
    target.items.forEach((item) => written(item, uses));
  } else if (target.kind === 'subscript' || target.kind === 'attribute') {
    // `x[0] = y` and `self.w += y` change what the name in front holds.
    const { object } = target;
    written(object, uses);
    nameUses(target, uses);
  } else {
    nameUses(target, uses);
  }
}

type Node = Expression | Statement;

/** Arguments, clauses and the like have no kind; their parts are reached through the default above. */
const isNode = (part: unknown): part is Node => typeof part === 'object' && part !== null;

/** The statement lists of a function, nested ones included; inner functions and classes are their own. */
export function blocksOf(definition: FunctionDefinition): readonly (readonly Statement[])[] {
  const blocks: (readonly Statement[])[] = [];
  const pending: (readonly Statement[])[] = [definition.body];
  for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
    blocks.push(block);
    for (const statement of block) {
      switch (statement.kind) {
        case 'if': case 'for':
          pending.push('then' in statement ? statement.then : statement.body, statement.otherwise);
          break;
        case 'while': case 'with':
          pending.push(statement.body);
          break;
        case 'try':
          pending.push(statement.body, ...statement.handlers, statement.otherwise, statement.finally);
          break;
        case 'match':
          pending.push(...statement.cases);
          break;
        default:
          break;
      }
    }
  }
  return blocks;
}

export const within = (inner: Span, outer: Span): boolean => outer.start <= inner.start && inner.end <= outer.end;

/** The expression at exactly this place, the outermost where several share it. */
export function findExpression(part: unknown, at: Span): Expression | undefined {
  if (Array.isArray(part)) {
    for (const item of part) {
      const found = findExpression(item, at);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }
  if (!isNode(part) || (typeof part.start === 'number' && !within(at, part))) {
    return undefined;
  }
  if (part.start === at.start && part.end === at.end && EXPRESSIONS.has(part.kind)) {
    return part as Expression;
  }
  return findExpression(Object.values(part).filter((inner) => typeof inner === 'object'), at);
}

const EXPRESSIONS: ReadonlySet<string> = new Set(['name', 'attribute', 'call', 'binary', 'unary', 'subscript', 'conditional']);

/** Every statement and expression below, itself included. */
export function parts(from: readonly (Statement | Expression)[], visit: (part: Statement | Expression) => void): void {
  const pending: unknown[] = [...from];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (Array.isArray(part)) {
      part.forEach((inner: unknown) => { pending.push(inner); });
    } else if (typeof part === 'object' && part !== null) {
      if ('kind' in part) {
        visit(part as Statement | Expression);
      }
      pending.push(...(Object.values(part) as readonly unknown[]).filter((value) => typeof value === 'object'));
    }
  }
}
