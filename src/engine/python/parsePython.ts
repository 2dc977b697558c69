/**
 * Python text → our tree, by tree-sitter (grammar tree-sitter-python 0.25). Reading never fails: a broken part becomes
 * `opaque`, the rest stays. The parser itself (WebAssembly) is made by the caller, who knows where the grammar lies.
 */
import type { Node, Parser } from 'web-tree-sitter';
import type { Argument, ClassDefinition, Expression, FunctionDefinition, Module, Parameter, Span, Statement } from './ast';

/** Deeper nesting than this is generated text, not model code; it becomes opaque instead of overflowing the stack. */
const MAX_DEPTH = 400;
/** Lines of comment in a row that are taken out before parsing. */
const LONG_COMMENT = 500;

export function parsePython(parser: Parser, text: string): Module {
  // A carriage return alone ends a line in Python, but not in the grammar, where a comment would swallow the code after it.
  const tree = parser.parse(withoutLongComments(text.replace(/\r(?!\n)/g, '\n')));
  if (tree === null) {
    return { body: [], errors: [{ start: 0, end: text.length }] };
  }
  try {
    return { body: new TreeReader().block(tree.rootNode), errors: errorsBelow(tree.rootNode) };
  } finally {
    tree.delete();
  }
}

/** The grammar looks past all comment lines from each of them: so many in a row take minutes. Blanks keep every place. */
function withoutLongComments(text: string): string {
  if (text.length < LONG_COMMENT) {
    return text;
  }
  const lines = text.split('\n');
  for (let first = 0; first < lines.length; first++) {
    let end = first;
    while (end < lines.length && /^\s*#/.test(lines[end])) {
      end++;
    }
    if (end - first >= LONG_COMMENT) {
      for (let i = first; i < end; i++) {
        lines[i] = ' '.repeat(lines[i].length);
      }
    }
    first = end;
  }
  return lines.join('\n');
}

/** Where the text is no Python. */
function errorsBelow(root: Node): readonly Span[] {
  const errors: Span[] = [];
  const pending = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.type === 'ERROR' || node.isMissing) {
      errors.push(span(node));
    } else if (node.hasError) {
      pending.push(...node.children.filter((child): child is Node => child !== null));
    }
  }
  return errors.sort((a, b) => a.start - b.start);
}

class TreeReader {
  private depth = 0;

  block(node: Node | null): readonly Statement[] {
    const statements: Statement[] = [];
    for (const child of named(node)) {
      if (child.type !== 'comment') {
        statements.push(...this.statement(child));
      }
    }
    return statements;
  }

  private statement(node: Node): readonly Statement[] {
    if (++this.depth > MAX_DEPTH) {
      this.depth--;
      return [{ ...span(node), kind: 'opaque', what: 'too deep', parts: [] }];
    }
    try {
      return this.statementOf(node);
    } finally {
      this.depth--;
    }
  }

