import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FilePort } from '../../../src/engine/port';
import { Cancelled, ProblemList, UnreadableInput } from '../../../src/engine/profile/problems';
import { findAscendFolders } from '../../../src/engine/readers/ascendFolders';
import { rankFromName } from '../../../src/engine/readers/ascendInfo';
import { hasSharedData, sharedPath } from '../../sharedData';
import { find, kernelsOf, port, problemKinds, readSource } from './ascendSupport';

const HEADER = 'Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n';
const KERNELS = `${HEADER}0,aclnnAdd_AddAiCore_Add,Add,AI_VECTOR_CORE,1757000000000000.125\t,5.250\n`;

describe('Ascend folders', () => {
  let root = '';
  const write = (name: string, content: string): string => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const rank = (folder: string, number: number | undefined, files: Readonly<Record<string, string>> = { 'kernel_details.csv': KERNELS }): void => {
    write(`${folder}/profiler_info${number === undefined ? '' : `_${number}`}.json`, number === undefined ? '{}' : JSON.stringify({ rank_id: String(number) }));
    for (const [name, content] of Object.entries(files)) {
      write(`${folder}/ASCEND_PROFILER_OUTPUT/${name}`, content);
    }
  };

  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'fuselens ascend #1 %20 配置-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('of 64 ranks are listed without reading any large file', async () => {
    for (let number = 0; number < 64; number++) {
      rank(`node_${number >> 3}/host_${number}_20250904101112131_ascend_pt`, number);
    }
    const read: string[] = [];
    const spy: FilePort = {
      ...port,
      read: (file, offset, length) => {
        read.push(file);
        return port.read(file, offset, length);
      },
      stream: () => assert.fail('nothing is streamed'),
    };
    const { sources } = await findAscendFolders(spy, root, { problems: new ProblemList() });
    assert.deepEqual(sources.map((source) => source.rank), Array.from({ length: 64 }, (_, i) => i));
    assert.ok(read.every((file) => /profiler_(info|metadata)/.test(file)));
    assert.equal(new Set(sources.map(({ id }) => id)).size, 64);
    assert.equal(sources[0].group, 'node_0');
  });

  it('of several steps are groups, with the same ranks in each', async () => {
    for (const step of ['step-5', 'step-10']) {
      for (const number of [0, 1]) {
        rank(`run/${step}/rank${number}_ascend_pt`, number);
      }
    }
    const { sources, problems } = await find(root);
    assert.deepEqual(sources.map(({ group, rank: number }) => `${group}:${number}`), ['run/step-5:0', 'run/step-5:1', 'run/step-10:0', 'run/step-10:1']);
    assert.deepEqual(problems, []);
    const opened = await find(path.join(root, 'run', 'step-5', 'rank1_ascend_pt'));
    assert.deepEqual(opened.sources.map(({ group, rank: number, id }) => [group, number, id]), [['', 1, 'rank1_ascend_pt']]);
  });

  it('of a schedule that repeats become one recording each', async () => {
    for (const time of ['20250904101112131', '20250904101512131']) {
      rank(`host_1_${time}_ascend_pt`, 0);
      rank(`host_2_${time}_ascend_pt`, 1);
    }
    const { sources } = await find(root);
    assert.deepEqual(sources.map(({ group, rank: number }) => `${group}:${number}`).sort(), ['#1:0', '#1:1', '#2:0', '#2:1']);
  });

  it('are known by content under any name, from any place inside', async () => {
    rank('renamed/whatever', undefined);
    write('renamed/whatever/ASCEND_PROFILER_OUTPUT/op_statistic.csv', 'OP Type,Count\n');
    for (const place of ['renamed', 'renamed/whatever', 'renamed/whatever/ASCEND_PROFILER_OUTPUT', 'renamed/whatever/ASCEND_PROFILER_OUTPUT/kernel_details.csv', 'renamed/whatever/ASCEND_PROFILER_OUTPUT/op_statistic.csv']) {
      const { sources } = await find(path.join(root, place));
      assert.deepEqual(sources.map(({ format, rank: number }) => [format, number]), [['ascend-text', undefined]], place);
      assert.equal(kernelsOf((await readSource(sources[0])).data).length, 1, place);
    }
  });

  it('take the rank from metadata, else from the folder, never from the device', async () => {
    rank('a/host_1_20250904101112131_ascend_pt', undefined);
    write('a/host_1_20250904101112131_ascend_pt/profiler_metadata.json', JSON.stringify({ distributed_args: { rank: 12, world_size: 16 } }));
    rank('b/rank_7_ascend_pt', undefined);
    rank('c/host_4_20250904101112131_ascend_pt', undefined);
    const { sources } = await find(root);
    assert.deepEqual(sources.map((source) => source.rank), [12, 7, undefined]);
  });

  it('with both exports read text first, and the other on demand', async () => {
    rank('x_ascend_pt', 0, { 'kernel_details.csv': KERNELS, 'ascend_pytorch_profiler_0.db': 'SQLite format 3\0' });
    const text = await find(root);
    assert.deepEqual([text.alternative, text.sources[0].format, problemKinds(text.problems)], ['db', 'ascend-text', ['ascend-two-exports']]);
    const database = await find(root, 'db');
    assert.deepEqual([database.alternative, database.sources[0].format, database.problems[0].args?.['used']], ['text', 'ascend-db', 'database']);
  });

  it('with a database alone read that', async () => {
    rank('x_ascend_pt', 3, { 'ascend_pytorch_profiler_3.db': 'SQLite format 3\0', 'analysis.db': 'SQLite format 3\0' });
    const { sources, alternative } = await find(root);
    assert.deepEqual([sources[0].format, sources[0].rank, alternative, sources[0].files.length], ['ascend-db', 3, undefined, 3]);
  });

  it('that were never analysed say how to do it, for torch_npu, MindSpore and msprof', async () => {
    write('a/host_1_20250904101112131_ascend_pt/PROF_000001_20250904101112131_ABCDEFGH/device_0/x.bin', 'raw');
    write('b/host_1_20250904101112131_ascend_ms/FRAMEWORK/torch.op_range', 'raw');
    write('c/PROF_000001_20250904101112131_ABCDEFGH/host/x.bin', 'raw');
    const { sources, problems } = await find(root);
    assert.deepEqual(sources.map(({ format, read }) => [format, read]), [['ascend-raw', undefined], ['ascend-raw', undefined], ['ascend-raw', undefined]]);
    const commands = problems.map(({ args }) => String(args?.['command']).split('"')[0]);
    assert.deepEqual(commands, ['from torch_npu.profiler.profiler import analyse; analyse(', 'from mindspore.profiler.profiler import analyse; analyse(', 'msprof --export=on --output=']);
  });

  it('of msprof read the newest export, all slices of it', async () => {
    const summary = (name: string): string => KERNELS.replace('Name', 'Op Name').replace('Type', 'OP Type').replace('Accelerator Core', 'Task Type').replace('Start', 'Task Start').replace('Duration', 'Task Duration').replace('aclnnAdd', name);
    const folder = 'PROF_000001_20250904101112131_ABCDEFGH/mindstudio_profiler_output';
    write(`${folder}/op_summary_20250904101112.csv`, summary('old'));
    write(`${folder}/op_summary_slice_0_20250905101112.csv`, summary('first'));
    write(`${folder}/op_summary_slice_1_20250905101112.csv`, summary('second'));
    const { sources } = await find(root);
    assert.deepEqual(sources.map(({ format }) => format), ['ascend-op-summary']);
    const { data } = await readSource(sources[0]);
    assert.deepEqual(kernelsOf(data).map(({ name }) => name), ['first_AddAiCore_Add', 'second_AddAiCore_Add']);
  });

  it('of CANN 7 are found in device folders', async () => {
    write('PROF_000001_20250904101112131_ABCDEFGH/device_0/summary/op_summary_0_1_1_20230904101112.csv', KERNELS.replace('Name', 'Op Name'));
    const { sources } = await find(root);
    assert.equal(kernelsOf((await readSource(sources[0])).data).length, 1);
  });

  it('hold files under names of their own', async () => {
    write('all/rank0_kernel_details.csv', KERNELS);
    write('all/rank1_kernel_details.csv', KERNELS);
    const { sources } = await find(root);
    assert.deepEqual(sources.map(({ rank: number, group, id }) => [number, group, id]), [[0, 'all', 'all/rank0_kernel_details.csv'], [1, 'all', 'all/rank1_kernel_details.csv']]);
  });

  it('with nothing of ours give nothing', async () => {
    write('a/readme.txt', 'x');
    write('b/data.csv', 'a,b\n1,2\n');
    assert.deepEqual((await find(root)).sources, []);
  });

  it('stop when cancelled', async () => {
    rank('x_ascend_pt', 0);
    await assert.rejects(findAscendFolders(port, root, { problems: new ProblemList(), signal: AbortSignal.abort() }), Cancelled);
  });

  it('refuse single files that say nothing alone, with what to open instead', async () => {
    const part = write('loose/op_statistic.csv.txt', '');
    assert.deepEqual((await find(part)).sources, []);
    await assert.rejects(find(write('lone/data.csv', 'a,b\n')), (error: unknown) => error instanceof UnreadableInput && error.detail.code === 'error.ascend-csv-unknown');
  });
});

