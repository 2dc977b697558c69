/**
 * Scores attribution by alignment against recorded runs:
 *
 *     tsx test/accuracy/score.ts TRANSFORMERS MODE RUN_DIR…
 *
 * TRANSFORMERS is the installed package; MODE is the workspace: `own` (the model's folder, ten unlike models, helpers),
 * `all` (all of models/, helpers), `absent` (as `own` or, with ABSENT=all, as `all`, without the true files), `bare` (as
 * `own` without helpers). A kernel is right when the answer lies in the recorded statement of the innermost indexed frame,
 * weighted by device time; a statement with the same text elsewhere counts as the same answer, and `unique` says how much
 * lies in the very file. MISSES=n prints the costliest misses, JSON=file appends the results.
 */
import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import { Language, Parser } from 'web-tree-sitter';
import { CandidateIndex, candidatesOf, type Candidate } from '../../src/engine/attribution/candidates';
import { locate } from '../../src/engine/attribution/locate';
import { ProblemList } from '../../src/engine/profile/problems';
import { LineIndex } from '../../src/engine/python/lineIndex';
import { FileScope, ModuleSet, type ModuleScope } from '../../src/engine/python/program';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { findAscendFolders } from '../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../src/node/filePort';

interface Row { readonly startNs: string; readonly side: string; readonly name: string; readonly frames: string }
interface Frame { readonly file: string; readonly first: number; readonly last: number; readonly function: string }

const UNLIKE = ['bert', 'gpt2', 't5', 'mamba2', 'bloom', 'gemma2', 'gpt_oss', 'falcon_mamba', 'rwkv', 'qwen3_next', 'opt', 'deepseek_v3'];
const HELPERS = ['activations.py', 'masking_utils.py', 'modeling_layers.py', 'modeling_rope_utils.py', 'cache_utils.py', 'pytorch_utils.py', 'loss/loss_utils.py', 'integrations/moe.py', 'integrations/sdpa_attention.py'];

const framesOf = (text: string): readonly Frame[] => (text === '' ? [] : text.split(' < ').map((part) => {
  const [file, name, first, last] = part.split('|');
  return { file, function: name, first: Number(first), last: Number(last) };
}));

async function main(): Promise<void> {
  const [root, mode, ...runs] = process.argv.slice(2);
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const port = nodeFilePort();
  const parsed = new Map<string, readonly ModuleScope[]>();
  const relative = (file: string): string => path.relative(root, file).split(path.sep).join('/');
  const scopesOf = async (part: string): Promise<readonly ModuleScope[]> => {
    let known = parsed.get(part);
    if (known === undefined) {
      const index = await indexSources(port, [path.join(root, part)], parser);
      known = index.scopes.filter((scope) => /(^|\/)(modeling_\w+|activations|masking_utils|cache_utils|pytorch_utils|loss_utils|moe|sdpa_attention)\.py$/.test(scope.file)).map((scope) => new FileScope(scope.file, `transformers.${relative(scope.file).replace(/\.py$/, '').split('/').join('.')}`, scope.source));
      parsed.set(part, known);
    }
    return known;
  };
  const lowered = new Map<string, readonly Candidate[]>();
  let wide: { readonly scopes: readonly ModuleScope[]; readonly candidates: Pick<CandidateIndex, 'like'> } | undefined;
  for (const run of runs) {
    const rows = new Map(Papa.parse<Row>(fs.readFileSync(path.join(run, 'truth.csv'), 'utf8'), { header: true, skipEmptyLines: true }).data.map((row) => [row.startNs, row]));
    const own = new Set([...rows.values()].flatMap((row) => framesOf(row.frames).map((frame) => frame.file)).filter((file) => file.startsWith('models/')));
    const folders = mode === 'all' || process.env.ABSENT === 'all' ? ['models'] : [...new Set([...own].map((file) => path.dirname(file))), ...UNLIKE.map((name) => `models/${name}`).filter((folder) => ![...own].some((file) => path.dirname(file) === folder)).slice(0, 10)];
    let scopes: readonly ModuleScope[] = [];
    for (const part of [...folders, ...(mode === 'bare' ? [] : HELPERS)]) {
      scopes = [...scopes, ...(await scopesOf(part))];
    }
    if (mode === 'absent') {
      scopes = scopes.filter((scope) => !own.has(relative(scope.file)));
    }
    let candidates: Pick<CandidateIndex, 'like'>;
    if (mode === 'all' && wide !== undefined) {
      ({ scopes, candidates } = wide);
    } else if (mode === 'all' || process.env.ABSENT === 'all') {
      scopes.forEach((scope) => scope.values.clear());
      candidates = new CandidateIndex(new ModuleSet(scopes), scopes);
      wide = { scopes, candidates };
    } else {
      // Folders do not import each other's models, so each is lowered once for all runs.
      const lists = [];
      const helpers = mode === 'bare' ? [] : (await Promise.all(HELPERS.map(scopesOf))).flat();
      for (const part of [...folders, ...(mode === 'bare' ? [] : ['helpers'])]) {
        const files = part === 'helpers' ? helpers : await scopesOf(part);
        let list = lowered.get(part);
        if (list === undefined) {
          const program = [...new Set([...helpers, ...files])];
          list = candidatesOf(new ModuleSet(program), files, 4, (file) => program.find((scope) => scope.file === file)?.text);
          lowered.set(part, list);
        }
        lists.push(list.filter((candidate) => scopes.includes(candidate.scope)));
      }
      const all = lists.flat();
      candidates = { like: () => all };
    }
    await one(root, run, mode, rows, scopes, candidates, parser, relative);
  }
}

