import assert from 'node:assert/strict';
import path from 'node:path';
import { EventKind } from '../../../src/engine/profile/columns';
import { hasSharedData, sharedPath } from '../../sharedData';
import { find, kernelsOf, problemKinds, readOnly, readSource } from './ascendSupport';

const hostile = (name: string): string => sharedPath('hostile', name);
const totalNs = (kernels: ReturnType<typeof kernelsOf>): bigint => kernels.reduce((sum, { durationNs }) => sum + (durationNs ?? 0n), 0n);

describe('hostile Ascend inputs', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  for (const chunkSize of [undefined, 1, 13]) {
    const by = chunkSize === undefined ? '' : ` (chunks of ${chunkSize})`;

    it(`a01: byte mark, CRLF, tabs, N/A, triple quotes${by}`, async () => {
      const { data, problems } = await readOnly(hostile('a01-ascend-csv-tabs-na-bom-crlf'), chunkSize);
      const kernels = kernelsOf(data);
      assert.equal(kernels.length, 7);
      assert.deepEqual(kernels.map(({ startNs }) => startNs), [0n, 40n, 80n, 120n, 160n, 200n, 240n].map((us) => 1757000000000000125n + us * 1000n));
      assert.equal(kernels.filter(({ durationNs }) => durationNs !== undefined).length, 6);
      assert.equal(totalNs(kernels), 111_500n);
      assert.equal(kernels[6].durationNs, undefined);
      assert.ok(kernels.every(({ shapes, step }) => shapes === '4,16;16,16' && step === '1'));
      assert.equal(data.deviceDetailSource.kind === 'file' && data.deviceDetailSource.header?.[0], 'Step Id');
      const unknown = problems.find(({ kind }) => kind === 'ascend-unknown-duration');
      assert.deepEqual([unknown?.count, unknown?.where], [1, 'kernel_details.csv line 8']);
    });

    it(`a02: few columns${by}`, async () => {
      const { data, problems } = await readOnly(hostile('a02-ascend-csv-level0-columns'), chunkSize);
      const kernels = kernelsOf(data);
      assert.deepEqual([kernels.length, totalNs(kernels)], [3, 55_750n]);
      assert.equal(kernels[2].kind, EventKind.Communication);
      assert.equal(data.coverage.shapes, false);
      assert.ok(kernels.every(({ shapes, core }) => shapes === '' && core === ''));
      const missing = problems.find(({ kind }) => kind === 'ascend-columns-missing');
      assert.equal(missing?.args?.['columns'], 'Stream ID, Input Shapes, Step Id');
    });

    it(`a03: empty kernel table${by}`, async () => {
      const { data, problems } = await readOnly(hostile('a03-ascend-csv-empty'), chunkSize);
      const kernels = kernelsOf(data);
      assert.deepEqual([kernels.length, totalNs(kernels)], [3, 55_750n]);
      assert.deepEqual(problemKinds(problems), ['ascend-file-empty', 'ascend-kernels-from-trace', 'ascend-no-step-rows', 'ascend-no-steps']);
      assert.equal(problems[0].where, 'kernel_details.csv');
    });

    it(`a04: cut and with a second header${by}`, async () => {
      const { data, problems } = await readOnly(hostile('a04-ascend-csv-cut-and-double-header'), chunkSize);
      const kernels = kernelsOf(data);
      assert.deepEqual([kernels.length, totalNs(kernels)], [5, 81_500n]);
      assert.equal(problems.find(({ kind }) => kind === 'ascend-csv-cut')?.where, 'kernel_details.csv line 8');
      assert.equal(problems.find(({ kind }) => kind === 'ascend-header-repeated')?.where, 'kernel_details.csv line 5');
    });
  }

  it('a05: half-copied ranks', async () => {
    const { sources, problems } = await find(hostile('a05-ascend-half-copied'));
    assert.deepEqual(sources.map(({ rank, read }) => [rank, read !== undefined]), [[0, true], [1, true], [2, false]]);
    for (const source of sources.slice(0, 2)) {
      const kernels = kernelsOf((await readSource(source)).data);
      assert.deepEqual([kernels.length, totalNs(kernels)], [3, 55_750n]);
    }
    assert.deepEqual(problems.map(({ kind, args }) => [kind, args?.['rank'], args?.['missing'], args?.['present']]),
      [['ascend-rank-incomplete', 2, 'kernel_details.csv, trace_view.json, ascend_pytorch_profiler.db', 'step_trace_time.csv']]);
  });

  it('s09: times as text with 16 + 3 digits', async () => {
    const { data } = await readOnly(hostile('s09-string-timestamps/trace_view.json'));
    const kernels = kernelsOf(data);
    assert.deepEqual(kernels.map(({ name }) => name), ['MatMulV2', 'Add', 'LayerNorm']);
    assert.equal(new Set(kernels.map(({ stream }) => stream)).size, 1);
    assert.equal(totalNs(kernels), 15_520n);
    const gaps = kernels.slice(1).map(({ startNs }, i) => (startNs ?? 0n) - (kernels[i].startNs ?? 0n) - (kernels[i].durationNs ?? 0n));
    assert.deepEqual(gaps, [0n, 1n]);
    assert.deepEqual(kernels.map(({ row }) => data.strings.get(data.hostEvents.name[data.deviceEvents.op[row]])), ['aten::op0', 'aten::op1', 'aten::op2']);
  });

  it('s10: collected, never analysed', async () => {
    const { sources, problems } = await find(hostile('s10-ascend-not-analysed'));
    assert.deepEqual(sources.map(({ rank, format, read }) => [rank, format, read]), [[0, 'ascend-raw', undefined]]);
    const folder = `${hostile('s10-ascend-not-analysed')}/hostx_3111_20250904101112131_ascend_pt`;
    assert.deepEqual(problems.map(({ kind, severity, args }) => [kind, severity, args?.['command']]),
      [['ascend-not-analysed', 'error', `from torch_npu.profiler.profiler import analyse; analyse("${folder}")`]]);
    // Its raw part, opened alone, is still to be analysed as a whole.
    const part = await find(path.join(folder, 'PROF_000001_20250904101112131_ABCDEFGH'));
    assert.deepEqual([part.sources.map(({ rank, format }) => [rank, format]), part.problems.map(({ kind, args }) => [kind, args?.['command']])],
      [[[0, 'ascend-raw']], [['ascend-not-analysed', `from torch_npu.profiler.profiler import analyse; analyse("${folder}")`]]]);
  });
});
