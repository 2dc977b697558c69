import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { MemorySeries } from '../../../src/engine/profile/columns';
import { asReason, Cancelled, ProblemList, UnreadableInput } from '../../../src/engine/profile/problems';
import { readMemory } from '../../../src/engine/readers/ascendMemory';
import { readSideTable } from '../../../src/engine/readers/csvTables';
import { TimeBase } from '../../../src/engine/readers/csvTime';
import { MESSAGES, render, renderProblem } from '../../../src/protocol/text';
import { hasSharedData, sharedPath } from '../../sharedData';
import { csvRows, find, kernelsOf, nanoseconds, outputOf, port, problemKinds, readOnly, readSource } from './ascendSupport';

const alexnet = (level: number, rank: number): string => sharedPath('ascend', 'msinsight-alexnet', 'text', `level${level}`, `rank${rank}_ascend_pt`);
const qwen = (rank: number): string => sharedPath('ascend', 'msinsight-qwen3-4rank', `rank_${rank}_ascend_pt`);
const gpt = (rank: number): string => sharedPath('ascend', 'msinsight-gpt3-2023', `test_rank_${rank}`);

describe('Ascend side files', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('are tables with the rows of SOURCES.md', async () => {
    const rows = async (folder: string): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries((await readOnly(folder)).data.tables.map(({ file, rows: { length } }) => [file, length]));
    assert.deepEqual(await rows(alexnet(1, 0)), { 'api_statistic.csv': 57, 'l2_cache.csv': 179, 'op_statistic.csv': 33, 'operator_details.csv': 859, 'operator_memory.csv': 184, 'step_trace_time.csv': 1 });
    assert.deepEqual(await rows(qwen(2)), { 'api_statistic.csv': 109, 'op_statistic.csv': 46, 'operator_memory.csv': 3226, 'step_trace_time.csv': 1 });
    assert.deepEqual(await rows(gpt(1)), { 'operator_details.csv': 3, 'operator_memory.csv': 21, 'static_op_mem.csv': 56, 'step_trace_time.csv': 1 });
  });

  it('keep memory exact: times in ns, sizes in bytes', async () => {
    const { data } = await readOnly(qwen(0));
    const expected = csvRows(outputOf(qwen(0), 'memory_record.csv'));
    assert.equal(expected.length, 18659);
    for (const component of new Set(expected.map((row) => row['Component']))) {
      const rows = expected.filter((row) => row['Component'] === component);
      const series = data.memory.find((one) => one.component === component);
      assert.equal(series?.timeNs.length, rows.length, component);
      rows.forEach((row, i) => {
        assert.equal(data.baseNs + BigInt(series?.timeNs[i] ?? 0), nanoseconds(row['Timestamp(us)']));
        for (const [name, column] of [['Total Allocated(MB)', series?.allocatedBytes], ['Total Reserved(MB)', series?.reservedBytes], ['Total Active(MB)', series?.activeBytes]] as const) {
          const megabytes = row[name].trim();
          assert.ok(Object.is(column?.[i], megabytes === '' ? NaN : Math.round(Number(megabytes) * 1048576)), `${component} ${i} ${name}`);
        }
      });
    }
    assert.ok(data.memory.some(({ component }) => component === 'module: HCCL'));
  });

  it('say of times that a spreadsheet rounded that they are unusable, and keep the sizes', async () => {
    const { data, problems } = await readOnly(gpt(1));
    const rows = csvRows(outputOf(gpt(1), 'memory_record.csv')).filter((row) => row['Component'] === 'APP');
    assert.ok(rows.some((row) => row['Timestamp(us)'] === '1.69512E+15'));
    const app = data.memory.find(({ component }) => component === 'APP');
    assert.deepEqual(Array.from(app?.reservedBytes ?? []), rows.map((row) => Math.round(Number(row['Total Reserved(MB)']) * 1048576)));
    assert.equal(problems.find(({ kind }) => kind === 'ascend-unknown-time')?.where, 'memory_record.csv');
  });

  it('summarise communication as communication.json does', async () => {
    const { data } = await readOnly(qwen(2));
    const content = JSON.parse(readFileSync(outputOf(qwen(2), 'communication.json'), 'utf8')) as Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, { readonly 'Communication Time Info': Readonly<Record<string, number>> }>>>>>>;
    const expected = Object.entries(content).flatMap(([step, kinds]) => Object.entries(kinds).flatMap(([kind, operations]) => Object.entries(operations).filter(([key]) => key !== 'Total Op Info')
      .map(([key, value]) => [step, kind, key, value['Communication Time Info']['Elapse Time(ms)'], value['Communication Time Info']['Wait Time(ms)']])));
    assert.equal(expected.length, 23);
    assert.deepEqual(data.communication.map(({ step, kind, name, group, elapseMs, waitMs }) => [step, kind, `${name}@${group}`, elapseMs, waitMs]), expected);
    assert.ok(data.links.every(({ source, destination, bandwidthGbs }) => source >= 0 && destination >= 0 && bandwidthGbs >= 0));
    assert.ok((await readOnly(alexnet(1, 0))).data.links.some(({ operation, source, destination, transport }) => operation === 'allreduce-top1' && source === 0 && destination === 7 && transport === 'HCCS'));
  });

  it('put level, versions, settings and environment into facts', async () => {
    const { facts } = (await readOnly(alexnet(0, 1))).data;
    assert.deepEqual([facts['level'], facts['with_stack'], facts['record_shapes'], facts['aic_metrics']], ['Level0', 'true', 'true', 'ACL_AICORE_NONE']);
    assert.equal((JSON.parse(facts['ENV_VARIABLES']) as Readonly<Record<string, string>>)['ASCEND_LAUNCH_BLOCKING'], '');
    assert.equal((JSON.parse((await readOnly(qwen(2))).data.facts['distributed_args']) as Readonly<Record<string, number>>)['pipeline_model_parallel_size'], 2);
  });

  it('have sentences for every problem they can raise', async () => {
    for (const folder of [alexnet(0, 0), gpt(0), gpt(1), sharedPath('hostile', 'a03-ascend-csv-empty'), sharedPath('hostile', 'a04-ascend-csv-cut-and-double-header')]) {
      for (const problem of (await readOnly(folder)).problems) {
        const { message, effect } = renderProblem(problem);
        assert.ok(!/\{\w+\}/.test(message + effect), message);
        assert.ok(effect !== '' && message.includes(problem.where.split(' ')[0]) || problem.kind === 'ascend-no-trace', message);
      }
    }
    assert.ok(Object.keys(MESSAGES).filter((key) => key.startsWith('problem.ascend-')).length > 30);
  });
});