describe('rank in a name', () => {
  it('is the number after the word', () => {
    for (const [name, expected] of [['rank_0_ascend_pt', 0], ['rank0_ascend_pt', 0], ['test_rank_12', 12], ['x-rank-3', 3], ['RANK5', 5], ['prank5', undefined], ['host_3111_20250904_ascend_pt', undefined], ['frank_1', undefined]] as const) {
      assert.equal(rankFromName(name), expected, name);
    }
  });
});

describe('shared Ascend folders', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('show a cluster analysis below where nothing else lies, and let loose kernel tables stand before one', async () => {
    const alone = await find(sharedPath('ascend', 'msinsight-cluster'));
    assert.deepEqual(alone.sources.map(({ format, label }) => [format, label]), [['ascend-cluster', 'cluster_analysis_output']]);
    const loose = await find(sharedPath('ascend', 'msprof-analyze'));
    assert.deepEqual([loose.sources.length, loose.sources.filter(({ format }) => format === 'ascend-cluster').length], [3, 0]);
  });

  it('list every rank once, with what each lacks', async () => {
    const qwen = await find(sharedPath('ascend', 'msinsight-qwen3-4rank'));
    assert.deepEqual(qwen.sources.map(({ rank: number, read }) => [number, read !== undefined]), [[0, true], [1, true], [2, true], [3, true]]);
    assert.deepEqual(qwen.sources.map(({ withoutKernels }) => withoutKernels === true), [false, true, false, true]);
    assert.deepEqual(problemKinds(qwen.problems), ['ascend-rank-without-kernels', 'ascend-rank-without-kernels']);
    const { data } = await readSource(qwen.sources[2]);
    assert.deepEqual([data.rank, data.device, data.facts['torch_npu'], data.facts['cann'], data.facts['level']], [2, '4', '2.7.1', '8.3.RC1', 'Level2']);
  });
});
