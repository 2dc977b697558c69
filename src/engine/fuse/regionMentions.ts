/** What a file puts into a region, as it is written there; what that is, is for `regions.ts` to find out. */
import type { ClassDefinition, Expression, FunctionDefinition, Statement } from '../python/ast';
import type { ModuleScope } from '../python/program';
import { parts } from './names';

export interface Mention {
  readonly kind: 'compiled' | 'autocast' | 'dtensor';
  /** Where it stands. */
  readonly at: number;
  /** What is handed over. */
  readonly expressions: readonly Expression[];
  /** Functions and classes that are decorated. */
  readonly definitions: readonly (FunctionDefinition | ClassDefinition)[];
  /** Names of submodules, from the keys of a plan. */
  readonly attributes: readonly string[];
  /** The function around it. */
  readonly within: FunctionDefinition | undefined;
}

/** Without one of these words a file need not be parsed. */
const WORDS = /\btorch\.compile\b|\bjit\.(?:script|trace)\b|from torch import[^\n]*\bcompile\b|\bautocast\b|\b(?:parallelize_module|distribute_module|distribute_tensor|(?:Sequence|Colwise|Rowwise)Parallel)\b/;
/** A method of modules has the name, too. */
const METHOD = /(?<!\bre)\.compile\(/;
/** Looked for first: an expression over the text of a large workspace takes seconds. */
const HINTS = ['compile', 'jit.', 'autocast', 'parallelize_module', 'distribute_module', 'distribute_tensor', 'SequenceParallel', 'ColwiseParallel', 'RowwiseParallel'];

const COMPILERS = /^(?:torch\.compile|(?:torch\.)?jit\.(?:script|trace))$/;
const SHARDING = /^(?:\w+\.)*(?:parallelize_module|distribute_module|distribute_tensor)$/;
const STYLE = /\b\w*(?:Sequence|Colwise|Rowwise|No)Parallel\w*$/;
const AUTOCAST = /\bautocast$/;

const known = new WeakMap<ModuleScope, readonly Mention[]>();

export function regionMentions(scope: ModuleScope): readonly Mention[] {
  let mentions = known.get(scope);
  if (mentions === undefined) {
    mentions = HINTS.some((hint) => scope.text.includes(hint)) && (WORDS.test(scope.text) || (METHOD.test(scope.text) && /\btorch\b/.test(scope.text))) ? new Reader(scope).read() : [];
    known.set(scope, mentions);
  }
  return mentions;
}

class Reader {
  private readonly found: Mention[] = [];
  private within: FunctionDefinition | undefined;
  private owner: ClassDefinition | undefined;
  /** Below a condition: only possible, so not said for certain. */
  private conditions = 0;

  constructor(private readonly scope: ModuleScope) {}

  read(): readonly Mention[] {
    this.block(this.scope.module.body);
    return this.found;
  }

  private words({ start, end }: Expression): string {
    return this.scope.text.slice(start, end);
  }

  private add(kind: Mention['kind'], at: number, more: Partial<Pick<Mention, 'expressions' | 'definitions' | 'attributes'>>): void {
    this.found.push({ kind, at, expressions: [], definitions: [], attributes: [], within: this.within, ...more });
  }

  private block(statements: readonly Statement[]): void {
    statements.forEach((statement) => { this.statement(statement); });
  }

  private under(statements: readonly Statement[]): void {
    this.conditions++;
    this.block(statements);
    this.conditions--;
  }

  private statement(statement: Statement): void {
    switch (statement.kind) {
      case 'function': case 'class': {
        if (this.conditions === 0 && statement.decorators.some((decorator) => this.compiles(decorator.kind === 'call' ? decorator.callee : decorator) || this.compilesPartly(decorator))) {
          // What `forward` runs are mostly the object's own modules, which its class makes.
          this.add('compiled', statement.start, { definitions: statement.name === 'forward' && this.owner !== undefined ? [statement, this.owner] : [statement] });
        }
        if (statement.kind === 'function' && statement.decorators.some((decorator) => this.casts(decorator))) {
          this.called(statement.body, statement.start);
        }
        const outer = { within: this.within, owner: this.owner };
        this.within = statement.kind === 'function' ? statement : undefined;
        this.owner = statement.kind === 'class' ? statement : undefined;
        this.block(statement.body);
        ({ within: this.within, owner: this.owner } = outer);
        return;
      }
      case 'if': {
        // A script's own guard is no condition.
        const guard = /^__name__\s*==/.test(this.words(statement.condition));
        this.expressions([statement.condition]);
        (guard ? this.block : this.under).call(this, statement.then);
        this.under(statement.otherwise);
        return;
      }
      case 'with':
        this.expressions(statement.items.map(({ context }) => context));
        if (statement.items.some(({ context }) => this.casts(context))) {
          this.called(statement.body, statement.start);
        }
        this.block(statement.body);
        return;
      case 'for':
        this.expressions([statement.iterable]);
        this.block(statement.body);
        this.under(statement.otherwise);
        return;
      case 'while':
        this.block(statement.body);
        return;
      case 'try':
        this.block(statement.body);
        statement.handlers.forEach((handler) => { this.under(handler); });
        this.block([...statement.otherwise, ...statement.finally]);
        return;
      case 'match':
        statement.cases.forEach((one) => { this.under(one); });
        return;
      default:
        this.expressions([statement]);
    }
  }

  private expressions(from: readonly (Statement | Expression)[]): void {
    const branches: Expression[] = [];
    parts(from, (part) => {
      if (part.kind === 'conditional') {
        branches.push(part.then, part.otherwise);
      } else if (part.kind === 'boolean') {
        branches.push(part.right);
      }
    });
    parts(from, (part) => {
      if (part.kind === 'call') {
        const possible = branches.some(({ start, end }) => start <= part.start && part.end <= end);
        this.conditions += possible ? 1 : 0;
        this.call(part);
        this.conditions -= possible ? 1 : 0;
      } else if (part.kind === 'dictionary') {
        part.entries.forEach(({ key, value }) => { this.planned(key, value); });
      } else if (part.kind === 'assign' && part.targets[0].kind === 'subscript') {
        this.planned(part.targets[0].indices[0], part.value);
      }
    });
  }

  /** `"layers.*.norm": SequenceParallel()`: each key is a place of its own. */
  private planned(key: Expression | undefined, value: Expression): void {
    const name = key === undefined ? undefined : /(\w+)["']+$/.exec(this.words(key))?.[1];
    if (key !== undefined && name !== undefined && this.shards(value)) {
      this.add('dtensor', key.start, { attributes: [name] });
    }
  }

  private call({ start, callee, args }: Expression & { readonly kind: 'call' }): void {
    const [first] = args.filter(({ name }) => name === undefined || name === 'model' || name === 'module' || name === 'obj').map(({ value }) => value);
    if (this.compiles(callee)) {
      if (this.conditions === 0 && first !== undefined) {
        this.add('compiled', start, { expressions: [first] });
      }
    } else if (callee.kind === 'attribute' && callee.name === 'compile' && this.words(callee.object) !== 're') {
      if (this.conditions === 0) {
        this.add('compiled', start, { expressions: [callee.object] });
      }
    } else if (SHARDING.test(this.words(callee)) && first !== undefined && (!this.words(callee).endsWith('parallelize_module') || args.some(({ value }) => this.shards(value)))) {
      // With a plan of several modules its keys tell which.
      // `norm.weight` is a weight of what `norm` holds.
      this.add('dtensor', start, { expressions: first.kind === 'attribute' && (first.name === 'weight' || first.name === 'bias') ? [first.object] : [first] });
    }
  }

  private compiles(callee: Expression): boolean {
    const words = this.words(callee);
    const top = this.scope.names.get(words);
    return COMPILERS.test(words) || (words === 'compile' && top?.kind === 'import' && top.module === 'torch' && top.name === 'compile');
  }

  /** `functools.partial(torch.compile, …)`. */
  private compilesPartly(decorator: Expression): boolean {
    return decorator.kind === 'call' && /\bpartial$/.test(this.words(decorator.callee)) && decorator.args.length > 0 && this.compiles(decorator.args[0].value);
  }

  private casts(expression: Expression): boolean {
    const callee = expression.kind === 'call' ? expression.callee : expression;
    const off = expression.kind === 'call' && expression.args.some(({ name, value }) => name === 'enabled' && value.kind === 'constant' && value.value === false);
    return AUTOCAST.test(this.words(callee)) && !off;
  }

  /** A style of sharding, or a name that is given one in this file. */
  private shards(value: Expression): boolean {
    const words = this.words(value.kind === 'call' ? value.callee : value);
    return STYLE.test(words) || (value.kind === 'name' && new RegExp(`^\\s*${value.name}\\s*=[^=].*\\b(?:Sequence|Colwise|Rowwise|No)Parallel\\(`, 'm').test(this.scope.text));
  }

  /** What is called in a region under autocast, by name. */
  private called(body: readonly Statement[], at: number): void {
    const expressions: Expression[] = [];
    parts(body, (part) => {
      if (part.kind === 'call') {
        expressions.push(part.callee);
      }
    });
    this.add('autocast', at, { expressions });
  }
}
