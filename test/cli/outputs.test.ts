import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import Papa from 'papaparse';
import { KERNEL_COLUMNS } from '../../src/cli/output/kernelsCsv';
import type { AnalyzeReport } from '../../src/protocol/report';
import { hasSharedData, sharedPath } from '../sharedData';
import { holdContract } from './contract';
import { cli, temporaryFolder } from './runCli';

const PROFILES = [
  'ascend/msinsight-qwen3-4rank', 'ascend/msinsight-alexnet/text/level0', 'ascend/msinsight-alexnet/text/level2', 'ascend/msinsight-alexnet/db/level1', 'ascend/msinsight-alexnet/db/level0/rank0_ascend_pt',
  'ascend/msinsight-gpt3-2023', 'ascend/msprof-analyze/kernel_details_2023_arithmetic.csv', 'ascend/msprof-analyze/trace_view_2024-01.json', 'ascend/msinsight-misc/op_summary_1.csv',
  'kineto/cuda-a100-nccl-meta', 'kineto/cuda-v100-dlrm-8rank', 'kineto/cpu-only-gloo-rank34', 'kineto/mtia-inference-small', 'kineto/zip-of-rocm-triton', 'kineto/old-2021-01-autograd-api', 'kineto/nsys-saxpy-mpi',
  'kineto/rocm-sglang-decode-graph', 'kineto/cpu-toy',
];

interface TraceEvent { readonly ph: string; readonly pid: number; readonly tid: number; readonly ts?: number; readonly dur?: number; readonly name: string; readonly cat?: string }

