/**
 * Configurations: a parameter whose annotation is a dataclass holds an instance of it, with any values. Its methods and
 * properties are followed then (`config.norm_class`), and `Literal["a", "b"]` says which values a field has.
 */
import type { Statement } from './ast';
import type { Lowering } from './lowering';
import type { ModuleScope } from './program';
import { decoratorName, type ClassRef } from './scopes';
import { UNKNOWN, unknownNumber, type InstanceValue, type Value } from './values';

const ANNOTATION = /^["']?(?:Optional\[)?\s*["']?(?:\w+\.)*([A-Za-z_]\w*)\s*["']?\s*\]?(?:\s*\|\s*None)?["']?$/;

/** An instance of the dataclass an annotation names; undefined when it names none that is indexed. */
export function annotatedInstance(lowering: Lowering, annotation: string | undefined, scope: ModuleScope): InstanceValue | undefined {
  const name = annotation === undefined ? undefined : ANNOTATION.exec(annotation)?.[1];
  const value = name === undefined ? undefined : lowering.scopes.global(name, scope);
  return value?.kind === 'class' && value.definition.decorators.some((decorator) => decoratorName(decorator) === 'dataclass') ? anyInstance(lowering, value) : undefined;
}

/** A dataclass with any field values: what its annotations say, and no more. */
function anyInstance(lowering: Lowering, ref: ClassRef): InstanceValue {
  const attributes = new Map<string, Value>();
  for (const { definition } of lowering.scopes.resolutionOrder(ref)) {
    for (const statement of definition.body) {
      const field = fieldOf(statement);
      if (field !== undefined && !attributes.has(field.name)) {
        attributes.set(field.name, fieldValue(field.annotation));
      }
    }
  }
  return { kind: 'instance', definition: ref.definition, scope: ref.scope, attributes };
}

function fieldOf(statement: Statement): { readonly name: string; readonly annotation: string } | undefined {
  const target = statement.kind === 'declare' ? statement.target : statement.kind === 'assign' && statement.annotation !== undefined ? statement.targets[0] : undefined;
  const annotation = statement.kind === 'declare' || statement.kind === 'assign' ? statement.annotation : undefined;
  return target?.kind === 'name' && annotation !== undefined ? { name: target.name, annotation } : undefined;
}

function fieldValue(annotation: string): Value {
  const literal = /^(?:\w+\.)*Literal\[(.*)\]$/s.exec(annotation);
  const words = literal === null ? [] : [...literal[1].matchAll(/(["'])(.*?)\1/g)].map((match) => match[2]);
  if (words.length > 0) {
    return { kind: 'choice', options: words.map((value): Value => ({ kind: 'string', value })) };
  }
  return /^(int|float)$/.test(annotation) ? unknownNumber() : UNKNOWN;
}
