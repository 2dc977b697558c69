/**
 * Compares the answer for one recorded run with its truth. Two scores: the innermost statement, and the whole call path (each
 * recorded frame of an indexed file, up to the function the answer starts from, has a call at its line, in this order).
 */
import fs from 'node:fs';
import path from 'node:path';
import Papa from 'papaparse';
import type { Parser } from 'web-tree-sitter';
import type { CandidateIndex } from '../../src/engine/attribution/candidates';
import { locate } from '../../src/engine/attribution/locate';
import { ProblemList } from '../../src/engine/profile/problems';
import { LineIndex } from '../../src/engine/python/lineIndex';
import type { OperatorGraph, OperatorNode, Place } from '../../src/engine/python/operatorGraph';
import type { ModuleScope } from '../../src/engine/python/program';
import { findAscendFolders } from '../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../src/node/filePort';

export interface Row { readonly startNs: string; readonly side: string; readonly name: string; readonly frames: string }
export interface Frame { readonly file: string; readonly first: number; readonly last: number; readonly function: string }

export interface Judged {
  /** Files of the truth are relative to it. */
  readonly root: string;
  readonly run: string;
  readonly mode: string;
  readonly rows: ReadonlyMap<string, Row>;
  readonly scopes: readonly ModuleScope[];
  readonly candidates: Pick<CandidateIndex, 'like'>;
  readonly parser: Parser;
  readonly relative: (file: string) => string;
}

/** Rows of a run's truth by the kernel's start. */
export const truthOf = (run: string): ReadonlyMap<string, Row> => new Map(Papa.parse<Row>(fs.readFileSync(path.join(run, 'truth.csv'), 'utf8'), { header: true, skipEmptyLines: true }).data.map((row) => [row.startNs, row]));

export const framesOf = (text: string): readonly Frame[] => (text === '' ? [] : text.split(' < ').map((part) => {
  const [file, name, first, last] = part.split('|');
  return { file, function: name, first: Number(first), last: Number(last) };
}));

interface Call { readonly place: Place; readonly function: string }

/** The statement of a node and the calls that lead to it, innermost first, each with the function it stands in. */
function pathOf(graph: OperatorGraph, node: OperatorNode): readonly Call[] {
  const nameOf = (call: number): string => (call < 0 ? graph.root.name : graph.calls[call].callee).split('.').pop() ?? '';
  const calls: Call[] = [{ place: node.statement, function: nameOf(node.call) }];
  for (let call = node.call; call >= 0; call = graph.calls[call].parent) {
    calls.push({ place: graph.calls[call].site, function: nameOf(graph.calls[call].parent) });
  }
  return calls;
}

/** Every recorded frame, from the innermost to the one of the answer's root, is met in order. */
function samePath(frames: readonly Frame[], answered: readonly Call[], meets: (place: Place, frame: Frame) => boolean): boolean {
  const nameOf = (frame: Frame): string => frame.function.split('.').pop() ?? '';
  const root = answered[answered.length - 1];
  let outermost = frames.length - 1;
  while (outermost > 0 && !(nameOf(frames[outermost]) === root.function && meets(root.place, frames[outermost]))) {
    outermost--;
  }
  let at = 0;
  for (const frame of frames.slice(0, outermost + 1)) {
    // The first is judged by the innermost score: a copy or a cast may belong to a neighbouring statement.
    while (at < answered.length && !(answered[at].function === nameOf(frame) && (at === 0 || meets(answered[at].place, frame)))) {
      at++;
    }
    if (at === answered.length) {
      return false;
    }
    at++;
  }
  return true;
}

export async function judge({ root, run, mode, rows, scopes, candidates, parser, relative }: Judged): Promise<void> {
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
  const score: Record<string, { total: number; answered: number; file: number; inSet: number; unique: number; path: number }> = {};
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
    const recorded = row === undefined ? [] : framesOf(row.frames);
    const frames = recorded.filter(({ file }) => byFile.has(file));
    const frame = frames[0] ?? recorded[0];
    if (row === undefined || recorded.length === 0) {
      continue;
    }
    const entry = (score[row.side] ??= { total: 0, answered: 0, file: 0, inSet: 0, unique: 0, path: 0 });
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
    // The body of a lambda runs in the statement that calls it, and stands elsewhere.
    const stands = node.place.start >= node.statement.start && node.place.end <= node.statement.end ? node.statement : node.place;
    const line = source?.lines.line(stands.start) ?? 0;
    const endLine = source?.lines.line(Math.max(stands.start, stands.end - 1)) ?? 0;
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
    if ((unique || sameText || among) && samePath(frames, pathOf(found.candidate.graph, node), (place, recorded) => {
      const answeredFile = relative(place.file);
      const answeredSource = byFile.get(answeredFile);
      const from = answeredSource?.lines.line(place.start) ?? 0;
      const to = answeredSource?.lines.line(Math.max(place.start, place.end - 1)) ?? 0;
      // Elsewhere the call must read the same: `self.mlp(x)` in a file of equal text.
      return answeredFile === recorded.file ? from <= recorded.last && to >= recorded.first : answeredSource !== undefined && dense(rowsOf(recorded.file).slice(recorded.first - 1, recorded.last).join('')).includes(dense(answeredSource.text.slice(place.start, place.end)));
    })) {
      entry.path += weight;
    }
    if (!unique && !sameText && !among) {
      const key = `${truth} -> ${path.basename(file)}:${line} ${node.op}`;
      misses.set(key, (misses.get(key) ?? 0) + weight);
    }
  }
  const percent = (a: number, b: number): string => (b === 0 ? '–' : `${((a / b) * 100).toFixed(1)} %`);
  console.log(`${name}: ${found.candidate.owner?.name ?? ''} penalty ${(found.penalty * 100).toFixed(2)} % next ${(found.nextPenalty * 100).toFixed(2)} % equals ${found.equals.length} confidence ${found.confidence.toFixed(2)} holes ${(found.holeShare * 100).toFixed(1)} % ${took} ms`);
  for (const [side, entry] of Object.entries(score)) {
    console.log(`   ${side}: answered ${percent(entry.answered, entry.total)}, file ${percent(entry.file, entry.total)}, line in set ${percent(entry.inSet, entry.total)}, unique ${percent(entry.unique, entry.total)}, path ${percent(entry.path, entry.total)}`);
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
