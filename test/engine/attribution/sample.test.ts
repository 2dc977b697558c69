import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { explain } from '../../../src/engine/attribution/explain';
import { ProblemList } from '../../../src/engine/profile/problems';
import { indexSources } from '../../../src/engine/python/sourceIndex';
import { findAscendFolders } from '../../../src/engine/readers/ascendFolders';
import { writeSample, type SampleWriter } from '../../../src/engine/sample/writeSample';
import { nodeFilePort } from '../../../src/node/filePort';
import { pythonParser } from './parser';

describe('attribution of the sample, which has no stacks', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-sample-'));
    const writer: SampleWriter = {
      mkdir: async (name) => { await mkdir(name, { recursive: true }); },
      write: async (file, chunks) => {
        await mkdir(path.dirname(file), { recursive: true });
        const parts: string[] = [];
        for (const chunk of chunks) {
          parts.push(chunk);
        }
        await writeFile(file, parts.join(''));
      },
      join: (...parts) => path.join(...parts),
    };
    await writeSample(writer, { folder, ranks: 1 });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  it('finds the gated norm at its two lines, forward, recomputed and backward', async function () {
    this.timeout(120_000);
    const port = nodeFilePort();
    const problems = new ProblemList();
    const parser = await pythonParser();
    const { sources } = await findAscendFolders(port, path.join(folder, 'baseline'), { problems });
    const rank = await sources[0].read?.({ port, problems });
    assert.ok(rank !== undefined);
    const index = await indexSources(port, [path.join(folder, 'workspace')], parser);
    const { fingerprints, alignment } = explain(rank, { parser, sources: index });
    assert.ok(alignment !== undefined && 'candidate' in alignment, JSON.stringify(alignment !== undefined && 'reason' in alignment ? alignment.reason : ''));
    assert.equal(alignment.candidate.graph.root.name, 'Q35ForCausalLM.forward');
    // The README of the sample: lines 29 and 30 launch eleven kernels in each of 18 layers and two micro-batches.
    for (const phase of ['forward', 'recompute', 'backward'] as const) {
      const gated = fingerprints.filter((entry) => entry.fingerprint.phase === phase && entry.sources.some((source) => source.function === 'GatedRMSNorm.forward' && path.basename(source.file) === 'q35_npu_old.py'));
      assert.equal(gated.length, 1, phase);
      const [{ sources: [source], fingerprint }] = gated;
      assert.deepEqual([source.startLine, source.endLine, source.method], [29, 30, 'alignment'], phase);
      assert.equal(fingerprint.occurrences, 36, phase);
      if (phase !== 'backward') {
        assert.equal(fingerprint.kernels.length, 11, phase);
      }
    }
  });
});