  private statementOf(node: Node): readonly Statement[] {
    const at = span(node);
    switch (node.type) {
      case 'expression_statement':
        return named(node).filter(notComment).flatMap((child) => this.simple(child));
      case 'return_statement': {
        const value = this.listOf(node);
        return [{ ...at, kind: 'return', value }];
      }
      case 'if_statement':
        return [this.ifStatement(node)];
      case 'for_statement':
        return [{
          ...at, kind: 'for', target: this.expression(field(node, 'left')), iterable: this.expression(field(node, 'right')),
          body: this.block(field(node, 'body')), otherwise: this.elseBody(field(node, 'alternative')),
        }];
      case 'while_statement':
        return [{ ...at, kind: 'while', condition: this.expression(field(node, 'condition')), body: this.block(field(node, 'body')) }];
      case 'with_statement':
        return [{ ...at, kind: 'with', items: this.withItems(node), body: this.block(field(node, 'body')) }];
      case 'try_statement':
        return [this.tryStatement(node)];
      case 'match_statement':
        return [{
          ...at, kind: 'match', subject: this.expression(field(node, 'subject')),
          cases: named(field(node, 'body')).filter((c) => c.type === 'case_clause').map((c) => this.block(field(c, 'consequence'))),
        }];
      case 'import_statement':
        return [{ ...at, kind: 'import', names: fields(node, 'name').map((n) => importName(n)).map(({ name, alias }) => ({ module: name, alias })) }];
      case 'import_from_statement':
      case 'future_import_statement':
        return [importFrom(node)];
      case 'function_definition':
        return [this.functionDefinition(node, [], at)];
      case 'class_definition':
        return [this.classDefinition(node, [], at)];
      case 'decorated_definition':
        return this.decorated(node);
      case 'raise_statement':
        return [{ ...at, kind: 'raise' }];
      case 'break_statement':
        return [{ ...at, kind: 'jump', what: 'break' }];
      case 'continue_statement':
        return [{ ...at, kind: 'jump', what: 'continue' }];
      case 'pass_statement': case 'global_statement': case 'nonlocal_statement': case 'delete_statement': case 'assert_statement': case 'type_alias_statement':
        return [];
      case 'ERROR':
        return [{ ...at, kind: 'opaque', what: 'syntax error', parts: [] }];
      default:
        return [{ ...at, kind: 'opaque', what: node.type, parts: named(node).filter(notComment).map((child) => this.expression(child)) }];
    }
  }

  private simple(node: Node): readonly Statement[] {
    const at = span(node);
    if (node.type === 'assignment') {
      const annotation = node.childForFieldName('type')?.text;
      const right = node.childForFieldName('right');
      const left = this.expression(field(node, 'left'));
      if (right === null) {
        return [{ ...at, kind: 'declare', target: left, annotation: annotation ?? '' }];
      }
      // `a = b = value` nests to the right.
      const targets = [left];
      let value = right;
      while (value.type === 'assignment') {
        targets.push(this.expression(field(value, 'left')));
        const inner = value.childForFieldName('right');
        if (inner === null) {
          break;
        }
        value = inner;
      }
      return [{ ...at, kind: 'assign', targets, value: this.expression(value), ...(annotation === undefined ? {} : { annotation }) }];
    }
    if (node.type === 'augmented_assignment') {
      const operator = (node.childForFieldName('operator')?.text ?? '+=').slice(0, -1);
      return [{ ...at, kind: 'augmented', target: this.expression(field(node, 'left')), operator, value: this.expression(field(node, 'right')) }];
    }
    return [{ ...at, kind: 'expression', value: this.expression(node) }];
  }

  private ifStatement(node: Node): Statement {
    const alternatives = fields(node, 'alternative');
    // `elif` chains become nested ifs, from the last one back.
    let otherwise: readonly Statement[] = [];
    for (const alternative of [...alternatives].reverse()) {
      if (alternative.type === 'else_clause') {
        otherwise = this.block(field(alternative, 'body'));
      } else {
        otherwise = [{ ...span(alternative), kind: 'if', condition: this.expression(field(alternative, 'condition')), then: this.block(field(alternative, 'consequence')), otherwise }];
      }
    }
    return { ...span(node), kind: 'if', condition: this.expression(field(node, 'condition')), then: this.block(field(node, 'consequence')), otherwise };
  }

  private elseBody(node: Node | null): readonly Statement[] {
    return node === null ? [] : this.block(field(node, 'body'));
  }

  private withItems(node: Node): readonly { readonly context: Expression; readonly alias: Expression | undefined }[] {
    const clause = named(node).find((child) => child.type === 'with_clause');
    return named(clause ?? null).filter((child) => child.type === 'with_item').map((item) => {
      const value = field(item, 'value');
      if (value?.type === 'as_pattern') {
        const [context, alias] = named(value);
        return { context: this.expression(context), alias: alias === undefined ? undefined : this.expression(named(alias)[0] ?? alias) };
      }
      return { context: this.expression(value), alias: undefined };
    });
  }

