import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventPhases } from '../../../src/engine/compare/eventPhases';
import { PHASES } from '../../../src/engine/chains/phases';
import { EventKind } from '../../../src/engine/profile/columns';
import { SAMPLE_RUNS, simulate } from '../../../src/engine/sample/runs';
import { EngineSession } from '../../../src/engine/session';
import { nodeFilePort } from '../../../src/node/filePort';
import { pythonParser } from '../../../src/node/pythonParser';
import { rank0Text } from '../sample/sampleFiles';

interface Tally {
  readonly truth: number;
  readonly found: number;
  readonly both: number;
}

/** Nanoseconds of compute kernels on rank 0: recompute by the sample's model, by us, and by both. */
async function tally(name: 'baseline' | 'optimized', folder: string): Promise<Tally> {
  const run = SAMPLE_RUNS.find((one) => one.name === name) ?? SAMPLE_RUNS[0];
  const simulated = simulate(run);
  const marks = simulated.ranks[0].marks;
  const intervals = marks.flatMap((mark, i) => mark.name === 'recompute' ? [[mark.ns, marks.slice(i).find((later) => later.name === 'recompute-end')?.ns ?? NaN] as const] : []);
  await writeFile(path.join(folder, 'kernel_details.csv'), await rank0Text(name, 'kernel_details.csv'));
  const session = new EngineSession({ port: nodeFilePort(), pythonParser });
  const { ranks } = await session.call('open', { path: folder });
  const { loaded, explanation } = await session.explain(ranks[0].id, { sources: [] });
  const { deviceEvents: events, baseNs } = loaded.data;
  const phases = eventPhases(loaded.data, explanation);
  const epoch = Number(BigInt(run.baseUs) * 1000n - baseNs);
  const sums = { truth: 0, found: 0, both: 0 };
  for (let row = 0; row < events.count; row++) {
    if (events.kind[row] !== EventKind.Compute) {
      continue;
    }
    const at = events.startNs[row] - epoch;
    const truth = intervals.some(([from, to]) => from <= at && at < to);
    const found = PHASES[phases[row]] === 'recompute';
    sums.truth += truth ? events.durationNs[row] : 0;
    sums.found += found ? events.durationNs[row] : 0;
    sums.both += truth && found ? events.durationNs[row] : 0;
  }
  return sums;
}

describe('phases of kernels', function () {
  this.timeout(180_000);
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuselens-phases-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  for (const name of ['baseline', 'optimized'] as const) {
    it(`${name}: what is called recompute is recompute, and most of it is found`, async () => {
      const { truth, found, both } = await tally(name, folder);
      assert.ok(truth > 0);
      assert.ok(both / found > 0.999, `${both} of ${found} ns called recompute are`);
      assert.ok(both / truth > 0.99, `${both} of ${truth} ns of recompute are found`);
    });
  }
});
