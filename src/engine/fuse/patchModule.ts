/**
 * A module of the user's own that puts fused functions into an installed package: the package stays as it is. It replaces
 * by name when it is imported, and only while the installed file is the one it was written from.
 */
import type { ClassDefinition, FunctionDefinition, Statement } from '../python/ast';
import type { ModuleScope } from '../python/program';
import { functionsOf } from './functionTrace';
import { lineEnd } from './imports';

export interface PatchRequest {
  /** The installed file, and its text with all edits. */
  readonly original: ModuleScope;
  readonly edited: ModuleScope;
  /** Dotted name it is imported by. */
  readonly moduleName: string;
  /** Distribution and version, for people; the guard is the digest. */
  readonly installed: string | undefined;
  /** SHA-256 of the file's bytes, in hex. */
  readonly digest: string;
  /** The FuseLens promise in words, one line each. */
  readonly promises: readonly string[];
}

export interface PatchModule {
  readonly name: string;
  readonly text: string;
  /** `LlamaRMSNorm.forward`: what it replaces. */
  readonly replaced: readonly string[];
  /** What could not be moved out of its class: `super()`, names that Python mangles. */
  readonly left: readonly string[];
}

/** `…/site-packages/a/b.py` as `a.b`; undefined where the path is in no installed package. */
export function installedModuleName(file: string): string | undefined {
  const inside = /[\\/](?:site|dist)-packages[\\/](.*)\.py$/.exec(file)?.[1];
  return inside?.split(/[\\/]/).join('.').replace(/\.__init__$/, '');
}

/** Name of the module to write for an installed one. */
const patchName = (moduleName: string): string => `fuselens_patch_${moduleName.split('.').slice(-1)[0]}`;

interface Changed {
  readonly owner: ClassDefinition | undefined;
  readonly definition: FunctionDefinition;
  readonly text: string;
}

/** The module's text; undefined when nothing could be moved into it. */
export function patchModule({ original, edited, moduleName, installed, digest, promises }: PatchRequest): PatchModule | undefined {
  const before = new Map(functionsOf(original).map(({ owner, definition }) => [qualified(owner, definition), original.text.slice(definition.start, definition.end)]));
  const changed = functionsOf(edited).flatMap(({ owner, definition }): readonly Changed[] => {
    const text = edited.text.slice(definition.start, definition.end);
    return before.get(qualified(owner, definition)) === text ? [] : [{ owner, definition, text }];
  });
  const moved = changed.filter(({ owner, text }) => owner === undefined || !staysInClass(text));
  const left = changed.filter((one) => !moved.includes(one)).map(({ owner, definition }) => qualified(owner, definition));
  if (moved.length === 0) {
    return undefined;
  }
  const name = patchName(moduleName);
  const replaced = moved.map(({ owner, definition }) => qualified(owner, definition));
  const names = importedNames(edited, moved);
  const module = edited.names.has('torch_npu') && !original.names.has('torch_npu') ? npuImport(edited.text) : [];
  const lines = [
    `"""Fused replacements for ${moduleName}${installed === undefined ? '' : ` (${installed})`}, written by FuseLens.`, '',
    `Import this module once, before the model is built: import ${name}`,
    `It replaces by name: ${replaced.join(', ')}.`,
    'Nothing is replaced when the installed file is not the one this was written from.', ...promises, '"""', '',
    'from __future__ import annotations', '',
    'import hashlib as _hashlib', 'import sys as _sys', 'import warnings as _warnings', '',
    `import ${moduleName} as _original`,
    ...(edited.names.has('*') ? [`from ${moduleName} import *`] : []),
    ...(names.length === 0 ? [] : [`from ${moduleName} import ${names.join(', ')}`]),
    ...module, '',
    `_SOURCE_SHA256 = "${digest}"`, '', '',
    ...moved.flatMap((one) => [...definitionLines(one, edited.text), '', '']),
    'def _is_known():', '    try:', '        with open(_original.__file__, "rb") as file:', '            return _hashlib.sha256(file.read()).hexdigest() == _SOURCE_SHA256',
    '    except OSError:', '        return False', '', '',
    'def _replace_everywhere(name, new):', '    """Other modules may have imported the function by name already."""', '    old = getattr(_original, name)',
    '    for module in list(_sys.modules.values()):', '        if module is not None and getattr(module, "__dict__", {}).get(name) is old:', '            setattr(module, name, new)', '', '',
    'def apply():', '    """Replaces the functions; False, with a warning, when the installed file is another one."""', '    if not _is_known():',
    `        _warnings.warn("${moduleName} is not the file that ${name} was written for: nothing was replaced. Let FuseLens write it again.")`, '        return False',
    ...moved.map(({ owner, definition }) => (owner === undefined ? `    _replace_everywhere("${definition.name}", ${definition.name})` : `    _original.${owner.name}.${definition.name} = _${owner.name}_${definition.name}.__dict__["${definition.name}"]`)),
    '    return True', '', '',
    'applied = apply()', '',
  ];
  return { name, text: lines.join(lineEnd(edited.text)), replaced, left };
}

