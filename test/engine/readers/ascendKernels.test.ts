import assert from 'node:assert/strict';
import { EventKind } from '../../../src/engine/profile/columns';
import { isKernelHeader, kernelColumns, KERNEL_SLOTS } from '../../../src/engine/readers/ascendColumns';
import { hasSharedData, sharedPath } from '../../sharedData';
import { csvRows, kernelsOf, nanoseconds, oracleKernels, outputOf, problemKinds, readOnly } from './ascendSupport';

const alexnet = (level: number, rank: number): string => sharedPath('ascend', 'msinsight-alexnet', 'text', `level${level}`, `rank${rank}_ascend_pt`);
const qwen = (rank: number): string => sharedPath('ascend', 'msinsight-qwen3-4rank', `rank_${rank}_ascend_pt`);
const gpt = (rank: number): string => sharedPath('ascend', 'msinsight-gpt3-2023', `test_rank_${rank}`);

/** Folder or file → its kernel table and the rows it has by SOURCES.md. */
const TABLES: readonly (readonly [string, string, number])[] = [
  ...[0, 1, 2].flatMap((level) => [0, 1].map((rank) => [alexnet(level, rank), outputOf(alexnet(level, rank), 'kernel_details.csv'), 191] as const)),
  [qwen(0), outputOf(qwen(0), 'kernel_details.csv'), 2463], [qwen(2), outputOf(qwen(2), 'kernel_details.csv'), 2587],
  [gpt(0), outputOf(gpt(0), 'kernel_details.csv'), 21], [gpt(1), outputOf(gpt(1), 'kernel_details.csv'), 22],
  ...[['kernel_details_2023_arithmetic.csv', 591], ['kernel_details_2025_pipe_quoted_tab.csv', 29]].map(([name, rows]) => [sharedPath('ascend', 'msprof-analyze', String(name)), sharedPath('ascend', 'msprof-analyze', String(name)), Number(rows)] as const),
  [sharedPath('ascend', 'msinsight-misc', 'op_summary_1.csv'), sharedPath('ascend', 'msinsight-misc', 'op_summary_1.csv'), 21],
];

describe('Ascend kernel tables', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  for (const [where, file, rows] of TABLES) {
    it(`equal the CSV's own text: ${file.split('/').slice(-4).join('/')}`, async () => {
      const { data } = await readOnly(where);
      const found = kernelsOf(data);
      const expected = oracleKernels(file);
      assert.equal(expected.length, rows);
      assert.equal(found.length, rows);
      found.forEach((kernel, i) => {
        const { startNs, durationNs, name, core, shapes, dtypes, step, stream } = expected[i];
        assert.deepEqual({ startNs: kernel.startNs, durationNs: kernel.durationNs, name: kernel.name, core: kernel.core, shapes: kernel.shapes, dtypes: kernel.dtypes, step: kernel.step },
          { startNs, durationNs, name, core, shapes, dtypes, step }, `row ${i}`);
        if (expected[i].type !== '') {
          assert.equal(kernel.type, expected[i].type, `row ${i}`);
        }
        if (stream !== '') {
          assert.equal(kernel.stream, stream, `row ${i}`);
        }
        assert.equal(kernel.kind === EventKind.Communication, /^(HCCL|COMMUNICATION)$/.test(core), `row ${i}`);
      });
    });
  }

  it('read the same in chunks of any size', async () => {
    const whole = kernelsOf((await readOnly(alexnet(1, 0))).data);
    for (const chunkSize of [997, 4097]) {
      assert.deepEqual(kernelsOf((await readOnly(alexnet(1, 0), chunkSize)).data), whole);
    }
  });

  for (const folder of [alexnet(1, 0), alexnet(1, 1), alexnet(2, 0), alexnet(2, 1), qwen(0), qwen(2)]) {
    it(`add up to op_statistic.csv: ${folder.split('/').slice(-2).join('/')}`, async () => {
      const { data } = await readOnly(folder);
      const sums = new Map<string, { count: number; totalNs: bigint }>();
      for (const { kind, type, core, durationNs } of kernelsOf(data)) {
        if (kind === EventKind.Compute) {
          const sum = sums.get(`${type} ${core}`) ?? { count: 0, totalNs: 0n };
          sums.set(`${type} ${core}`, { count: sum.count + 1, totalNs: sum.totalNs + (durationNs ?? 0n) });
        }
      }
      const rows = csvRows(outputOf(folder, 'op_statistic.csv'));
      assert.equal(sums.size, rows.length);
      for (const row of rows) {
        const sum = sums.get(`${row['OP Type']} ${row['Core Type']}`);
        assert.equal(sum?.count, Number(row['Count']), row['OP Type']);
        const written = nanoseconds(row['Total Time(us)']) ?? 0n;
        const difference = Number((sum?.totalNs ?? 0n) - written);
        assert.ok(Math.abs(difference) <= 1 + Number(row['Count']) / 2, `${row['OP Type']}: ${difference} ns`);
      }
    });
  }

  it('prove types of Level0 kernels by their names only where the name says them', async () => {
    const level0 = kernelsOf((await readOnly(alexnet(0, 0))).data);
    const level1 = kernelsOf((await readOnly(alexnet(1, 0))).data);
    const derived = level0.filter(({ type }, i) => type !== '' && assert.equal(type, level1[i].type) === undefined);
    assert.ok(derived.length >= 160, String(derived.length));
    assert.ok(level0.some(({ name, type }) => name === 'Conv2D1' && type === ''));
    const { problems, data } = await readOnly(alexnet(0, 0));
    assert.ok(problemKinds(problems).includes('ascend-types-from-names'));
    assert.equal(data.coverage.shapes, false);
    assert.equal(data.coverage.streams, true, 'streams come from the trace');
  });
});

describe('kernel table headers', () => {
  const slots = (header: string): readonly string[] => {
    const columns = kernelColumns(header.split(','));
    return KERNEL_SLOTS.filter((_, i) => columns[i] >= 0);
  };

  it('of every generation are known', () => {
    assert.equal(slots('Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num,Mix Block Num,Input Shapes,Input Data Types').length, 10);
    assert.deepEqual(slots('Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Dim,Input Shapes,Input Data Types'),
      ['name', 'start', 'duration', 'type', 'core', 'stream', 'device', 'shapes', 'dtypes']);
    assert.deepEqual(slots('Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num'), ['name', 'start', 'duration', 'type', 'core', 'device']);
    assert.deepEqual(slots('Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)'), ['name', 'start', 'duration', 'core', 'stream', 'device']);
  });

  it('of other tables are not taken for kernels', () => {
    for (const header of ['OP Type,Core Type,Count,Total Time(us)', 'Name,Size(KB),Allocation Time(us),Duration(us)', 'Step,Computing,Free', '']) {
      assert.equal(isKernelHeader(header.split(',')), false, header);
    }
  });
});
