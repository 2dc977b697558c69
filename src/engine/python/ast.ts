/**
 * Our Python syntax tree: only what lowering needs, with the place of every part as UTF-16 offsets into the text. Syntax
 * that has no meaning here becomes `opaque`, never nothing: what is not understood must show as a hole.
 */

export interface Span {
  /** UTF-16 offsets, end exclusive. */
  readonly start: number;
  readonly end: number;
}

export type Expression =
  | Span & { readonly kind: 'name'; readonly name: string }
  | Span & { readonly kind: 'number'; readonly value: number }
  | Span & { readonly kind: 'string'; readonly value: string }
  | Span & { readonly kind: 'constant'; readonly value: boolean | undefined }
  | Span & { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
  | Span & { readonly kind: 'call'; readonly callee: Expression; readonly args: readonly Argument[] }
  | Span & { readonly kind: 'binary'; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | Span & { readonly kind: 'unary'; readonly operator: string; readonly operand: Expression }
  | Span & { readonly kind: 'boolean'; readonly operator: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | Span & { readonly kind: 'compare'; readonly operators: readonly string[]; readonly operands: readonly Expression[] }
  | Span & { readonly kind: 'conditional'; readonly condition: Expression; readonly then: Expression; readonly otherwise: Expression }
  | Span & { readonly kind: 'subscript'; readonly object: Expression; readonly indices: readonly Expression[] }
  | Span & { readonly kind: 'slice'; readonly parts: readonly (Expression | undefined)[] }
  | Span & { readonly kind: 'sequence'; readonly form: 'tuple' | 'list' | 'set'; readonly items: readonly Expression[] }
  | Span & { readonly kind: 'dictionary'; readonly entries: readonly { readonly key: Expression | undefined; readonly value: Expression }[] }
  | Span & { readonly kind: 'comprehension'; readonly body: Expression; readonly clauses: readonly { readonly target: Expression; readonly iterable: Expression }[]; readonly filters: readonly Expression[] }
  | Span & { readonly kind: 'lambda'; readonly parameters: readonly Parameter[]; readonly body: Expression }
  | Span & { readonly kind: 'walrus'; readonly name: string; readonly value: Expression }
  | Span & { readonly kind: 'splat'; readonly value: Expression; readonly stars: 1 | 2 }
  | Span & { readonly kind: 'await'; readonly value: Expression }
  /** f-strings, ellipsis, yield, syntax errors: evaluated for nothing we model; `parts` may still hold calls. */
  | Span & { readonly kind: 'opaque'; readonly what: string; readonly parts: readonly Expression[] };

export interface Argument extends Span {
  /** Keyword, undefined for a positional argument. */
  readonly name: string | undefined;
  readonly value: Expression;
}

export interface Parameter extends Span {
  readonly name: string;
  /** 0 plain, 1 `*args`, 2 `**kwargs`. */
  readonly stars: 0 | 1 | 2;
  readonly defaultValue: Expression | undefined;
  readonly annotation: string | undefined;
}

export type Statement =
  | Span & { readonly kind: 'assign'; readonly targets: readonly Expression[]; readonly value: Expression; readonly annotation?: string }
  /** `x: T` without a value. */
  | Span & { readonly kind: 'declare'; readonly target: Expression; readonly annotation: string }
  | Span & { readonly kind: 'augmented'; readonly target: Expression; readonly operator: string; readonly value: Expression }
  | Span & { readonly kind: 'expression'; readonly value: Expression }
  | Span & { readonly kind: 'return'; readonly value: Expression | undefined }
  | Span & { readonly kind: 'if'; readonly condition: Expression; readonly then: readonly Statement[]; readonly otherwise: readonly Statement[] }
  | Span & { readonly kind: 'for'; readonly target: Expression; readonly iterable: Expression; readonly body: readonly Statement[]; readonly otherwise: readonly Statement[] }
  | Span & { readonly kind: 'while'; readonly condition: Expression; readonly body: readonly Statement[] }
  | Span & { readonly kind: 'with'; readonly items: readonly { readonly context: Expression; readonly alias: Expression | undefined }[]; readonly body: readonly Statement[] }
  | Span & { readonly kind: 'try'; readonly body: readonly Statement[]; readonly handlers: readonly (readonly Statement[])[]; readonly otherwise: readonly Statement[]; readonly finally: readonly Statement[] }
  | Span & { readonly kind: 'match'; readonly subject: Expression; readonly cases: readonly (readonly Statement[])[] }
  | Span & { readonly kind: 'import'; readonly names: readonly { readonly module: string; readonly alias: string | undefined }[] }
  | Span & { readonly kind: 'importFrom'; readonly module: string; readonly level: number; readonly names: readonly { readonly name: string; readonly alias: string | undefined }[] }
  | FunctionDefinition
  | ClassDefinition
  /** `raise`: the path ends here. */
  | Span & { readonly kind: 'raise' }
  | Span & { readonly kind: 'jump'; readonly what: 'break' | 'continue' }
  | Span & { readonly kind: 'opaque'; readonly what: string; readonly parts: readonly Expression[] };

export interface FunctionDefinition extends Span {
  readonly kind: 'function';
  readonly name: string;
  readonly nameSpan: Span;
  readonly parameters: readonly Parameter[];
  readonly decorators: readonly Expression[];
  readonly body: readonly Statement[];
  readonly isAsync: boolean;
}

export interface ClassDefinition extends Span {
  readonly kind: 'class';
  readonly name: string;
  readonly nameSpan: Span;
  readonly bases: readonly Argument[];
  readonly decorators: readonly Expression[];
  readonly body: readonly Statement[];
}

export interface Module {
  readonly body: readonly Statement[];
  /** Places where the text is no Python; what lies around them is still read. */
  readonly errors: readonly Span[];
}
