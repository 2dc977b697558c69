import assert from 'node:assert/strict';
import { ProblemList } from '../../../src/engine/profile/problems';
import type { ClusterData } from '../../../src/engine/profile/cluster';
import { readClusterFolder } from '../../../src/engine/readers/cluster';
import { hasSharedData, sharedPath } from '../../sharedData';
import { csvRows, find, port, problemKinds, readSource } from './ascendSupport';

async function read(...parts: readonly string[]): Promise<{ readonly data: ClusterData; readonly kinds: readonly string[] }> {
  const problems = new ProblemList();
  const data = await readClusterFolder({ port, problems }, sharedPath('ascend', ...parts));
  return { data, kinds: problemKinds(problems.toArray()) };
}

describe('cluster_analysis_output', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('of 16 ranks: steps of ranks and stages, communication, links, groups of the old generation', async () => {
    const { data, kinds } = await read('msinsight-cluster', 'cluster_analysis_output');
    assert.deepEqual(kinds, []);
    const rows = csvRows(sharedPath('ascend', 'msinsight-cluster', 'cluster_analysis_output', 'cluster_step_trace_time.csv'));
    assert.deepEqual(data.steps.map(({ computingUs, bubbleUs, freeUs }) => [computingUs, bubbleUs, freeUs]), rows.map((row) => [Number(row['Computing']), Number(row['Bubble']), Number(row['Free'])]));
    assert.deepEqual(data.steps.filter(({ kind }) => kind === 'rank').map(({ ranks }) => ranks[0]), Array.from({ length: 16 }, (_, i) => i));
    assert.deepEqual(data.steps.filter(({ kind }) => kind === 'stage').map(({ ranks }) => ranks.length), [8, 8]);
    assert.ok(data.steps.every(({ step, preparingUs }) => step === '2' && Number.isNaN(preparingUs)));
    const send = data.communication.find(({ name }) => name === 'hcom_send__822_0');
    assert.deepEqual([send?.rank, send?.kind, send?.group, send?.elapseMs, send?.bandwidth['RDMA'].bandwidthGbs], [0, 'p2p', '13337953553061386822', 0.89648691015625, 24.2778]);
    assert.ok(data.links.some(({ operation, source, destination, transport }) => operation === 'hcom_send__822_0' && source === 0 && destination === 8 && transport === 'RDMA'));
    assert.equal(data.groups.length, 29);
    assert.deepEqual(data.groups.at(-1), { kind: 'p2p', ranks: [8, 9, 10, 11, 12, 13, 14, 15], hash: '', parallelism: '' });
  });

  it('without a step, keyed by tuples of ranks', async () => {
    const { data, kinds } = await read('msprof-analyze', 'cluster_analysis_output');
    assert.deepEqual(kinds, ['cluster-file-missing', 'cluster-file-missing', 'cluster-no-step']);
    assert.equal(data.steps.filter(({ kind }) => kind === 'rank').length, 8);
    const broadcast = data.communication.find(({ name, rank }) => name === 'hcom_broadcast__501_0' && rank === 0);
    assert.deepEqual([broadcast?.ranks, broadcast?.kind, broadcast?.waitMs], [[0, 1], 'collective', 115.96064153125]);
  });

  it('with groups of both generations', async () => {
    const { data } = await read('msinsight-cluster', 'communication_group');
    assert.equal(data.groups.length, 22);
    assert.deepEqual(data.groups[0], { kind: 'collective', ranks: [0, 1], hash: '6960437680420871035', parallelism: 'tp' });
  });

  it('opens alone, and says that it has no kernels', async () => {
    const { sources } = await find(sharedPath('ascend', 'msinsight-cluster', 'cluster_analysis_output'));
    assert.deepEqual(sources.map(({ format }) => format), ['ascend-cluster']);
    const { data, problems } = await readSource(sources[0]);
    assert.deepEqual([data.deviceEvents.count, data.tables[0].rows.length, data.communication.length > 0, problemKinds(problems)], [0, 18, true, ['cluster-without-kernels']]);
  });
});