  private tryStatement(node: Node): Statement {
    const children = named(node);
    const blockIn = (clause: Node): readonly Statement[] => this.block(named(clause).find((child) => child.type === 'block') ?? field(clause, 'body'));
    return {
      ...span(node), kind: 'try', body: this.block(field(node, 'body')),
      handlers: children.filter((c) => c.type === 'except_clause').map(blockIn),
      otherwise: children.filter((c) => c.type === 'else_clause').flatMap(blockIn),
      finally: children.filter((c) => c.type === 'finally_clause').flatMap(blockIn),
    };
  }

  private decorated(node: Node): readonly Statement[] {
    const decorators = named(node).filter((child) => child.type === 'decorator').map((d) => this.expression(named(d)[0] ?? null));
    const definition = field(node, 'definition');
    if (definition === null) {
      return [];
    }
    return [definition.type === 'class_definition' ? this.classDefinition(definition, decorators, span(node)) : this.functionDefinition(definition, decorators, span(node))];
  }

  private functionDefinition(node: Node, decorators: readonly Expression[], at: Span): FunctionDefinition {
    const name = field(node, 'name');
    return {
      ...at, kind: 'function', name: name?.text ?? '', nameSpan: span(name ?? node), decorators,
      parameters: this.parameters(field(node, 'parameters')), body: this.block(field(node, 'body')), isAsync: node.child(0)?.type === 'async',
    };
  }

  private classDefinition(node: Node, decorators: readonly Expression[], at: Span): ClassDefinition {
    const name = field(node, 'name');
    return {
      ...at, kind: 'class', name: name?.text ?? '', nameSpan: span(name ?? node), decorators,
      bases: this.args(field(node, 'superclasses')), body: this.block(field(node, 'body')),
    };
  }

  private parameters(node: Node | null): readonly Parameter[] {
    return named(node).flatMap((child): readonly Parameter[] => {
      const at = span(child);
      switch (child.type) {
        case 'identifier':
          return [{ ...at, name: child.text, stars: 0, defaultValue: undefined, annotation: undefined }];
        case 'default_parameter':
        case 'typed_default_parameter':
          return [{ ...at, name: field(child, 'name')?.text ?? '', stars: 0, defaultValue: this.expression(field(child, 'value')), annotation: field(child, 'type')?.text }];
        case 'typed_parameter': {
          const inner = named(child)[0];
          return [{ ...at, ...splatName(inner), defaultValue: undefined, annotation: field(child, 'type')?.text }];
        }
        case 'list_splat_pattern':
        case 'dictionary_splat_pattern':
          return [{ ...at, ...splatName(child), defaultValue: undefined, annotation: undefined }];
        default:
          return [];
      }
    });
  }

  private args(node: Node | null): readonly Argument[] {
    if (node !== null && node.type === 'generator_expression') {
      return [{ ...span(node), name: undefined, value: this.expression(node) }];
    }
    return named(node).filter(notComment).map((child) => child.type === 'keyword_argument'
      ? { ...span(child), name: field(child, 'name')?.text ?? '', value: this.expression(field(child, 'value')) }
      : { ...span(child), name: undefined, value: this.expression(child) });
  }

  /** The expression(s) after `return`: several make a tuple. */
  private listOf(node: Node): Expression | undefined {
    const children = named(node).filter(notComment);
    return children.length === 0 ? undefined : this.expression(children[0]);
  }

  expression(node: Node | null): Expression {
    if (node === null) {
      return { start: 0, end: 0, kind: 'opaque', what: 'missing', parts: [] };
    }
    if (++this.depth > MAX_DEPTH) {
      this.depth--;
      return { ...span(node), kind: 'opaque', what: 'too deep', parts: [] };
    }
    try {
      return this.expressionOf(node);
    } finally {
      this.depth--;
    }
  }

