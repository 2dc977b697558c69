import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import type { SourceIndex } from '../../../src/engine/python/sourceIndex';
import { scopeOf } from '../../../src/engine/python/sourceIndex';
import { ModuleSet } from '../../../src/engine/python/program';

let made: Promise<Parser> | undefined;

export function pythonParser(): Promise<Parser> {
  made ??= (async () => {
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
    return parser;
  })();
  return made;
}

/** An index over texts, as if they lay on disk below `/work`. */
export function indexOf(parser: Parser, files: Readonly<Record<string, string>>): SourceIndex {
  const scopes = Object.entries(files).map(([name, text]) => scopeOf(`/project/${name}`, '/project', text, parser));
  return { program: new ModuleSet(scopes), scopes, files: scopes.length, passedOver: 0, capped: false };
}