describe('large and odd side files', () => {
  let root = '';
  const write = (name: string, content: string | Uint8Array): string => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'fuselens-side-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('thin memory that is too long to draw, with exact peaks', async () => {
    const count = 400_000;
    const lines = ['Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Device Type'];
    for (let i = 0; i < count; i++) {
      lines.push(`PTA,${1757000000000000 + i}.500\t,${i === 123_457 ? 9999 : 100 + (i % 7)},${i === 300_001 ? 12345 : 200},NPU:0`);
    }
    const problems = new ProblemList();
    const [series]: readonly MemorySeries[] = await readMemory({ port, problems }, write('memory_record.csv', lines.join('\n')), new TimeBase());
    assert.ok(series.timeNs.length < 140_000);
    assert.equal(Math.max(...sample(series.allocatedBytes)), 9999 * 1048576);
    assert.equal(Math.max(...sample(series.reservedBytes)), 12345 * 1048576);
    assert.equal(series.timeNs[series.allocatedBytes.indexOf(9999 * 1048576)], 123_457_000);
    assert.ok(series.timeNs.every((time, i) => i === 0 || time > series.timeNs[i - 1]));
    assert.deepEqual(problemKinds(problems.toArray()), ['ascend-memory-thinned']);
  });

  it('read the first part of a table that is too large', async () => {
    const problems = new ProblemList();
    const table = await readSideTable({ port, problems }, write('operator_memory.csv', `Name,Size\n${'aten::add,12\t\n'.repeat(1000)}`), 1000);
    assert.ok(table !== undefined && table.rows.length > 50 && table.rows.length < 100);
    assert.ok(table.rows.every(([name, size]) => name === 'aten::add' && size === '12'));
    assert.deepEqual(problemKinds(problems.toArray()), ['ascend-table-large']);
  });

  it('read tables of old Macs, and say of UTF-16 what to do', async () => {
    const table = 'Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n3,a,Add,AI_CORE,1757000000000000.125\t,1.5\n3,b,Mul,AI_CORE,1757000000000002.125\t,2.5\n';
    const side = async (content: string | Uint8Array): Promise<readonly [readonly (readonly string[])[] | undefined, readonly string[]]> => {
      const problems = new ProblemList();
      const found = await readSideTable({ port, problems }, write('operator_memory.csv', content));
      return [found?.rows, problemKinds(problems.toArray())];
    };
    const kernels = 'x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv';
    for (const chunkSize of [undefined, 1, 7]) {
      write(kernels, table.replaceAll('\n', '\r'));
      const { data, problems } = await readOnly(root, chunkSize);
      assert.deepEqual(kernelsOf(data).map(({ name, durationNs }) => [name, durationNs]), [['a', 1500n], ['b', 2500n]]);
      assert.deepEqual(problemKinds(problems), ['ascend-columns-missing', 'ascend-no-trace']);
    }
    assert.deepEqual(await side('Name,Size\ra,1\rb,2\r'), [[['a', '1'], ['b', '2']], []]);

    for (const wide of [Buffer.from(`\ufeff${table}`, 'utf16le'), Buffer.from(table, 'utf16le'), Buffer.from(`\ufeff${table}`, 'utf16le').swap16()]) {
      const alone = write('alone/kernel_details.csv', wide);
      await assert.rejects(find(alone), (error) => error instanceof UnreadableInput && error.detail.code === 'error.ascend-csv-utf16');
      write(kernels, wide);
      const { sources } = await find(path.join(root, 'x_ascend_pt'));
      const problems = new ProblemList();
      await assert.rejects(async () => sources[0].read?.({ port, problems }), UnreadableInput);
      assert.ok(problemKinds(problems.toArray()).includes('ascend-csv-utf16'));
      assert.deepEqual(await side(wide), [undefined, ['ascend-csv-utf16']]);
    }
  });

  it('read kernels with empty names, bytes that are no UTF-8, step -1 and zero times', async () => {
    const rows = [
      'Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)', '-1,,Add,AI_CORE,1757000000000000.125\t,1.5', '3,b\xff\xfed,Mul,AI_CORE,1757000000000002.125\t,1.5',
      'None,c,Mul,AI_CORE,0,1.5', ',d,Mul,AI_CORE,1757000000000006.125\t,-2', '3,e,Mul,AI_CORE,1757000000000008.125\t,1e-3', '3,f,Mul,AI_CORE,1.757E+15,2.25',
    ];
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', Buffer.from(rows.join('\n'), 'latin1'));
    const { data, problems } = await readOnly(root);
    assert.deepEqual(kernelsOf(data).map(({ name, startNs, durationNs, step }) => [name, startNs === undefined ? undefined : startNs - 1757000000000000125n, durationNs, step]), [
      ['', 0n, 1500n, ''], ['b\ufffd\ufffdd', 2000n, 1500n, '3'], ['d', 6000n, undefined, ''], ['e', 8000n, 1n, '3'], ['c', undefined, 1500n, ''], ['f', undefined, 2250n, '3'],
    ]);
    assert.deepEqual(problemKinds(problems), ['ascend-columns-missing', 'ascend-negative-duration', 'ascend-no-trace', 'ascend-unknown-start', 'ascend-unnamed']);
    assert.deepEqual(problems.find(({ kind }) => kind === 'ascend-unknown-start'), { kind: 'ascend-unknown-start', severity: 'warning', count: 2, where: 'kernel_details.csv line 4', args: { file: 'kernel_details.csv', line: 4 } });
  });

  it('flag border steps that lost kernels, and only those', async () => {
    const header = 'Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)';
    const lines = [5, 10, 10, 10, 10, 6].flatMap((count, step) => Array.from({ length: count }, (_, i) => `${step + 1},k,Add,AI_CORE,${1757000000000000 + step * 100 + i}.000\t,0.5`));
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', [header, ...lines].join('\n'));
    const { problems } = await readOnly(root);
    assert.deepEqual(problems.filter(({ kind }) => kind.endsWith('-short')).map(({ kind, args }) => [kind, args?.['step'], args?.['kernels'], args?.['usual']]),
      [['ascend-first-step-short', 'ProfilerStep#1', 5, 10], ['ascend-last-step-short', 'ProfilerStep#6', 6, 10]]);
  });

  it('recognise communication before AI-CPU, and fused kernels as compute', async () => {
    const rows = ['Name,Type,Accelerator Core,Start Time(us),Duration(us)', 'hcom_allReduce__1_0_1,hcom_allReduce_,AI_CPU,1.0,1', 'aclnnAllGatherMatmul_AllGatherMatmulAiCore_AllGatherMatmul,AllGatherMatmul,MIX_AIC,2.0,1',
      'aclnnMatmulReduceScatter_x_MatmulReduceScatter,N/A,N/A,3.0,1', 'aclnnIndex_IndexAiCpu_Index,Index,AI_CPU,4.0,1', 'RunAlgorithm,AllReduce,COMMUNICATION,5.0,1'];
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', rows.join('\n'));
    const { data } = await readOnly(root);
    assert.deepEqual(Array.from(data.deviceEvents.kind), [1, 0, 0, 0, 1]);
    assert.deepEqual(Array.from(data.deviceEvents.flags), [0, 1, 1, 0, 0]);
    assert.equal(data.strings.get(data.deviceEvents.type[2]), 'MatmulReduceScatter');
  });

  it('refuse a rank whose files are all empty, and stop when cancelled', async () => {
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', '');
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json', '[]');
    const { sources } = await find(root);
    await assert.rejects(readSource(sources[0]), (error: unknown) => {
      const detail = error instanceof UnreadableInput ? error.detail : { code: String(error) };
      assert.match(render(detail), /^Neither a kernel table nor a trace could be read in .*: kernel_details\.csv is empty \(0 bytes\)\.$/);
      // The same as one rank of several: what is wrong stays in the sentence.
      const problem = { kind: 'rank-unreadable', severity: 'error', count: 1, where: 'rank 3', args: asReason(detail) } as const;
      assert.match(renderProblem(problem).message, /^rank 3 could not be read: Neither .*: kernel_details\.csv is empty/);
      return true;
    });
    write('x_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv', 'Name,Start Time(us),Duration(us)\na,1.0,1\n');
    await assert.rejects(async () => sources[0].read?.({ port, problems: new ProblemList(), signal: AbortSignal.abort() }), Cancelled);
  });
});

function sample(values: Float64Array): number[] {
  return Array.from(values).sort((a, b) => b - a).slice(0, 10);
}
