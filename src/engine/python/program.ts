/**
 * The Python files that lowering may follow calls into: modules with their top-level names, resolved by import. Files come
 * from the source index, or from a list in tests and in the CLI.
 */
import type { ClassDefinition, FunctionDefinition, Module, Statement } from './ast';
import { SourceText } from './sourceText';
import type { Value } from './values';

export interface ModuleScope {
  /** Path of the file, as the index knows it. */
  readonly file: string;
  /** Dotted name from the root of its package: `transformers.models.llama.modeling_llama`. */
  readonly name: string;
  /** Shared by all indexes that hold the same text. */
  readonly source: SourceText;
  readonly text: string;
  readonly module: Module;
  /** Top-level definitions and imports, last one wins; branches of `if` and `try` included. */
  readonly names: ReadonlyMap<string, TopLevelName>;
  /** Values of top-level names once evaluated. */
  readonly values: Map<string, Value>;
}

export type TopLevelName =
  | { readonly kind: 'function'; readonly definition: FunctionDefinition }
  | { readonly kind: 'class'; readonly definition: ClassDefinition }
  | { readonly kind: 'import'; readonly module: string; readonly level: number; readonly name: string | undefined }
  | { readonly kind: 'assign'; readonly value: Statement & { readonly kind: 'assign' } };

export interface Program {
  /** A module by dotted name (absolute, or relative to `from` when `level` > 0); undefined when it is not indexed. */
  resolve(module: string, level: number, from: ModuleScope): ModuleScope | undefined;
  /** All modules, where they are a fixed set. */
  modules?(): Iterable<ModuleScope>;
}

/** Top-level names of a module. */
function topLevelNames(module: Module): Map<string, TopLevelName> {
  const names = new Map<string, TopLevelName>();
  const pending: Statement[] = [...module.body].reverse();
  for (let statement = pending.pop(); statement !== undefined; statement = pending.pop()) {
    switch (statement.kind) {
      case 'function':
        names.set(statement.name, { kind: 'function', definition: statement });
        break;
      case 'class':
        names.set(statement.name, { kind: 'class', definition: statement });
        break;
      case 'import':
        for (const { module: imported, alias } of statement.names) {
          names.set(alias ?? imported.split('.')[0], { kind: 'import', module: alias === undefined ? imported.split('.')[0] : imported, level: 0, name: undefined });
        }
        break;
      case 'importFrom':
        for (const { name, alias } of statement.names) {
          names.set(alias ?? name, { kind: 'import', module: statement.module, level: statement.level, name });
        }
        break;
      case 'assign':
        for (const target of statement.targets) {
          if (target.kind === 'name') {
            names.set(target.name, { kind: 'assign', value: statement });
          }
        }
        break;
      case 'if':
        // The first branch that defines a name is the usual one: `if TYPE_CHECKING … else`, `if is_torch_available()`.
        pending.push(...[...statement.then].reverse(), ...[...statement.otherwise].reverse());
        break;
      case 'try':
        pending.push(...[...statement.body].reverse(), ...statement.handlers.flatMap((handler) => [...handler].reverse()));
        break;
      case 'with': case 'for': case 'while': case 'match': case 'declare': case 'augmented': case 'expression': case 'return': case 'raise': case 'jump': case 'opaque':
        break;
    }
  }
  return names;
}

export const moduleScope = (file: string, name: string, text: string, module: Module): ModuleScope => new FileScope(file, name, new SourceText(text, () => module));

/** A file under a dotted name, parsed when its tree is first asked for. */
export class FileScope implements ModuleScope {
  readonly values = new Map<string, Value>();
  private topLevel: ReadonlyMap<string, TopLevelName> | undefined;

  constructor(readonly file: string, readonly name: string, readonly source: SourceText) {}

  get text(): string {
    return this.source.text;
  }

  get module(): Module {
    return this.source.module;
  }

  get names(): ReadonlyMap<string, TopLevelName> {
    this.topLevel ??= topLevelNames(this.module);
    return this.topLevel;
  }
}

/** A program over a fixed set of modules, by dotted name; a suffix also matches, since sys.path is not known. */
export class ModuleSet implements Program {
  private readonly byName = new Map<string, ModuleScope>();
  private readonly bySuffix = new Map<string, ModuleScope | 'several'>();

  constructor(scopes: Iterable<ModuleScope>) {
    for (const scope of scopes) {
      this.byName.set(scope.name, scope);
      const parts = scope.name.split('.');
      for (let i = 1; i < parts.length; i++) {
        const suffix = parts.slice(i).join('.');
        this.bySuffix.set(suffix, this.bySuffix.has(suffix) ? 'several' : scope);
      }
    }
  }

  modules(): Iterable<ModuleScope> {
    return this.byName.values();
  }

  resolve(module: string, level: number, from: ModuleScope): ModuleScope | undefined {
    if (level > 0) {
      const isPackage = /(^|[\\/])__init__\.py$/.test(from.file);
      const base = from.name.split('.');
      const keep = base.slice(0, Math.max(0, base.length - level + (isPackage ? 1 : 0)));
      return this.byName.get([...keep, ...(module === '' ? [] : [module])].join('.'));
    }
    const exact = this.byName.get(module);
    if (exact !== undefined) {
      return exact;
    }
    // A sibling (`from q35_npu_old import …` in a folder of scripts), then below the nearest folder around, then a unique suffix.
    const folders = from.name.split('.').slice(0, -1);
    for (let depth = folders.length; depth > 0; depth--) {
      const near = this.byName.get([...folders.slice(0, depth), module].join('.'));
      if (near !== undefined) {
        return near;
      }
    }
    const suffix = this.bySuffix.get(module);
    return suffix === 'several' ? undefined : suffix;
  }
}
