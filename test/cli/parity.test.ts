import assert from 'node:assert/strict';
import { directEngine } from '../../src/node/directEngine';
import { engineEnvironment } from '../../src/node/environment';
import { hasSharedData, sharedPath } from '../sharedData';
import { cli } from './runCli';

describe('the engine and the command', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  for (const profile of ['ascend/msinsight-qwen3-4rank', 'kineto/cuda-v100-dlrm-8rank', 'hostile/a05-ascend-half-copied']) {
    it(`say the same of ${profile}`, async () => {
      const engine = directEngine(engineEnvironment({}));
      const summary = await engine.call('open', { path: sharedPath(profile) });
      const report = await engine.call('analyze', {});
      // The command also looks for chains; the engine does so when asked, with a call of its own.
      const figures = (value: object): unknown => JSON.parse(JSON.stringify(value));
      assert.deepEqual(figures(JSON.parse((await cli(['analyze', sharedPath(profile), '--json'])).out) as object), figures(report));
      for (const rank of summary.ranks.filter(({ readable }) => readable)) {
        const overview = await engine.call('overview', { rank: rank.id });
        const own = report.ranks.find(({ label }) => label === rank.label);
        assert.deepEqual(overview.report.kernels, own?.kernels);
        assert.deepEqual(overview.report.lanes, own?.lanes);
      }
      await engine.dispose();
    });
  }
});
