import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { RUN_SCHEMA } from '../../src/run/runSchema';

const root = path.resolve(import.meta.dirname, '../..');

interface Declared {
  readonly type: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Record<string, unknown>>>;
}

/** Only what restricts values: the rest are words for people. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(bare);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const words = new Set(['markdownDescription', 'description', 'markdownEnumDescriptions', 'enumDescriptions', 'defaultSnippets']);
  return Object.fromEntries(Object.entries(value).filter(([key]) => !words.has(key)).map(([key, item]) => [key, bare(item)]));
}

/** The shape of a type as the compiler sees it, in the words of JSON schema: types, fields, which are required, enums. */
function shapeOf(type: ts.Type, checker: ts.TypeChecker): unknown {
  const parts = type.isUnion() ? type.types.filter((part) => (part.flags & ts.TypeFlags.Undefined) === 0) : [type];
  if (parts.every((part) => part.isStringLiteral() || part.isNumberLiteral())) {
    return { enum: parts.map((part) => (part as ts.LiteralType).value as string | number).sort() };
  }
  if (parts.every((part) => (part.flags & ts.TypeFlags.BooleanLike) !== 0)) {
    return { type: 'boolean' };
  }
  if (parts.length > 1) {
    return { anyOf: parts.map((part) => shapeOf(part, checker)) };
  }
  const [one] = parts;
  if ((one.flags & ts.TypeFlags.NumberLike) !== 0) {
    return { type: 'integer' };
  }
  if ((one.flags & ts.TypeFlags.StringLike) !== 0) {
    return { type: 'string' };
  }
  if (checker.isTupleType(one)) {
    const items = checker.getTypeArguments(one as ts.TypeReference).map((item) => shapeOf(item, checker));
    return { type: 'array', items: items[0], minItems: items.length, maxItems: items.length };
  }
  if (checker.isArrayType(one)) {
    return { type: 'array', items: shapeOf(checker.getTypeArguments(one as ts.TypeReference)[0], checker) };
  }
  const index = one.getStringIndexType();
  if (index !== undefined) {
    return { type: 'object', additionalProperties: shapeOf(index, checker) };
  }
  const fields = one.getProperties();
  return {
    type: 'object',
    required: fields.filter((field) => (field.flags & ts.SymbolFlags.Optional) === 0).map((field) => field.name).sort(),
    properties: Object.fromEntries(fields.map((field): [string, unknown] => [field.name, shapeOf(checker.getTypeOfSymbol(field), checker)]).sort()),
  };
}

/** The same, of a JSON schema. */
function shapeOfSchema(schema: Record<string, unknown>): unknown {
  const { type, enum: values, items, minItems, maxItems, properties, required = [], additionalProperties, anyOf } = schema as { type?: string; minItems?: number; maxItems?: number; additionalProperties?: unknown; enum?: (string | number)[]; items?: Record<string, unknown>; properties?: Record<string, Record<string, unknown>>; required?: string[]; anyOf?: Record<string, unknown>[] };
  if (values !== undefined) {
    return { enum: [...values].sort() };
  }
  if (anyOf !== undefined) {
    return { anyOf: anyOf.map(shapeOfSchema) };
  }
  if (type === 'array' && items !== undefined) {
    return { type, items: shapeOfSchema(items), ...(maxItems === undefined ? {} : { minItems, maxItems }) };
  }
  if (type === 'object' && properties === undefined) {
    return { type, additionalProperties: shapeOfSchema(additionalProperties as Record<string, unknown>) };
  }
  if (type === 'object') {
    return { type, required: [...required].sort(), properties: Object.fromEntries(Object.entries(properties ?? {}).map(([name, field]): [string, unknown] => [name, shapeOfSchema(field)]).sort()) };
  }
  return { type };
}

describe('the settings of a run', () => {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly contributes: { readonly taskDefinitions: readonly Declared[] } };
  const [declared] = manifest.contributes.taskDefinitions;

  it('are the same for tasks.json as for our own check', () => {
    assert.equal(declared.type, 'fuselens');
    assert.deepEqual(bare(declared.properties), RUN_SCHEMA.properties);
    assert.deepEqual(declared.required, RUN_SCHEMA.required);
  });

  it('are the same as the type says', () => {
    const file = path.join(root, 'src/run/runSettings.ts');
    const program = ts.createProgram([file], { strict: true, noEmit: true, target: ts.ScriptTarget.ES2022 });
    const checker = program.getTypeChecker();
    const source = program.getSourceFile(file);
    assert.ok(source !== undefined);
    const found = source.statements.find((statement): statement is ts.InterfaceDeclaration => ts.isInterfaceDeclaration(statement) && statement.name.text === 'RunSettings');
    assert.ok(found !== undefined);
    assert.deepEqual(shapeOfSchema(RUN_SCHEMA), shapeOf(checker.getTypeAtLocation(found), checker));
  });

  it('all have words in the manifest, the values of an enum too', () => {
    const walk = (schema: Record<string, unknown>, at: string): readonly string[] => [
      ...(typeof schema.markdownDescription === 'string' ? [] : [at]),
      ...(schema.type === 'string' && Array.isArray(schema.enum) && (schema.markdownEnumDescriptions as readonly string[] | undefined)?.length !== schema.enum.length ? [`${at} (values)`] : []),
      ...Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>).flatMap(([name, field]) => walk(field, `${at}.${name}`)),
    ];
    assert.deepEqual(Object.entries(declared.properties).flatMap(([name, field]) => walk(field, name)), []);
  });
});
