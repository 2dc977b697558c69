/** Names across modules and classes: globals, imports, method resolution. */
import type { ClassDefinition, Expression, FunctionDefinition, Statement } from './ast';
import type { ModuleScope, Program, TopLevelName } from './program';
import type { FunctionValue, Value } from './values';

export interface ClassRef {
  readonly definition: ClassDefinition;
  readonly scope: ModuleScope;
}

/** Modules of these packages are library calls we know by name; following their source would lower torch itself. */
const KNOWN_LIBRARIES = /^(torch|torch_npu|mindspore|numpy|math|functools|typing|collections|einops)(\.|$)/;

export class Scopes {
  private readonly resolutionOrders = new Map<ClassDefinition, readonly ClassRef[]>();

  constructor(private readonly program: Program, private readonly evaluateTopLevel: (expression: Expression, scope: ModuleScope) => Value) {}

  /** A top-level name of a module; undefined when the module has none such. */
  global(name: string, scope: ModuleScope): Value | undefined {
    const known = scope.values.get(name);
    if (known !== undefined) {
      return known;
    }
    const top = scope.names.get(name);
    if (top === undefined) {
      return this.fromWildcard(name, scope);
    }
    // Set first, so that a name defined through itself ends here.
    scope.values.set(name, { kind: 'unknown', nodes: [] });
    const value = this.topLevel(top, scope);
    scope.values.set(name, value);
    return value;
  }

  private topLevel(top: TopLevelName, scope: ModuleScope): Value {
    switch (top.kind) {
      case 'function':
        return functionValue(top.definition, scope);
      case 'class':
        return { kind: 'class', definition: top.definition, scope };
      case 'assign':
        return this.evaluateTopLevel(top.value.value, scope);
      case 'import':
        return this.imported(top.module, top.level, top.name, scope);
    }
  }

  imported(module: string, level: number, name: string | undefined, scope: ModuleScope): Value {
    const dotted = `${'.'.repeat(level)}${module}`;
    if (KNOWN_LIBRARIES.test(dotted)) {
      if (/^(math|numpy|torch)$/.test(dotted) && (name === 'pi' || name === 'e')) {
        return { kind: 'number', value: name === 'pi' ? Math.PI : Math.E, place: undefined };
      }
      return { kind: 'external', path: name === undefined ? module : `${module}.${name}` };
    }
    const target = this.program.resolve(module, level, scope);
    if (name === undefined) {
      return target === undefined ? { kind: 'external', path: module } : { kind: 'module', scope: target };
    }
    const value = target === undefined ? undefined : this.global(name, target);
    if (value !== undefined) {
      return value;
    }
    const asModule = this.program.resolve(module === '' ? name : `${module}.${name}`, level, scope);
    return asModule === undefined ? { kind: 'external', path: module === '' ? name : `${module}.${name}` } : { kind: 'module', scope: asModule };
  }

  private fromWildcard(name: string, scope: ModuleScope): Value | undefined {
    const star = scope.names.get('*');
    if (star?.kind !== 'import') {
      return undefined;
    }
    const target = this.program.resolve(star.module, star.level, scope);
    return target === undefined || target === scope ? undefined : this.global(name, target);
  }

  /** The class and its indexed bases, nearest first (depth first, left to right: close enough to C3 for model code). */
  resolutionOrder(ref: ClassRef): readonly ClassRef[] {
    const known = this.resolutionOrders.get(ref.definition);
    if (known !== undefined) {
      return known;
    }
    this.resolutionOrders.set(ref.definition, [ref]);
    const order: ClassRef[] = [ref];
    for (const base of ref.definition.bases) {
      if (base.name !== undefined) {
        continue;
      }
      const value = this.evaluateTopLevel(base.value, ref.scope);
      if (value.kind === 'class') {
        for (const ancestor of this.resolutionOrder(value)) {
          if (!order.some((seen) => seen.definition === ancestor.definition)) {
            order.push(ancestor);
          }
        }
      }
    }
    this.resolutionOrders.set(ref.definition, order);
    return order;
  }

  /** A member defined in a class body, from the class after `after` on when given. */
  member(ref: ClassRef, name: string, after?: ClassDefinition): { readonly statement: Statement; readonly owner: ClassRef } | undefined {
    const order = this.resolutionOrder(ref);
    const start = after === undefined ? 0 : order.findIndex((entry) => entry.definition === after) + 1;
    for (const owner of order.slice(start)) {
      const statement = lastDefinition(owner.definition.body, name);
      if (statement !== undefined) {
        return { statement, owner };
      }
    }
    return undefined;
  }
}

function lastDefinition(body: readonly Statement[], name: string): Statement | undefined {
  for (let i = body.length - 1; i >= 0; i--) {
    const statement = body[i];
    const defines = (statement.kind === 'function' && statement.name === name && !isOverload(statement))
      || (statement.kind === 'assign' && statement.targets.some((target) => target.kind === 'name' && target.name === name));
    if (defines) {
      return statement;
    }
  }
  return undefined;
}

const isOverload = (definition: FunctionDefinition): boolean => definition.decorators.some((decorator) => decoratorName(decorator) === 'overload' || decoratorName(decorator) === 'setter');

/** Last name of a decorator: `torch.jit.script` → `script`, `use_kernel_forward_from_hub("RMSNorm")` → its callee's name. */
export function decoratorName(decorator: Expression): string {
  switch (decorator.kind) {
    case 'name': return decorator.name;
    case 'attribute': return decorator.name;
    case 'call': return decoratorName(decorator.callee);
    default: return '';
  }
}

export function functionValue(definition: FunctionDefinition, scope: ModuleScope, extra: Partial<Pick<FunctionValue, 'closure' | 'self' | 'owner'>> = {}): FunctionValue {
  return { kind: 'function', name: definition.name, parameters: definition.parameters, body: definition.body, definition, scope, closure: extra.closure, self: extra.self, owner: extra.owner };
}