  private expressionOf(node: Node): Expression {
    const at = span(node);
    switch (node.type) {
      case 'identifier':
        return { ...at, kind: 'name', name: node.text };
      case 'integer':
      case 'float':
        return { ...at, kind: 'number', value: Number(node.text.replace(/_/g, '')) };
      case 'true': case 'false':
        return { ...at, kind: 'constant', value: node.type === 'true' };
      case 'none':
        return { ...at, kind: 'constant', value: undefined };
      case 'string':
        return this.string(node);
      case 'concatenated_string': {
        const parts = named(node).filter(notComment).map((child) => this.expression(child));
        return parts.every((part) => part.kind === 'string') ? { ...at, kind: 'string', value: parts.map((part) => (part.kind === 'string' ? part.value : '')).join('') } : { ...at, kind: 'opaque', what: 'f-string', parts };
      }
      case 'parenthesized_expression': {
        const inner = named(node).find(notComment);
        return inner === undefined ? { ...at, kind: 'opaque', what: node.type, parts: [] } : { ...this.expression(inner), ...at };
      }
      case 'attribute':
        return { ...at, kind: 'attribute', object: this.expression(field(node, 'object')), name: field(node, 'attribute')?.text ?? '' };
      case 'call':
        return { ...at, kind: 'call', callee: this.expression(field(node, 'function')), args: this.args(field(node, 'arguments')) };
      case 'binary_operator':
        return { ...at, kind: 'binary', operator: field(node, 'operator')?.text ?? '', left: this.expression(field(node, 'left')), right: this.expression(field(node, 'right')) };
      case 'unary_operator':
        return { ...at, kind: 'unary', operator: field(node, 'operator')?.text ?? '', operand: this.expression(field(node, 'argument')) };
      case 'not_operator':
        return { ...at, kind: 'unary', operator: 'not', operand: this.expression(field(node, 'argument')) };
      case 'boolean_operator':
        return { ...at, kind: 'boolean', operator: field(node, 'operator')?.text === 'or' ? 'or' : 'and', left: this.expression(field(node, 'left')), right: this.expression(field(node, 'right')) };
      case 'comparison_operator':
        return { ...at, kind: 'compare', operators: fields(node, 'operators').map((o) => o.text), operands: named(node).filter((c) => notComment(c)).map((c) => this.expression(c)) };
      case 'conditional_expression': {
        const [then, condition, otherwise] = named(node).filter(notComment);
        return { ...at, kind: 'conditional', condition: this.expression(condition ?? null), then: this.expression(then ?? null), otherwise: this.expression(otherwise ?? null) };
      }
      case 'subscript':
        return { ...at, kind: 'subscript', object: this.expression(field(node, 'value')), indices: fields(node, 'subscript').map((s) => this.expression(s)) };
      case 'slice':
        return { ...at, kind: 'slice', parts: this.sliceParts(node) };
      case 'tuple': case 'expression_list': case 'pattern_list': case 'tuple_pattern':
        return { ...at, kind: 'sequence', form: 'tuple', items: this.items(node) };
      case 'list': case 'list_pattern':
        return { ...at, kind: 'sequence', form: 'list', items: this.items(node) };
      case 'set':
        return { ...at, kind: 'sequence', form: 'set', items: this.items(node) };
      case 'dictionary':
        return {
          ...at, kind: 'dictionary',
          entries: named(node).filter(notComment).map((child) => child.type === 'pair'
            ? { key: this.expression(field(child, 'key')), value: this.expression(field(child, 'value')) }
            : { key: undefined, value: this.expression(child) }),
        };
      case 'list_comprehension': case 'set_comprehension': case 'generator_expression': case 'dictionary_comprehension':
        return this.comprehension(node);
      case 'lambda':
        return { ...at, kind: 'lambda', parameters: this.parameters(field(node, 'parameters')), body: this.expression(field(node, 'body')) };
      case 'named_expression':
        return { ...at, kind: 'walrus', name: field(node, 'name')?.text ?? '', value: this.expression(field(node, 'value')) };
      case 'list_splat': case 'list_splat_pattern': case 'parenthesized_list_splat':
        return { ...at, kind: 'splat', stars: 1, value: this.expression(named(node)[0] ?? null) };
      case 'dictionary_splat':
        return { ...at, kind: 'splat', stars: 2, value: this.expression(named(node)[0] ?? null) };
      case 'await':
        return { ...at, kind: 'await', value: this.expression(named(node)[0] ?? null) };
      case 'ERROR':
        return { ...at, kind: 'opaque', what: 'syntax error', parts: [] };
      default:
        return { ...at, kind: 'opaque', what: node.type, parts: named(node).filter(notComment).map((child) => this.expression(child)) };
    }
  }

