/**
 * Scores attribution on runs of `projects.py`: `tsx test/accuracy/scoreProjects.ts CHECKOUTS RUN_DIR…`. The workspace is
 * all checkouts together, tests and examples too. JSON=file appends the results.
 */
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { CandidateIndex } from '../../src/engine/attribution/candidates';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../src/node/filePort';
import { judge, truthOf } from './judge';

async function main(): Promise<void> {
  const [root, ...runs] = process.argv.slice(2).map((name) => path.resolve(name));
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const { program, scopes, files } = await indexSources(nodeFilePort(), [root], parser);
  console.log(`${files} files`);
  const candidates = new CandidateIndex(program, scopes);
  for (const run of runs) {
    await judge({ root, run, mode: 'projects', rows: truthOf(run), scopes, candidates, parser, relative: (file) => path.relative(root, file).split(path.sep).join('/') });
  }
}

void main();
