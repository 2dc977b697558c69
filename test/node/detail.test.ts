import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { detectProfile } from '../../src/engine/detect';
import type { RankData } from '../../src/engine/profile/columns';
import { ProblemList } from '../../src/engine/profile/problems';
import { decodeDetail } from '../../src/engine/readers/traceDetail';
import { engineEnvironment } from '../../src/node/environment';
import { hasSharedData, sharedPath } from '../sharedData';

describe('arguments of a compressed trace', () => {
  it('come from the spill, and from the trace itself when the spill is gone', async function () {
    if (!hasSharedData()) {
      console.log('    needs ../shared/data: skipped');
      this.skip();
    }
    const cacheFolder = mkdtempSync(path.join(tmpdir(), 'fuselens-detail-'));
    const { port, spill } = engineEnvironment({ cacheFolder });
    const [source] = (await detectProfile(port, sharedPath('kineto', 'cuda-h100-vit-infer-stacks'))).sources;
    assert.ok(source.read !== undefined && spill !== undefined && port.readSpill !== undefined);
    const opened = await spill(source);
    const rank: RankData = await source.read({ port, problems: new ProblemList(), ...(opened === undefined ? {} : { spill: opened }) });
    assert.equal(rank.detailSource.kind, 'spill');
    const { readSpill } = port;
    let spilled = 0;
    const counting = async (key: string, offset: number, length: number): Promise<Uint8Array | undefined> => {
      const bytes = await readSpill(key, offset, length);
      spilled += bytes === undefined ? 0 : 1;
      return bytes;
    };
    const last = rank.deviceEvents.count - 1;
    const details = (): Promise<readonly unknown[]> => Promise.all([decodeDetail(port, rank, 'device', 0, { readSpill: counting }), decodeDetail(port, rank, 'device', last, { readSpill: counting })]);
    const first = await details();
    assert.equal(spilled, 2);
    assert.ok(first.every((found) => found !== undefined));
    readdirSync(cacheFolder).forEach((name) => rmSync(path.join(cacheFolder, name)));
    assert.deepEqual(await details(), first);
    rmSync(cacheFolder, { recursive: true });
  });
});
