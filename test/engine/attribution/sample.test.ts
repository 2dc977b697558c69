import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { explain, type Explanation } from '../../../src/engine/attribution/explain';
import type { RankData } from '../../../src/engine/profile/columns';
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
    await writeSample(writer, { folder });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const readRanks = async (): Promise<readonly RankData[]> => {
    const port = nodeFilePort();
    const problems = new ProblemList();
    const { sources } = await findAscendFolders(port, path.join(folder, 'baseline'), { problems });
    const ranks = await Promise.all(sources.map(async (source) => source.read?.({ port, problems })));
    return ranks.filter((rank) => rank !== undefined);
  };

  /** The README of the sample: lines 29 and 30 launch eleven kernels in each of 18 layers and two micro-batches. */
  const holds = ({ fingerprints, alignment }: Explanation, where: string): void => {
    assert.ok(alignment !== undefined && 'candidate' in alignment, JSON.stringify(alignment !== undefined && 'reason' in alignment ? alignment.reason : ''));
    assert.equal(alignment.candidate.graph.root.name, 'Q35ForCausalLM.forward', where);
    for (const phase of ['forward', 'recompute', 'backward'] as const) {
      const gated = fingerprints.filter((entry) => entry.fingerprint.phase === phase && entry.sources.some((source) => source.function === 'GatedRMSNorm.forward' && path.basename(source.file) === 'q35_npu_old.py'));
      assert.equal(gated.length, 1, `${where} ${phase}`);
      const [{ sources: [source], fingerprint }] = gated;
      assert.deepEqual([source.startLine, source.endLine, source.method], [29, 30, 'alignment'], `${where} ${phase}`);
      assert.equal(fingerprint.occurrences, 36, `${where} ${phase}`);
      // Three layers with a gated norm, then one of full attention, six times.
      assert.equal(fingerprint.perLayer, 3, `${where} ${phase}`);
      if (phase !== 'backward') {
        assert.equal(fingerprint.kernels.length, 11, `${where} ${phase}`);
      }
    }
  };

  it('finds the gated norm at its two lines on every rank, forward, recomputed and backward', async function () {
    this.timeout(300_000);
    const parser = await pythonParser();
    const ranks = await readRanks();
    assert.equal(ranks.length, 16);
    const index = await indexSources(nodeFilePort(), [path.join(folder, 'workspace')], parser);
    ranks.forEach((rank) => holds(explain(rank, { parser, sources: index }), `rank ${rank.rank}`));
  });

  it('answers for a rank the same whether others were explained before or not', async function () {
    this.timeout(300_000);
    const parser = await pythonParser();
    const port = nodeFilePort();
    const shared = await indexSources(port, [path.join(folder, 'workspace')], parser);
    for (const rank of (await readRanks()).slice(0, 3)) {
      const after = explain(rank, { parser, sources: shared });
      const alone = explain(rank, { parser, sources: await indexSources(port, [path.join(folder, 'workspace')], parser) });
      assert.deepEqual([...after.originOf].map((origin) => after.origins[origin]), [...alone.originOf].map((origin) => alone.origins[origin]));
    }
  });
});