  private items(node: Node): readonly Expression[] {
    return named(node).filter(notComment).map((child) => this.expression(child));
  }

  private string(node: Node): Expression {
    const at = span(node);
    const children = named(node);
    if (children.some((child) => child.type === 'interpolation')) {
      return { ...at, kind: 'opaque', what: 'f-string', parts: children.filter((c) => c.type === 'interpolation').map((c) => this.expression(field(c, 'expression'))) };
    }
    return { ...at, kind: 'string', value: children.filter((child) => child.type === 'string_content').map((child) => child.text).join('') };
  }

  /** `a:b:c` keeps the places of its colons: a missing bound is undefined, not shifted. */
  private sliceParts(node: Node): readonly (Expression | undefined)[] {
    const parts: (Expression | undefined)[] = [undefined];
    for (let i = 0; i < node.childCount; i++) {
      const child = node.child(i);
      if (child === null || child.type === 'comment') {
        continue;
      }
      if (child.type === ':') {
        parts.push(undefined);
      } else {
        parts[parts.length - 1] = this.expression(child);
      }
    }
    return parts;
  }

  private comprehension(node: Node): Expression {
    const children = named(node);
    const body = field(node, 'body');
    const value = body?.type === 'pair' ? field(body, 'value') : body;
    return {
      ...span(node), kind: 'comprehension', body: this.expression(value),
      clauses: children.filter((c) => c.type === 'for_in_clause').map((c) => ({ target: this.expression(field(c, 'left')), iterable: this.expression(field(c, 'right')) })),
      filters: children.filter((c) => c.type === 'if_clause').map((c) => this.expression(named(c)[0] ?? null)),
    };
  }
}

const notComment = (node: Node): boolean => node.type !== 'comment' && node.type !== 'line_continuation';

const span = (node: Node): Span => ({ start: node.startIndex, end: node.endIndex });

const field = (node: Node | null, name: string): Node | null => node?.childForFieldName(name) ?? null;

function fields(node: Node, name: string): readonly Node[] {
  return node.childrenForFieldName(name).filter((child): child is Node => child !== null && child.type !== 'comment');
}

function named(node: Node | null): readonly Node[] {
  return node === null ? [] : node.namedChildren.filter((child): child is Node => child !== null);
}

function splatName(node: Node | undefined): { readonly name: string; readonly stars: 0 | 1 | 2 } {
  switch (node?.type) {
    case 'list_splat_pattern': return { name: node.namedChild(0)?.text ?? '', stars: 1 };
    case 'dictionary_splat_pattern': return { name: node.namedChild(0)?.text ?? '', stars: 2 };
    default: return { name: node?.text ?? '', stars: 0 };
  }
}

function importName(node: Node): { readonly name: string; readonly alias: string | undefined } {
  return node.type === 'aliased_import' ? { name: field(node, 'name')?.text ?? '', alias: field(node, 'alias')?.text } : { name: node.text, alias: undefined };
}

function importFrom(node: Node): Statement {
  const module = field(node, 'module_name')?.text ?? (node.type === 'future_import_statement' ? '__future__' : '');
  const dots = /^\.+/.exec(module)?.[0].length ?? 0;
  const wildcard = named(node).some((child) => child.type === 'wildcard_import');
  return {
    ...span(node), kind: 'importFrom', module: module.slice(dots), level: dots,
    names: wildcard ? [{ name: '*', alias: undefined }] : fields(node, 'name').map(importName),
  };
}
