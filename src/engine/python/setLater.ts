/**
 * Attributes that `__init__` leaves unset or None and that something else fills in before the step: another method of the class
 * (`def setup_caches(self): self.cache = …`), or code of the same file from outside (`layer.cache = Cache(…)`).
 */
import type { ClassDefinition, Expression, FunctionDefinition, Statement } from './ast';
import { evaluate } from './evaluate';
import type { Lowering } from './lowering';
import type { ModuleScope } from './program';
import { choiceOf, Environment, NONE, type InstanceValue, type Value } from './values';

interface Assignment {
  readonly value: Expression;
  /** The class in whose method it stands, when it sets an attribute of `self`. */
  readonly owner: ClassDefinition | undefined;
}

const assignmentsOf = new WeakMap<ModuleScope, ReadonlyMap<string, readonly Assignment[]>>();
/** More places than this that set an attribute say little about it. */
const MOST = 4;

/** None, or what else the attribute may hold; undefined where nothing sets it later. */
export function setLater(lowering: Lowering, instance: InstanceValue, name: string): Value | undefined {
  
  if (lowering.settingLater.has(name)) {
    return undefined;
  }
  const order = lowering.scopes.resolutionOrder(instance);
  const found = [...new Set(order.map(({ scope }) => scope))].flatMap((scope) => (assignments(scope).get(name) ?? []).filter(({ owner }) => owner === undefined || order.some(({ definition }) => definition === owner)).map((assignment) => ({ ...assignment, scope })));
  if (found.length === 0 || found.length > MOST) {
    return undefined;
  }
  lowering.settingLater.add(name);
  try {
    const values = found.map(({ value, owner, scope }) => {
      const environment = new Environment(undefined);
      if (owner !== undefined) {
        environment.variables.set('self', instance);
      }
      return lowering.quietly(scope, () => evaluate(lowering, value, environment));
    });
    const value = choiceOf([...values.filter((option) => option.kind !== 'none'), NONE]);
    instance.attributes.set(name, value);
    return value;
  } finally {
    lowering.settingLater.delete(name);
  }
}

function assignments(scope: ModuleScope): ReadonlyMap<string, readonly Assignment[]> {
  const known = assignmentsOf.get(scope);
  if (known !== undefined) {
    return known;
  }
  const found = new Map<string, Assignment[]>();
  const inFunction = (definition: FunctionDefinition, owner: ClassDefinition | undefined): void => {
    const pending: Statement[] = [...definition.body];
    for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
      switch (statement.kind) {
        case 'assign':
          for (const target of statement.targets) {
            const isSelf = target.kind === 'attribute' && target.object.kind === 'name' && target.object.name === 'self';
            if (target.kind === 'attribute' && !(isSelf && definition.name === '__init__') && !(statement.value.kind === 'constant' && statement.value.value === undefined)) {
              found.set(target.name, [...(found.get(target.name) ?? []), { value: statement.value, owner: isSelf ? owner : undefined }]);
            }
          }
          break;
        case 'if': pending.push(...statement.then, ...statement.otherwise); break;
        case 'for': case 'while': case 'with': case 'try': pending.push(...statement.body); break;
        default: break;
      }
    }
  };
  for (const top of scope.names.values()) {
    if (top.kind === 'function') {
      inFunction(top.definition, undefined);
    } else if (top.kind === 'class') {
      top.definition.body.forEach((statement) => statement.kind === 'function' && statement.name !== 'forward' && inFunction(statement, top.definition));
    }
  }
  assignmentsOf.set(scope, found);
  return found;
}