async function one(root: string, run: string, mode: string, rows: ReadonlyMap<string, Row>, scopes: readonly ModuleScope[], candidates: Pick<CandidateIndex, 'like'>, parser: Parser, relative: (file: string) => string): Promise<void> {
  const problems = new ProblemList();
  const port = nodeFilePort();
  const { sources } = await findAscendFolders(port, run, { problems });
  const rank = await sources[0].read?.({ port, problems });
  if (rank === undefined) {
    return;
  }
  const byFile = new Map(scopes.map((scope) => [relative(scope.file), { text: scope.text, lines: new LineIndex(scope.text), rows: scope.text.split('\n') }]));
  const began = Date.now();
  const found = locate(rank, candidates, parser);
  const took = Date.now() - began;
  const name = `${path.basename(path.dirname(run))}/${path.basename(run)}`;
  if ('reason' in found) {
    console.log(`${name}: abstains (${found.reason.code} ${JSON.stringify(found.reason.args ?? {})}) ${took} ms`);
    record({ mode, run: name, abstains: found.reason, ...(found.nearest === undefined ? {} : { ...found.nearest, file: relative(found.nearest.file) }) });
    return;
  }
  const score: Record<string, { total: number; answered: number; file: number; inSet: number; unique: number; function: number }> = {};
  const misses = new Map<string, number>();
  const { deviceEvents: events } = rank;
  const equalFiles = new Set(found.equals.map((candidate) => relative(candidate.scope.file)));
  const disk = new Map<string, readonly string[]>();
  const rowsOf = (file: string): readonly string[] => {
    const known = disk.get(file) ?? fs.readFileSync(path.join(root, file), 'utf8').split('\n');
    disk.set(file, known);
    return known;
  };
  const dense = (text: string): string => text.replace(/\s+/g, '');
  for (let i = 0; i < events.count; i++) {
    const row = rows.get((rank.baseNs + BigInt(events.startNs[i])).toString());
    const frame = row === undefined ? undefined : framesOf(row.frames).find(({ file }) => byFile.has(file)) ?? framesOf(row.frames)[0];
    if (row === undefined || frame === undefined) {
      continue;
    }
    const entry = (score[row.side] ??= { total: 0, answered: 0, file: 0, inSet: 0, unique: 0, function: 0 });
    const weight = events.durationNs[i];
    entry.total += weight;
    const node = found.nodeOf[i] < 0 ? undefined : found.candidate.graph.nodes[found.nodeOf[i]];
    const truth = `${row.side} ${frame.file.split('/').pop()}:${frame.first} ${row.name.slice(0, 34)}`;
    if (node === undefined) {
      misses.set(`${truth} -> none`, (misses.get(`${truth} -> none`) ?? 0) + weight);
      continue;
    }
    entry.answered += weight;
    const file = relative(node.statement.file);
    const source = byFile.get(file);
    const line = source?.lines.line(node.statement.start) ?? 0;
    const endLine = source?.lines.line(Math.max(node.statement.start, node.statement.end - 1)) ?? 0;
    const unique = file === frame.file && line <= frame.last && endLine >= frame.first;
    const wanted = rowsOf(frame.file).slice(frame.first - 1, frame.last).join('');
    const answered = node.call < 0 ? found.candidate.graph.root.name : found.candidate.graph.calls[node.call].callee;
    // A fused kernel stands for a whole function.
    const fused = row.name.startsWith('RmsNorm') && file === frame.file && /RMSNorm\./.test(answered);
    const sameText = fused || (source !== undefined && dense(wanted) === dense(source.rows.slice(line - 1, endLine).join('')));
    // Another of the equals: its own alignment leads to its own lines.
    const among = !unique && equalFiles.has(frame.file) && answered.split('.').pop() === frame.function.split('.').pop();
    entry.file += file === frame.file ? weight : 0;
    entry.unique += unique ? weight : 0;
    entry.inSet += unique || sameText || among ? weight : 0;
    if (!unique && !sameText && !among) {
      const key = `${truth} -> ${path.basename(file)}:${line} ${node.op}`;
      misses.set(key, (misses.get(key) ?? 0) + weight);
    }
  }
  const percent = (a: number, b: number): string => (b === 0 ? '–' : `${((a / b) * 100).toFixed(1)} %`);
  console.log(`${name}: ${found.candidate.owner?.name ?? ''} penalty ${(found.penalty * 100).toFixed(2)} % next ${(found.nextPenalty * 100).toFixed(2)} % equals ${found.equals.length} confidence ${found.confidence.toFixed(2)} holes ${(found.holeShare * 100).toFixed(1)} % ${took} ms`);
  for (const [side, entry] of Object.entries(score)) {
    console.log(`   ${side}: answered ${percent(entry.answered, entry.total)}, file ${percent(entry.file, entry.total)}, line in set ${percent(entry.inSet, entry.total)}, unique ${percent(entry.unique, entry.total)}`);
  }
  if (process.env.MISSES !== undefined) {
    [...misses].sort((a, b) => b[1] - a[1]).slice(0, Number(process.env.MISSES)).forEach(([key, weight]) => console.log(`      ${(weight / 1000).toFixed(0)} µs ${key}`));
  }
  record({ mode, run: name, penalty: found.penalty, residual: found.residual, systematic: found.systematic, nextPenalty: found.nextPenalty, confidence: found.confidence, holes: found.holeShare, equals: found.equals.map((candidate) => relative(candidate.scope.file)), file: relative(found.candidate.scope.file), function: found.candidate.graph.root.name, score, ms: took });
}

function record(result: object): void {
  if (process.env.JSON !== undefined) {
    fs.appendFileSync(process.env.JSON, `${JSON.stringify(result)}\n`);
  }
}

void main();
