/**
 * Scores attribution on runs of `projects.py`: `tsx test/accuracy/scoreProjects.ts CHECKOUTS RUN_DIR…`. The workspace of a run
 * is the whole checkout of its project and, as strangers, the checkouts of ten others. JSON=file appends the results.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { CandidateIndex } from '../../src/engine/attribution/candidates';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../src/node/filePort';
import { framesOf, judge, truthOf } from './judge';

const STRANGERS = 10;

async function main(): Promise<void> {
  const [root, ...runs] = process.argv.slice(2).map((name) => path.resolve(name));
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const projects = fs.readdirSync(root).sort();
  for (const run of runs) {
    const rows = truthOf(run);
    const own = [...new Set([...rows.values()].flatMap(({ frames }) => framesOf(frames).map(({ file }) => file.split('/')[0])))];
    // Others from the next in the alphabet on, so that each run has its own ten.
    const start = projects.indexOf(own[0]);
    const others = [...projects.slice(start), ...projects.slice(0, start)].filter((name) => !own.includes(name)).slice(0, STRANGERS);
    const { program, scopes } = await indexSources(nodeFilePort(), [...own, ...others].map((name) => path.join(root, name)), parser);
    await judge({ root, run, mode: 'projects', rows, scopes, candidates: new CandidateIndex(program, scopes), parser, relative: (file) => path.relative(root, file).split(path.sep).join('/') });
  }
}

void main();
