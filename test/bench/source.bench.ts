/**
 * The index of a workspace: 2,000 Python files in 10 s, again 200 ms after an edit, and the operator runs that tell which
 * files look like a run.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { spelledGrams } from '../../src/engine/attribution/sourceGrams';
import { SourceIndexer } from '../../src/engine/python/sourceIndex';
import { WORKSPACE_FILES } from '../../src/engine/sample/workspace/files';
import { nodeFilePort } from '../../src/node/filePort';
import { pythonParser } from '../../src/node/pythonParser';
import type { BenchRow } from './main';

/** Model code of about this many bytes a file, as large as the median model file of public collections. */
const FILE_BYTES = 24_000;

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  const files = smoke ? 40 : 2000;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-source-'));
  try {
    const text = WORKSPACE_FILES.filter(([name]) => name.endsWith('.py')).map(([, body]) => body).join('\n');
    const body = text.repeat(Math.ceil(FILE_BYTES / text.length)).slice(0, FILE_BYTES);
    let bytes = 0;
    for (let i = 0; i < files; i++) {
      const parent = path.join(folder, `part${i % 50}`);
      await mkdir(parent, { recursive: true });
      // Every other file names no framework, as configurations and tokenizers do.
      const written = i % 2 === 0 ? `NUMBER = ${i}\n${body}` : `NUMBER = ${i}\n${body.replace(/torch/g, 'plain')}`;
      bytes += written.length;
      await writeFile(path.join(parent, `file${i}.py`), written);
    }
    const parser = await pythonParser();
    const indexer = new SourceIndexer(nodeFilePort(), parser);
    const timed = async <T>(what: () => T | Promise<T>): Promise<readonly [T, number]> => {
      const began = performance.now();
      const value = await what();
      return [value, performance.now() - began];
    };
    const [index, first] = await timed(() => indexer.index([folder]));
    const edited = index.scopes[0];
    const overlay = new Map([[edited.file, `${edited.text}\nEDITED = 1\n`]]);
    const [[after, names], again] = await timed(async () => {
      const next = await indexer.index([folder], { overlay });
      return [next, next.scopes[0].names.size] as const;
    });
    const [, looked] = await timed(() => index.scopes.forEach(spelledGrams));
    const [, lookedAgain] = await timed(() => after.scopes.forEach(spelledGrams));
    return [
      { name: `${files} files, ${(bytes / 1e6).toFixed(0)} MB, half with a framework: indexed`, value: first / 1000, unit: 's', target: 10, atMost: true },
      { name: `after an edit (${names} names in the edited file)`, value: again, unit: 'ms', target: 200, atMost: true },
      { name: 'operator runs of all', value: looked / 1000, unit: 's' },
      { name: 'indexed and looked at', value: (first + looked) / 1000, unit: 's', target: 10, atMost: true },
      { name: 'looked at again after an edit', value: lookedAgain, unit: 'ms', target: 200, atMost: true },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
