import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { detectProfile } from '../../src/engine/detect';
import { UnreadableInput } from '../../src/engine/profile/problems';
import { placedProblems } from '../../src/engine/readers/placedProblems';
import { nodeFilePort } from '../../src/node/filePort';
import { render } from '../../src/protocol/text';
import { hasSharedData, sharedPath } from '../sharedData';

const KERNELS = 'Name,Type,Start Time(us),Duration(us)\nAdd,Add,1.000,2.000\n';
const TRACE = JSON.stringify({ schemaVersion: 1, traceEvents: [{ ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 1, dur: 2, args: {} }] });

/** First bytes as their writers make them: a Perfetto packet, an XSpace, a pickle of protocol 4. */
const FOREIGN: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
  'run.pftrace': [Uint8Array.of(0x0a, 0x04, 0x50, 0x01, 0x08, 0x02), /protobuf trace \(\.pftrace\): open it at ui\.perfetto\.dev/],
  'host.xplane.pb': [Uint8Array.from([0x0a, 0x10, 0x08, 0x01, 0x12, 0x09, ...Buffer.from('/host:CPU'), 0x00]), /TensorFlow or JAX \(XPlane\): open it with XProf/],
  'memory.pickle': [Uint8Array.of(0x80, 0x04, 0x95, 0x10, 0, 0, 0, 0, 0, 0, 0), /Python pickle, .*open it at pytorch\.org\/memory_viz/],
};

describe('What is found in a folder and not opened', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'fuselens-left-'));
  });
  afterEach(() => rm(root, { recursive: true }));
  const put = async (name: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), content);
  };
  const told = async (): Promise<readonly string[]> => (await detectProfile(nodeFilePort(), root)).problems.map(({ kind, where }) => `${kind} ${path.relative(root, where)}`).sort();

  it('is named: loose tables and traces, cluster analyses, JSON that is no trace', async () => {
    await put('job/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', KERNELS);
    await put('old/kernel_details_2023.csv', KERNELS);
    await put('old/trace_view_2024.json', '[]');
    await put('sums/cluster_analysis_output/cluster_step_trace_time.csv', 'Step,Type,Index,Computing\n');
    await put('notes/list.json', '[1, 2]');
    assert.deepEqual(await told(), ['ascend-cluster-aside sums/cluster_analysis_output', 'ascend-file-aside old/kernel_details_2023.csv', 'ascend-file-aside old/trace_view_2024.json', 'file-passed-over notes/list.json']);
  });

  it('is not a trace of another profiler beside the ranks, whatever its name: that is opened', async () => {
    await put('job/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', KERNELS);
    await put('gpu/worker0.json', TRACE);
    const { sources } = await detectProfile(nodeFilePort(), root);
    assert.deepEqual(sources.map(({ id, format }) => [id, format]), [['job/rank_0_ascend_pt', 'ascend-text'], ['gpu/worker0.json', 'kineto']]);
  });

  it('is told where folders lie too deep to be searched', async () => {
    await put('rank0.pt.trace.json', TRACE);
    await put('1/2/3/4/5/6/7/8/9/rank1.pt.trace.json', TRACE);
    const { sources, problems } = await detectProfile(nodeFilePort(), root);
    assert.equal(sources.length, 1);
    assert.deepEqual(problems.map(({ kind, where }) => [kind, path.relative(root, where)]), [['folder-too-deep', '1/2/3/4/5/6/7/8']]);
  });

  for (const [name, [bytes, sentence]] of Object.entries(FOREIGN)) {
    it(`${name} alone in a folder is said to be what it is, with what opens it`, async () => {
      await put(`deep/${name}`, bytes);
      await assert.rejects(detectProfile(nodeFilePort(), root), (error: unknown) => error instanceof UnreadableInput && sentence.test(render(error.detail)) && render(error.detail).includes(name));
    });

    it(`${name} beside a trace is a note`, async () => {
      await put(name, bytes);
      await put('rank0.pt.trace.json', TRACE);
      assert.deepEqual(await told(), [`file-passed-over ${name}`]);
    });
  }

  it('is counted where nothing else lies there', async () => {
    for (const name of ['a.pickle', 'b.pickle', 'c.pickle']) {
      await put(name, FOREIGN['memory.pickle'][0]);
    }
    await assert.rejects(detectProfile(nodeFilePort(), root), (error: unknown) => error instanceof UnreadableInput && /a\.pickle is a Python pickle.*2 more files are no profile either\./.test(render(error.detail)));
  });

  it('is complete for the shared Ascend folder: every folder there is a rank or is named', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const ascend = sharedPath('ascend');
    const port = nodeFilePort();
    const { sources, problems } = await detectProfile(port, ascend);
    const spokenFor = [...sources.map(({ path: place }) => place), ...problems.map(({ where }) => where)];
    for (const folder of (await port.list(ascend)).filter(({ kind }) => kind === 'folder')) {
      assert.ok(spokenFor.some((place) => place.startsWith(path.join(ascend, folder.name))), folder.name);
    }
    const loose = (await port.list(path.join(ascend, 'msprof-analyze'))).map(({ name }) => path.join(ascend, 'msprof-analyze', name));
    assert.deepEqual(loose.filter((file) => !problems.some(({ where }) => where === file)), []);
  });
});

describe('Problems of one rank among several', () => {
  const problem = (where: string, file?: string): Parameters<typeof placedProblems>[0][number] => ({ kind: 'truncated', severity: 'warning', count: 1, where, ...(file === undefined ? {} : { args: { file, offset: 7 } }) });
  const placed = (source: { id: string; path: string }, where: string, file?: string): readonly unknown[] => placedProblems([problem(where, file)], source).map((one) => [one.where, one.args?.file]);

  it('name the folder of the rank before the file, in the sentence as well', () => {
    const rank = { id: 'job/rank_1_ascend_pt', path: '/data/job/rank_1_ascend_pt' };
    assert.deepEqual(placed(rank, 'kernel_details.csv line 8', 'kernel_details.csv'), [['job/rank_1_ascend_pt/kernel_details.csv line 8', 'job/rank_1_ascend_pt/kernel_details.csv']]);
    assert.deepEqual(placed(rank, 'rank_1_ascend_pt', 'step_trace_time.csv'), [['job/rank_1_ascend_pt', 'step_trace_time.csv']]);
  });

  it('do so for traces and members of archives, and only once', () => {
    assert.deepEqual(placed({ id: 'a/t.json.gz', path: '/data/a/t.json.gz' }, 't.json.gz byte 9'), [['a/t.json.gz byte 9', undefined]]);
    assert.deepEqual(placed({ id: 'a/x.zip!m.json', path: '/data/a/x.zip' }, 'x.zip › m.json byte 9'), [['a/x.zip › m.json byte 9', undefined]]);
    assert.deepEqual(placed({ id: 'a/t.json', path: '/data/a/t.json' }, 'a/t.json byte 9'), [['a/t.json byte 9', undefined]]);
    assert.deepEqual(placed({ id: 'a/t.json', path: '/data/a/t.json' }, '/elsewhere/t.json'), [['/elsewhere/t.json', undefined]]);
  });
});
