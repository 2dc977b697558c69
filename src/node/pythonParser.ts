import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Parser } from 'web-tree-sitter';

let made: Promise<Parser> | undefined;

/** The Python parser, made once for each process: WebAssembly from beside the bundle, or from the packages in development. */
export function pythonParser(): Promise<Parser> {
  made ??= make();
  return made;
}

async function make(): Promise<Parser> {
  const { Language, Parser: TreeSitter } = await import('web-tree-sitter');
  await TreeSitter.init({ locateFile: () => wasm('web-tree-sitter', 'web-tree-sitter.wasm') });
  const parser = new TreeSitter();
  parser.setLanguage(await Language.load(wasm('tree-sitter-python', 'tree-sitter-python.wasm')));
  return parser;
}

function wasm(packageName: string, file: string): string {
  const beside = path.join(__dirname, file);
  return fs.existsSync(beside) ? beside : path.join(__dirname, '..', '..', 'node_modules', packageName, file);
}
