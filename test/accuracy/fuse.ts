/**
 * Fuses every Python file below a folder, into another one: for docs/accuracy.md, outside CI.
 *
 *     tsx test/accuracy/fuse.ts SOURCE OUT BACKEND
 *
 * Writes OUT/before and OUT/after (the edited files alone), OUT/plans.jsonl (one place a line) and OUT/summary.json; the
 * source stays as it is. `fuse_check.py` then holds before and after against each other.
 */
import fs from 'node:fs';
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { FUSE_BACKENDS } from '../../src/engine/fusions/fusion';
import { fuseAll } from '../../src/engine/fuse/fuseAll';
import { planFusions } from '../../src/engine/fuse/planFusions';
import type { FusePlan } from '../../src/engine/fuse/plan';
import { ModuleSet, type ModuleScope } from '../../src/engine/python/program';
import { indexSources, scopeOf } from '../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../src/node/filePort';

/** Not model code: tests hold forms on purpose, generated documentation repeats them. */
const LEFT_OUT = /(^|[\\/])(tests?|testing|docs?)[\\/]|[\\/]?(test_|conftest)[^\\/]*$/;

async function main(): Promise<void> {
  const [source, out, name] = process.argv.slice(2);
  const backend = FUSE_BACKENDS.find((known) => known === name);
  if (backend === undefined) {
    throw new Error('usage: fuse.ts SOURCE OUT ascend|cuda|torch');
  }
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const root = path.resolve(source);
  const index = await indexSources(nodeFilePort(), [root], parser);
  const counts = { files: 0, edited: 0, empty: 0, broken: [] as string[], notIdempotent: [] as string[], places: {} as Record<string, number> };
  fs.mkdirSync(out, { recursive: true });
  const plansFile = fs.createWriteStream(path.join(out, 'plans.jsonl'));
  for (const scope of index.scopes) {
    const file = path.relative(root, scope.file);
    if (!file.endsWith('.py') || LEFT_OUT.test(file)) {
      continue;
    }
    counts.files++;
    // As if it lay in the workspace: installed packages are measured too.
    const plan = (edited: ModuleScope): readonly FusePlan[] => planFusions(edited, edited === scope ? index.program : new ModuleSet([...index.scopes.filter((other) => other.file !== edited.file), edited]), backend, parser, { inWorkspace: true });
    const first = plan(scope);
    counts.empty += first.length === 0 ? 1 : 0;
    for (const { fusion, functionName, startLine, endLine, status, reason } of first) {
      const key = `${fusion.id} ${status}${reason === undefined ? '' : ` ${reason}`}`;
      counts.places[key] = (counts.places[key] ?? 0) + 1;
      plansFile.write(`${JSON.stringify({ file, function: functionName, fusion: fusion.id, startLine, endLine, status, reason: reason ?? null })}\n`);
    }
    const { scope: edited, used } = fuseAll(scope, first, (text) => scopeOf(scope.file, root, text, parser), plan);
    if (used.length === 0) {
      continue;
    }
    counts.edited++;
    if (edited.module.errors.length > scope.module.errors.length) {
      counts.broken.push(file);
    }
    if (plan(edited).some(({ status }) => status === 'fixable')) {
      counts.notIdempotent.push(file);
    }
    for (const [side, text] of [['before', scope.text], ['after', edited.text]] as const) {
      const target = path.join(out, side, file);
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.writeFileSync(target, text);
    }
  }
  plansFile.end();
  fs.writeFileSync(path.join(out, 'summary.json'), JSON.stringify(counts, undefined, 2));
  console.log(`${path.basename(root)}, ${backend}: ${counts.files} files, ${counts.edited} edited, ${counts.empty} without a form, ${counts.broken.length} broken, ${counts.notIdempotent.length} not idempotent`);
  Object.entries(counts.places).sort().forEach(([key, count]) => console.log(`  ${count}\t${key}`));
}

void main();
