import assert from 'node:assert/strict';
import Papa from 'papaparse';
import { lanes, nanoseconds, readKernels, total } from './oracle';
import { rank0Text, wholeSample, type RunName } from './sampleFiles';

const RUNS: readonly RunName[] = ['baseline', 'optimized'];
const COLUMNS = ['Step Id', 'Device_id', 'Model ID', 'Task ID', 'Stream ID', 'Name', 'Type', 'OP State', 'Accelerator Core', 'Start Time(us)', 'Duration(us)',
  'Wait Time(us)', 'Block Dim', 'Mix Block Dim', 'HF32 Eligible', 'Input Shapes', 'Input Data Types', 'Input Formats', 'Output Shapes', 'Output Data Types',
  'Output Formats', 'Context ID'];

describe('sample: files', function () {
  this.timeout(180_000);

  it('writes 16 ranks a run in the folders of the article, under 150 MB', async () => {
    const { hashes, bytes } = await wholeSample();
    for (const run of RUNS) {
      const kernels = [...hashes.keys()].filter((file) => file.startsWith(`sample/${run}/`) && file.endsWith('/kernel_details.csv'));
      assert.equal(kernels.length, 16);
      for (const file of kernels) {
        assert.match(file, /^sample\/\w+\/outputs\/training\/\d{14}\/profiling_time\/step-5\/fuselens-synthetic_\d+_\d{17}_ascend_pt\/ASCEND_PROFILER_OUTPUT\/kernel_details\.csv$/);
      }
    }
    assert.ok(bytes < 150e6, `${bytes} bytes`);
  });

  it('writes valid rows: every column, a tab after times, quoted shapes, sorted by start, no overlap on the compute stream', async () => {
    for (const run of RUNS) {
      const text = await rank0Text(run, 'kernel_details.csv');
      const { rows, columns } = readKernels(text);
      assert.deepEqual(columns, COLUMNS);
      let previousEnd = 0;
      let previousStart = 0;
      for (const row of rows) {
        assert.equal(Object.keys(row.cells).length, COLUMNS.length);
        assert.ok(row.cells['Start Time(us)'].endsWith('\t'));
        assert.ok(row.start >= previousStart);
        assert.ok(row.duration > 0);
        assert.ok(nanoseconds(row.cells['Wait Time(us)']) >= 0n);
        previousStart = row.start;
        if (!row.communication) {
          assert.match(row.cells['Input Shapes'], /^("[\d,;]+"|N\/A)$/);
          assert.ok(row.start >= previousEnd);
          assert.ok(row.name.endsWith(row.type), `${row.name} ends with its type ${row.type}`);
          assert.equal(row.cells['Input Shapes'].split(';').length, row.cells['Input Data Types'].split(';').length);
          previousEnd = row.end;
        }
      }
      const modelled = rows.filter((row) => !row.communication && !row.name.includes('UnmodelledRemainder'));
      assert.ok(modelled.every((row) => row.cells['Input Shapes'] !== 'N/A'));
    }
  });

  it('writes summaries that agree with the kernels', async () => {
    for (const run of RUNS) {
      const { rows, base } = readKernels(await rank0Text(run, 'kernel_details.csv'));
      const step = lanes(rows);
      const [trace] = Papa.parse<Record<string, string>>(await rank0Text(run, 'step_trace_time.csv'), { header: true, skipEmptyLines: true }).data;
      assert.equal(Number(nanoseconds(trace.Computing)), step.computeBusy);
      assert.equal(Number(nanoseconds(trace['Communication(Not Overlapped)'])), step.exposed);
      assert.equal(Number(nanoseconds(trace.Overlapped)), step.overlapped);
      assert.equal(Number(nanoseconds(trace.Free)), step.free);
      assert.equal(Number(nanoseconds(trace.Stage)), step.span);

      const compute = rows.filter((row) => !row.communication);
      const statistic = Papa.parse<Record<string, string>>(await rank0Text(run, 'op_statistic.csv'), { header: true, skipEmptyLines: true }).data;
      assert.equal(statistic.reduce((sum, row) => sum + Number(row.Count), 0), compute.length);
      for (const line of statistic) {
        const same = compute.filter((row) => row.type === line['OP Type'] && row.core === line['Core Type']);
        assert.equal(Number(line.Count), same.length);
        assert.equal(Number(nanoseconds(line['Total Time(us)'])), total(same));
      }

      const text = await rank0Text(run, 'communication.json');
      const collectives = (JSON.parse(text) as { step5: { collective: Record<string, { 'Communication Time Info': Record<string, number> }> } }).step5.collective;
      const communication = rows.filter((row) => row.communication);
      assert.equal(Object.keys(collectives).length, communication.length);
      for (const row of communication) {
        const [key] = Object.keys(collectives).filter((name) => name.startsWith(`${row.name}@`));
        const time = collectives[key]['Communication Time Info'];
        assert.ok(Math.abs(time['Elapse Time(ms)'] * 1e6 - row.duration) <= 10, key);
        const start = new RegExp(`"${key}": \\{"Communication Time Info": \\{"Start Timestamp\\(us\\)": ([\\d.]+)`).exec(text)?.[1] ?? '';
        assert.equal(nanoseconds(start) - base, BigInt(row.start));
      }
    }
  });

  it('says in every rank\'s metadata and in the README that it is synthetic', async () => {
    for (const run of RUNS) {
      const metadata = JSON.parse(await rank0Text(run, 'profiler_metadata.json')) as { synthetic: boolean; sample: { tokens_per_step: number } };
      assert.equal(metadata.synthetic, true);
      assert.equal(metadata.sample.tokens_per_step, run === 'baseline' ? 131072 : 524288);
      const info = JSON.parse(await rank0Text(run, 'profiler_info_0.json')) as { rank_id: string; synthetic: string };
      assert.equal(info.rank_id, '0');
      assert.match(info.synthetic, /SYNTHETIC/);
    }
    const readme = (await wholeSample()).texts.get('sample/README.md') ?? '';
    assert.match(readme, /Nothing here was measured/);
    assert.match(readme, /3,301 \(1790 glue, 185 elementwise, 1326 of no family\)/);
    assert.match(readme, /could not hold together/);
  });

  it('reserves about 1 GB more in the baseline, constantly', async () => {
    const reserved = async (run: RunName): Promise<string[]> => Papa.parse<Record<string, string>>(await rank0Text(run, 'memory_record.csv'), { header: true, skipEmptyLines: true })
      .data.filter((row) => row.Component === 'PTA').map((row) => row['Total Reserved(MB)']);
    const [baseline, optimized] = [await reserved('baseline'), await reserved('optimized')];
    assert.equal(new Set(baseline).size, 1);
    assert.equal(new Set(optimized).size, 1);
    assert.ok(Math.abs((Number(baseline[0]) - Number(optimized[0])) / 1024 - 1.04) < 0.01);
  });
});
