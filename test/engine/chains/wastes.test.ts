import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Papa from 'papaparse';
import { EngineSession } from '../../../src/engine/session';
import { FUSIONS } from '../../../src/engine/fusions';
import { engineEnvironment } from '../../../src/node/environment';
import { MESSAGES } from '../../../src/protocol/text';
import type { FingerprintEntry } from '../../../src/protocol/fingerprints';
import { hasSharedData, sharedPath } from '../../sharedData';

async function wastesOf(profile: string): Promise<readonly FingerprintEntry[]> {
  const session = new EngineSession(engineEnvironment({}));
  const { ranks } = await session.call('open', { path: profile });
  const rank = ranks.find((entry) => entry.readable && entry.rank === 0) ?? ranks.find((entry) => entry.readable);
  assert.ok(rank !== undefined);
  const { fingerprints } = await session.call('fingerprints', { rank: rank.id });
  return fingerprints.filter(({ kind }) => kind === 'waste');
}

const times = (list: readonly FingerprintEntry[], fusion: string): number => list.filter((entry) => entry.fusion === fusion).reduce((sum, { occurrences }) => sum + occurrences, 0);

interface Row { readonly Name: string; readonly Type: string; readonly 'Accelerator Core': string }
const rowsOf = (...parts: readonly string[]): readonly Row[] => Papa.parse<Row>(readFileSync(sharedPath(...parts), 'utf8'), { header: true, skipEmptyLines: true }).data;

