/**
 * Scores attribution on runs of `projects.py`: `tsx test/accuracy/scoreProjects.ts CHECKOUTS RUN_DIR…`. The workspace is
 * all checkouts together, tests and examples too; with ALONE=1 it is the checkout of the run's own project, with WITHOUT=1
 * it is all but that one. JSON=file appends the results.
 */
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { CandidateIndex } from '../../src/engine/attribution/candidates';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../src/node/filePort';
import { framesOf, judge, truthOf, type Judged } from './judge';

/** The checkout that most frames of a run lie in. */
function checkoutOf(rows: Judged['rows']): string {
  const counts = new Map<string, number>();
  rows.forEach(({ frames }) => framesOf(frames).forEach(({ file }) => counts.set(file.split('/')[0], (counts.get(file.split('/')[0]) ?? 0) + 1)));
  return [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most), ['', 0])[0];
}

async function main(): Promise<void> {
  const [root, ...runs] = process.argv.slice(2).map((name) => path.resolve(name));
  const isAlone = process.env.ALONE !== undefined;
  const isWithout = process.env.WITHOUT !== undefined;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const workspace = async (folder: string): Promise<Pick<Judged, 'scopes' | 'candidates'>> => {
    const { program, scopes, files } = await indexSources(nodeFilePort(), [folder], parser);
    console.log(`${files} files of ${folder}`);
    return { scopes, candidates: new CandidateIndex(program, scopes) };
  };
  const together = isAlone ? undefined : await workspace(root);
  for (const run of runs) {
    const rows = truthOf(run);
    const own = path.join(root, checkoutOf(rows));
    const { scopes, candidates } = together ?? await workspace(own);
    const others: Judged['candidates'] = { like: (region, look) => candidates.like(region, look).filter(({ scope }) => !scope.file.startsWith(own + path.sep)) };
    await judge({ root, run, mode: isAlone ? 'projects alone' : isWithout ? 'projects absent' : 'projects', rows, scopes, candidates: isWithout ? others : candidates, parser, relative: (file) => path.relative(root, file).split(path.sep).join('/') });
  }
}

void main();