const qualified = (owner: ClassDefinition | undefined, { name }: FunctionDefinition): string => (owner === undefined ? name : `${owner.name}.${name}`);

/** Zero-argument `super()` needs its class's cell; `self.__x` is mangled with the class's name. */
const staysInClass = (text: string): boolean => /\bsuper\(\s*\)|\b__class__\b|\bself\.__\w*[^_\W]_?\b(?!_)/.test(text);

/** A function as it stands; a method inside a class of its own, so that `@staticmethod` and the like keep their meaning. */
function definitionLines({ owner, definition, text }: Changed, file: string): readonly string[] {
  const column = definition.start - (file.lastIndexOf('\n', definition.start - 1) + 1);
  const indent = owner === undefined ? '' : '    ';
  const own = file.slice(definition.start - column, definition.start);
  const lines = text.split(/\r?\n/).map((line, i) => (i === 0 || line.startsWith(own) ? indent + line.slice(i === 0 ? 0 : own.length) : line));
  return owner === undefined ? lines : [`class _${owner.name}_${definition.name}:`, ...lines];
}

/** Top-level names of the installed module that the functions read. What only type checkers see is not there at run time. */
function importedNames(scope: ModuleScope, moved: readonly Changed[]): readonly string[] {
  const hidden = typeCheckingNames(scope.module.body);
  const own = new Set(moved.filter(({ owner }) => owner === undefined).map(({ definition }) => definition.name));
  const words = new Set(moved.flatMap(({ text }) => text.replace(/#.*$/gm, '').match(/(?<![.\w])[A-Za-z_]\w*/g) ?? []));
  return [...words].filter((word) => scope.names.has(word) && !hidden.has(word) && !own.has(word) && word !== '*' && word !== 'torch_npu' && word !== 'annotations').sort();
}

function typeCheckingNames(body: readonly Statement[]): ReadonlySet<string> {
  const names = (statements: readonly Statement[]): readonly string[] => statements.flatMap((statement) => (statement.kind === 'importFrom' ? statement.names.map(({ name, alias }) => alias ?? name) : statement.kind === 'import' ? statement.names.map(({ module, alias }) => alias ?? module.split('.')[0]) : []));
  const hidden = body.flatMap((statement) => (statement.kind === 'if' && statement.condition.kind === 'name' && statement.condition.name === 'TYPE_CHECKING' ? names(statement.then) : []));
  const seen = new Set(names(body));
  return new Set(hidden.filter((name) => !seen.has(name)));
}

const npuImport = (text: string): readonly string[] => (/^\s+torch_npu = None/m.test(text) ? ['', 'try:', '    import torch_npu', 'except ImportError:', '    torch_npu = None'] : ['import torch_npu']);