describe('wastes', () => {
  it('each have an explanation', () => {
    assert.deepEqual(FUSIONS.filter(({ kind, id }) => kind === 'waste' && !(`waste.${id}` in MESSAGES)).map(({ id }) => id), []);
  });

  describe('in real profiles', () => {
    if (!hasSharedData()) {
      it.skip('need ../shared/data');
      return;
    }

    it('casts after the optimizer, and loops over gradients, of Qwen3 on Ascend', async () => {
      const found = await wastesOf(sharedPath('ascend/msinsight-qwen3-4rank'));
      // The only long row of casts in kernel_details.csv, by a plain walk over its rows.
      const types = rowsOf('ascend', 'msinsight-qwen3-4rank', 'rank_0_ascend_pt', 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv').map(({ Type }) => Type.trim());
      let casts = 0;
      for (let from = 0; from < types.length;) {
        let to = from;
        while (types[to] === 'Cast') {
          to++;
        }
        casts += to - from >= 8 ? to - from : 0;
        from = to + 1;
      }
      assert.equal(casts, 57);
      assert.equal(times(found, 'cast-storm'), casts);
      assert.deepEqual(found.filter(({ fusion }) => fusion === 'parameter-loop').map(({ title, occurrences, kernels }) => [title, occurrences, kernels.length]).sort(), [['Loop over parameters, kernel by kernel', 28, 1], ['Loop over parameters, kernel by kernel', 29, 2]]);
      assert.equal(times(found, 'mask-rebuilt') + times(found, 'trans-data') + times(found, 'ai-cpu'), 0);
    });

    it('layout conversions of AlexNet on Ascend', async () => {
      const wanted = rowsOf('ascend', 'msinsight-alexnet', 'text', 'level1', 'rank0_ascend_pt', 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv').filter(({ Type }) => Type === 'TransData').length;
      assert.equal(wanted, 57);
      assert.equal(times(await wastesOf(sharedPath('ascend/msinsight-alexnet/text/level1')), 'trans-data'), wanted);
      // Level 0 has no types: names alone tell.
      assert.equal(times(await wastesOf(sharedPath('ascend/msinsight-alexnet/text/level0')), 'trans-data'), wanted);
    });

    it('operators on the AI CPU, collectives not among them', async () => {
      const file = 'kernel_details_2023_arithmetic.csv';
      const wanted = rowsOf('ascend', 'msprof-analyze', file).filter((row) => row['Accelerator Core'] === 'AI_CPU').length;
      const found = await wastesOf(sharedPath('ascend/msprof-analyze', file));
      assert.equal(wanted, 7);
      assert.equal(times(found, 'ai-cpu'), wanted);
      // Its causal mask is built once.
      assert.equal(times(found, 'mask-rebuilt'), 0);
    });

    it('optimizers that walk over parameters, on CUDA', async () => {
      const [adagrad] = (await wastesOf(sharedPath('kineto/cuda-v100-dlrm-8rank'))).filter(({ fusion }) => fusion === 'parameter-loop');
      // `Optimizer.step#Adagrad.step` launches four kernels for each of 16 parameters.
      assert.deepEqual([adagrad?.occurrences, adagrad?.kernels.length, adagrad?.phase], [16, 4, 'optimizer']);
      const [sgd] = (await wastesOf(sharedPath('kineto/old-2021-06-resnet50-w0'))).filter(({ fusion }) => fusion === 'parameter-loop');
      // ResNet-50 has 161 parameters; six steps with momentum.
      assert.deepEqual([sgd?.occurrences, sgd?.kernels.length], [161 * 6, 3]);
    });

    it('small copies the host waits for', async () => {
      // The trace has 75 calls of cudaStreamSynchronize, each after one of 30 + 45 pageable copies of at most 704 bytes, in five steps.
      const found = (await wastesOf(sharedPath('kineto/cuda-a100-16rank-r0'))).filter(({ fusion }) => fusion === 'scalar-copy');
      assert.deepEqual(found.map(({ occurrences }) => occurrences).sort(), [30, 45]);
      assert.ok(found.every(({ stallUs }) => stallUs !== null && stallUs > 0));
      // Two a step, the batch and its labels, are no habit; eager Qwen reads one value in all.
      assert.equal(times(await wastesOf(sharedPath('kineto/old-2021-06-resnet50-w0')), 'scalar-copy'), 0);
      assert.equal(times(await wastesOf(sharedPath('kineto/cuda-h100-qwen05b-infer-stacks')), 'scalar-copy'), 0);
    });
  });

  describe('and what looks like one', () => {
    let folder: string;

    before(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-wastes-'));
    });

    after(() => rm(folder, { recursive: true, force: true }));

    let made = 0;
    /** A profile of kernels by type (`Type` or `Type@core`), 5 µs each. */
    const profileOf = async (types: readonly string[], durationUs = 5): Promise<string> => {
      const root = path.join(folder, String(made++), 'host_1_20260101000000000_ascend_pt');
      await mkdir(path.join(root, 'ASCEND_PROFILER_OUTPUT'), { recursive: true });
      await writeFile(path.join(root, 'profiler_info_0.json'), JSON.stringify({ rank_id: 0 }));
      const rows = types.map((text, i) => {
        const [type, core = 'AI_VECTOR_CORE'] = text.split('@');
        return `1,0,2,${type},${type},dynamic,${core},${1000 + i * 1000}.000\t,${durationUs}.000,0,8`;
      });
      await writeFile(path.join(root, 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'), ['Step Id,Device_id,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim', ...rows, ''].join('\n'));
      return path.dirname(root);
    };
    const repeat = (count: number, ...types: readonly string[]): string[] => Array.from({ length: count }, () => types).flat();
    const found = async (types: readonly string[], durationUs?: number): Promise<readonly string[]> => (await wastesOf(await profileOf(types, durationUs))).map(({ fusion, occurrences }) => `${fusion} ${occurrences}`).sort();

    it('casts: eight in a row, not seven, not between other kernels', async () => {
      assert.deepEqual(await found(['MatMulV3', ...repeat(8, 'Cast'), 'MatMulV3']), ['cast-storm 8']);
      assert.deepEqual(await found(['MatMulV3', ...repeat(7, 'Cast'), 'MatMulV3']), []);
      assert.deepEqual(await found(repeat(40, 'Cast', 'MatMulV3')), []);
    });

    it('a mask in each layer, not one per pass, nor one for each of two kinds of attention', async () => {
      const layer = ['MatMulV3', 'BatchMatMulV2', 'SoftmaxV2', 'BatchMatMulV2', 'MatMulV3'];
      assert.deepEqual(await found(repeat(6, 'Range', 'Less', 'SelectV2', ...layer)), ['mask-rebuilt 6']);
      assert.deepEqual(await found(repeat(6, 'ZerosLike', 'Triu', ...layer)), ['mask-rebuilt 6']);
      assert.deepEqual(await found(repeat(5, 'Range', 'Less', 'SelectV2', ...repeat(6, ...layer))), []);
      assert.deepEqual(await found(repeat(3, ...repeat(2, 'Range', 'Less', 'SelectV2', ...layer), ...repeat(6, ...layer))), []);
      // A mask that is applied is not built: no triangle, no positions.
      assert.deepEqual(await found(repeat(6, 'Equal', 'MaskedFill', ...layer)), []);
    });

    it('loops over parameters, not the layers of a model, nor one list operator', async () => {
      assert.deepEqual(await found(repeat(8, 'Muls', 'Lerp', 'Addcmul', 'Sqrt', 'Addcdiv')), ['parameter-loop 8']);
      assert.deepEqual(await found(repeat(7, 'Muls', 'Lerp', 'Addcmul', 'Sqrt', 'Addcdiv')), []);
      assert.deepEqual(await found(repeat(20, 'Muls', 'Add', 'MatMulV3')), []);
      assert.deepEqual(await found(repeat(20, 'ForeachMulScalar')), []);
      // Adding up twenty tensors is a sum.
      assert.deepEqual(await found(repeat(20, 'Add')), []);
    });

    it('layout conversions between operators, not one on the way in and one on the way out', async () => {
      assert.deepEqual(await found(repeat(8, 'TransData', 'MatMulV3')), ['trans-data 8']);
      assert.deepEqual(await found(['TransData', ...repeat(250, 'MatMulV3'), 'TransData']), []);
    });

    it('the AI CPU: what computes there, not what communicates there', async () => {
      assert.deepEqual(await found(repeat(2, 'Cumsum@AI_CPU', 'MatMulV3')), ['ai-cpu 2']);
      assert.deepEqual(await found(['Cumsum@AI_CPU', 'MatMulV3']), []);
      assert.deepEqual(await found(['Cumsum@AI_CPU', 'MatMulV3'], 60), ['ai-cpu 1']);
      assert.deepEqual(await found(repeat(9, 'hcom_allReduce_@AI_CPU', 'MatMulV3'), 60), []);
    });
  });
});
