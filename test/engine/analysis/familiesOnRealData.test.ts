import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { assignFamilies } from '../../../src/engine/analysis/families';
import { kernelGroups } from '../../../src/engine/analysis/groups';
import { selectEvents } from '../../../src/engine/analysis/selection';
import { detectProfile } from '../../../src/engine/detect';
import { ProblemList } from '../../../src/engine/profile/problems';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

/** A trace made by hand for the documentation of Kineto names its kernels `Kernel`: rightly nobody's family. */
const NAMELESS = new Set(['kineto-doc-before-fix']);

async function otherShares(profile: string): Promise<readonly { readonly rank: string; readonly share: number; readonly names: readonly string[] }[]> {
  const port = nodeFilePort();
  const { sources } = await detectProfile(port, profile);
  const result = [];
  for (const { id, read } of sources) {
    if (read === undefined) {
      continue;
    }
    const data = await read({ port, problems: new ProblemList() });
    assignFamilies(data);
    const groups = kernelGroups(data, selectEvents(data.deviceEvents));
    const total = groups.reduce((sum, group) => sum + group.totalNs, 0);
    const other = groups.filter(({ family }) => family === 'other');
    result.push({ rank: id, share: total === 0 ? 0 : other.reduce((sum, group) => sum + group.totalNs, 0) / total, names: other.map(({ name, type }) => `${name} ${type}`) });
  }
  return result;
}

describe('families on real profiles', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  const kineto = readdirSync(sharedPath('kineto')).filter((name) => existsSync(sharedPath('kineto', name, 'truth.json')) && !name.startsWith('not-a-trace') && !NAMELESS.has(name)).map((name) => path.join('kineto', name));
  const ascend = ['ascend/msinsight-qwen3-4rank', 'ascend/msinsight-alexnet/text/level0', 'ascend/msinsight-alexnet/text/level1', 'ascend/msinsight-alexnet/db/level2', 'ascend/msinsight-gpt3-2023', 'ascend/msprof-analyze/kernel_details_2023_arithmetic.csv', 'ascend/msprof-analyze/kernel_details_2025_pipe_quoted_tab.csv', 'ascend/msprof-analyze/trace_view_2024-01.json'];
  for (const profile of [...kineto, ...ascend]) {
    it(`leave at most 1 % of device time in "other": ${profile}`, async () => {
      for (const { rank, share, names } of await otherShares(sharedPath(profile))) {
        assert.ok(share <= 0.01, `${rank}: ${(share * 100).toFixed(2)} % in ${names.join(', ')}`);
      }
    });
  }
});
