/**
 * Scores attribution by alignment against recorded runs: `tsx test/accuracy/score.ts RUN_DIR… -- WORKSPACE…`. A kernel is right when the
 * answer lies in the recorded statement (file and lines), weighted by device time; equal bodies in other files count as
 * the same answer and are reported apart.
 */
import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { Language, Parser } from 'web-tree-sitter';
import { candidatesOf } from '../../src/engine/attribution/candidates';
import { locate } from '../../src/engine/attribution/locate';
import { ProblemList } from '../../src/engine/profile/problems';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { findAscendFolders } from '../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../src/node/filePort';

interface Truth { startNs: string; file: string; function: string; startLine: string; endLine: string; side: string; name: string }

async function main(): Promise<void> {
  const split = process.argv.indexOf('--');
  const runs = process.argv.slice(2, split);
  const workspace = process.argv.slice(split + 1);
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const port = nodeFilePort();
  const index = await indexSources(port, workspace, parser);
  const candidates = candidatesOf(index.program, index.scopes);
  const lines = new Map<string, (offset: number) => number>();
  for (const scope of index.scopes) {
    const starts = [0];
    for (let i = scope.text.indexOf('\n'); i >= 0; i = scope.text.indexOf('\n', i + 1)) {
      starts.push(i + 1);
    }
    lines.set(scope.file, (offset) => {
      let low = 0;
      let high = starts.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (starts[middle] <= offset) { low = middle + 1; } else { high = middle; }
      }
      return low;
    });
  }
  console.log(`${index.files} files, ${candidates.length} candidates`);
  for (const run of runs) {
    const problems = new ProblemList();
    const { sources } = await findAscendFolders(port, run, { problems });
    const rank = await sources[0].read?.({ port, problems });
    if (rank === undefined) {
      continue;
    }
    const began = Date.now();
    const found = locate(rank, candidates, parser);
    const took = Date.now() - began;
    const name = path.basename(run);
    if ('reason' in found) {
      console.log(`${name}: abstains (${found.reason.code} ${JSON.stringify(found.reason.args ?? {})}) ${took} ms`);
      continue;
    }
    const truth = new Map(Papa.parse<Truth>(fs.readFileSync(path.join(run, 'truth.csv'), 'utf8'), { header: true, skipEmptyLines: true }).data.map((row) => [row.startNs, row]));
    const score: Record<string, { total: number; answered: number; file: number; line: number }> = {};
    const misses = new Map<string, number>();
    const { deviceEvents: events } = rank;
    for (let i = 0; i < events.count; i++) {
      const row = truth.get((rank.baseNs + BigInt(events.startNs[i])).toString());
      if (row === undefined || row.file === '') {
        continue;
      }
      const entry = (score[row.side] ??= { total: 0, answered: 0, file: 0, line: 0 });
      const weight = events.durationNs[i];
      entry.total += weight;
      const node = found.nodeOf[i] < 0 ? undefined : found.candidate.graph.nodes[found.nodeOf[i]];
      if (node === undefined) {
        misses.set(`none for ${path.basename(row.file)}:${row.startLine} ${row.name.slice(0, 30)}`, (misses.get(`none for ${path.basename(row.file)}:${row.startLine} ${row.name.slice(0, 30)}`) ?? 0) + weight);
        continue;
      }
      entry.answered += weight;
      const line = lines.get(node.statement.file)?.(node.statement.start) ?? 0;
      const endLine = lines.get(node.statement.file)?.(node.statement.end) ?? 0;
      const sameFile = path.basename(node.statement.file) === path.basename(row.file);
      entry.file += sameFile ? weight : 0;
      const right = sameFile && line <= Number(row.endLine) && endLine >= Number(row.startLine);
      entry.line += right ? weight : 0;
      if (!right) {
        const key = `${row.side} ${path.basename(row.file)}:${row.startLine} ${row.name.slice(0, 40)} -> ${path.basename(node.statement.file)}:${line} ${node.op}`;
        misses.set(key, (misses.get(key) ?? 0) + weight);
      }
    }
    const percent = (a: number, b: number): string => (b === 0 ? '–' : `${((a / b) * 100).toFixed(1)} %`);
    console.log(`${name}: ${found.candidate.owner?.name ?? ''} penalty ${(found.penalty * 100).toFixed(2)} % next ${(found.nextPenalty * 100).toFixed(2)} % equals ${found.equals.length} confidence ${found.confidence.toFixed(2)} holes ${(found.holeShare * 100).toFixed(1)} % ${took} ms`);
    for (const [side, entry] of Object.entries(score)) {
      console.log(`   ${side}: answered ${percent(entry.answered, entry.total)}, file ${percent(entry.file, entry.total)}, line ${percent(entry.line, entry.total)}`);
    }
    if (process.env.MISSES !== undefined) {
      [...misses].sort((a, b) => b[1] - a[1]).slice(0, Number(process.env.MISSES)).forEach(([key, weight]) => console.log(`      ${(weight / 1000).toFixed(0)} µs ${key}`));
    }
  }
}

void main();