describe('what fuselens writes', function () {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  const folder = temporaryFolder();
  const qwen = sharedPath('ascend/msinsight-qwen3-4rank');
  const nccl = sharedPath('kineto/cuda-a100-nccl-meta');

  for (const profile of PROFILES) {
    it(`JSON keeps the contract: ${profile}`, async () => {
      const { code, out, err } = await cli(['analyze', sharedPath(profile), '--json']);
      assert.equal(err, '');
      assert.equal(code, 0);
      holdContract(JSON.parse(out));
    });
  }

  it('figures of one rank and one step are those of the whole report', async () => {
    const whole = JSON.parse((await cli(['analyze', qwen, '--json'])).out) as AnalyzeReport;
    const two = JSON.parse((await cli(['analyze', qwen, '--json', '--rank', '2'])).out) as AnalyzeReport;
    assert.deepEqual(two.ranks.map(({ rank }) => rank), [2]);
    assert.deepEqual(two.ranks[0].kernels, whole.ranks.find(({ rank }) => rank === 2)?.kernels);
    const step = JSON.parse((await cli(['analyze', qwen, '--json', '--rank', '2', '--step', '13'])).out) as AnalyzeReport;
    assert.equal(step.ranks[0].steps.length, 1);
    assert.equal(step.ranks[0].kernels.count, step.ranks[0].steps[0].kernels);
  });

  it('terminal text fits the terminal, in both languages, and steers nothing', async () => {
    for (const language of ['en', 'zh-cn']) {
      const { code, out } = await cli(['analyze', qwen, '--lang', language], { columns: 100 });
      assert.equal(code, 0);
      assert.doesNotMatch(out, /[\u0000-\u0009\u000b-\u001f]/);
      assert.match(out, language === 'en' ? /Where the time goes/ : /时间去向/);
      assert.ok(out.split('\n').filter((line) => line.startsWith('  ') && !line.startsWith('  · ')).every((line) => [...line].length <= 140));
    }
  });

  it('Markdown has the tables and every definition it needs', async () => {
    const { out } = await cli(['analyze', nccl, '--md']);
    assert.match(out, /^# FuseLens report: /);
    for (const line of out.split('\n').filter((each) => each.startsWith('|'))) {
      assert.match(line, /\|$/);
    }
    assert.match(out, /\*\*Exposed communication\*\*: Communication time during which no compute kernel runs\./);
  });

  it('HTML is one file that asks for nothing', async () => {
    const file = folder.path('report.html');
    const { code, out } = await cli(['analyze', nccl, '--html', file]);
    assert.equal(code, 0);
    assert.equal(out, '');
    const html = readFileSync(file, 'utf8');
    assert.match(html, /^<!DOCTYPE html>/);
    assert.doesNotMatch(html, /<(script|link|img|iframe|object)\b|\burl\(|@import|https?:\/\//i);
    assert.match(html, /<svg/);
    assert.doesNotMatch(html, /<void|<float/, 'names are escaped');
  });

  it('SARIF is version 2.1.0 with problems as notifications', async () => {
    const file = folder.path('report.sarif');
    assert.equal((await cli(['analyze', sharedPath('hostile/s04-truncated/trace.json'), '--sarif', file])).code, 0);
    const log = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string; readonly runs: readonly { readonly tool: { readonly driver: { readonly name: string } }; readonly results: readonly unknown[]; readonly invocations: readonly { readonly executionSuccessful: boolean; readonly toolExecutionNotifications: readonly { readonly level: string; readonly message: { readonly text: string } }[] }[] }[] };
    assert.equal(log.version, '2.1.0');
    const [run] = log.runs;
    assert.equal(run.tool.driver.name, 'FuseLens');
    assert.deepEqual(run.results, []);
    assert.ok(run.invocations[0].toolExecutionNotifications.length > 0);
    for (const { level, message } of run.invocations[0].toolExecutionNotifications) {
      assert.ok(['note', 'warning', 'error'].includes(level));
      assert.match(message.text, /\S/);
    }
  });

  it('--kernels writes one row a kernel, with absolute times and the sums of the report', async () => {
    const file = folder.path('kernels.csv');
    const { out } = await cli(['analyze', qwen, '--json', '--kernels', file]);
    const report = JSON.parse(out) as AnalyzeReport;
    const { data, meta } = Papa.parse<Readonly<Record<string, string>>>(readFileSync(file, 'utf8'), { header: true, skipEmptyLines: true });
    assert.deepEqual(meta.fields, [...KERNEL_COLUMNS]);
    assert.equal(data.length, report.ranks.reduce((sum, { kernels }) => sum + (kernels.count ?? 0), 0));
    for (const { rank, kernels, families } of report.ranks) {
      const rows = data.filter((row) => row.rank === String(rank));
      assert.equal(rows.length, kernels.count ?? 0);
      assert.equal(rows.reduce((sum, row) => sum + BigInt(row.durationNs), 0n), BigInt(Math.round((kernels.totalUs ?? 0) * 1000)));
      families.forEach(({ family, count }) => assert.equal(rows.filter((row) => row.family === family).length, count));
      assert.ok(rows.every((row) => row.startNs.length === 19 && row.file === ''));
    }
  });

  it('--kernels writes the operators of a run on the CPU, and says so', async () => {
    const toy = sharedPath('kineto/cpu-toy');
    const file = folder.path('operators.csv');
    const { out, err } = await cli(['analyze', toy, '--json', '--kernels', file]);
    assert.match(err, /rows of .*operators\.csv are operators of the CPU/);
    assert.equal(err.split('operators of the CPU').length, 2);
    const rows = Papa.parse<Readonly<Record<string, string>>>(readFileSync(file, 'utf8'), { header: true, skipEmptyLines: true }).data;
    const events = readdirSync(toy).filter((name) => name.endsWith('.gz')).flatMap((name) => (JSON.parse(gunzipSync(readFileSync(path.join(toy, name))).toString()) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents).filter(({ cat }) => cat === 'cpu_op');
    const [inTraces, inRows] = [events, rows].map((all) => (name: string): number => all.filter((one) => one.name === name).length);
    for (const name of ['aten::linear', 'aten::rsqrt', 'aten::mean', 'aten::silu']) {
      assert.equal(inRows(name), inTraces(name), name);
    }
    // Each linear layer holds a product, which is not a second piece of work.
    assert.equal(inRows('aten::mm'), inTraces('aten::mm') - inTraces('aten::linear'));
    const { fingerprints } = JSON.parse(out) as AnalyzeReport;
    assert.ok((fingerprints ?? []).length > 0);
    assert.ok((fingerprints ?? []).every(({ unit }) => unit === 'operator'));
  });

  it('the Perfetto trace holds every event once, at its exact time, with nothing overlapping on a track', async () => {
    const file = folder.path('trace.json');
    const { code } = await cli(['export', nccl, '--perfetto', file]);
    assert.equal(code, 0);
    const text = readFileSync(file, 'utf8');
    const { traceEvents } = JSON.parse(text) as { readonly traceEvents: readonly TraceEvent[] };
    const report = JSON.parse((await cli(['analyze', nccl, '--json'])).out) as AnalyzeReport;
    const device = traceEvents.filter(({ ph, cat }) => ph === 'X' && ['kernel', 'communication', 'memcpy', 'memset'].includes(cat ?? ''));
    const [{ split }] = report.ranks;
    assert.equal(device.length, Object.values(split).reduce((sum, { count }) => sum + (count ?? 0), 0));
    const byTrack = new Map<string, TraceEvent[]>();
    for (const event of device) {
      byTrack.set(`${event.pid}/${event.tid}`, [...(byTrack.get(`${event.pid}/${event.tid}`) ?? []), event]);
    }
    const ns = (us: number | undefined): number => Math.round((us ?? NaN) * 1000);
    for (const events of byTrack.values()) {
      events.sort((a, b) => ns(a.ts) - ns(b.ts));
      events.slice(1).forEach((event, i) => assert.ok(ns(events[i].ts) + ns(events[i].dur) <= ns(event.ts), event.name));
    }
    assert.ok([...text.matchAll(/"ts":(-?\d+\.\d{3}),?/g)].length >= device.length, 'three decimals each');
    const starts = new Set(traceEvents.filter(({ ph }) => ph === 's').map(({ ts }) => ts));
    assert.ok(starts.size > 0, 'launch arrows');
  });

  it('the Perfetto trace holds every value of the counters that the profile has', async () => {
    const rank = sharedPath('ascend', 'msinsight-alexnet', 'text', 'level0', 'rank0_ascend_pt');
    const file = folder.path('counters.json');
    assert.equal((await cli(['export', rank, '--perfetto', file])).code, 0);
    type Counter = TraceEvent & { readonly args: Readonly<Record<string, number>> };
    const counted = (events: readonly TraceEvent[], name: string, key: string, scale: number): readonly number[] =>
      (events as readonly Counter[]).filter((event) => event.ph === 'C' && event.name === name).sort((a, b) => Number(a.ts) - Number(b.ts)).map(({ args }) => args[key] * scale);
    const written = (JSON.parse(readFileSync(file, 'utf8')) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents;
    const recorded = JSON.parse(readFileSync(path.join(rank, 'ASCEND_PROFILER_OUTPUT', 'trace_view.json'), 'utf8')) as readonly TraceEvent[];
    for (const [name, key, unit, scale, as] of [['QoS OTHERS', 'value', 'value', 1, 'QoS OTHERS'], ['APP/HBM', 'KB', 'B', 1024, 'NPU MEM · APP/HBM'], ['HBM 2/Read', 'Read(MB/s)', 'MB/s', 1, 'HBM 2/Read'], ['AI Core Freq', 'MHz', 'MHz', 1, 'AI Core Freq']] as const) {
      const expected = counted(recorded, name, key, scale);
      assert.ok(expected.length > 1, name);
      assert.deepEqual(counted(written, as, unit, 1), expected, name);
    }
  });
});
