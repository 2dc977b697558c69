import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROTARY_TABLE, LOSS_CHUNK, LOSS_END, LOSS_START } from '../../src/engine/sample/model/ends';
import type { Block } from '../../src/engine/sample/model/kernel';
import type { LayerKind } from '../../src/engine/sample/model/dimensions';
import { BASELINE_MODEL } from '../../src/engine/sample/model/runModel';
import { WORKSPACE_FILES } from '../../src/engine/sample/workspace/files';

/** The sample's source, run by PyTorch, must launch what the sample's kernels show. Needs a Python with torch. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

interface Recorded {
  readonly torch: string;
  readonly losses: readonly number[];
  readonly finite: boolean;
  readonly gatedNormError: number;
  readonly layers: Readonly<Record<LayerKind, { readonly forward: readonly string[]; readonly backward: readonly string[] }>>;
  readonly rotary: readonly string[];
  readonly loss: readonly string[];
}

/** Which kernels of the sample one recorded operator stands for; the CPU's own attention operator included. */
const KERNELS: Readonly<Record<string, readonly string[]>> = {
  '_to_copy.': ['Cast'], 'pow.Tensor_Scalar': ['Pows'], 'mean.dim': ['Mean'], 'rsqrt.': ['Rsqrt'], 'mul.Tensor': ['Mul'], 'mul.Scalar': ['Muls'],
  'mm.': ['MatMul'], 'constant_pad_nd.': ['StridedSlice', 'Pad'], 'silu.': ['Silu'], 'silu_backward.': ['SiluGrad'], 'sum.dim_IntList': ['Sum'], 'sum.': ['Sum'],
  'div.Scalar': ['Divs'], 'cat.': ['Cat'], 'neg.': ['Neg'], 'sigmoid.': ['Sigmoid'], 'sigmoid_backward.': ['SigmoidGrad'], 'clone.': ['Transpose'],
  'select_backward.': ['Zero', 'Move'], 'slice_backward.': ['Zero', 'Move'], 'cos.': ['Cos'], 'sin.': ['Sin'], 'arange.': ['Range'],
  'zeros.': ['Zero'], 'zeros_like.': ['Zero'], 'ones_like.': ['Ones'], '_log_softmax.': ['LogSoftmax'], 'nll_loss_forward.': ['LossMemSet', 'Loss'],
  'nll_loss_backward.': ['LossGrad'], '_log_softmax_backward_data.': ['LogSoftmaxGrad'], 'add_.Tensor': ['Add'],
};

/** Copies that a device makes because an input is strided: no operator of their own. */
const SATELLITE = /^SliceFor/;
const OPAQUE = /^(chunk_|solve_|merge_|recompute_|prepare_)/;

/**
 * Recorded names as kernels of the sample. `add.Tensor` is a scalar add inside a norm (after the mean, and for 1 + w after its
 * cast); `x.pow(1)` in the backward of a square launches nothing on the device.
 */
function kernelsOf(operators: readonly string[]): string[] {
  return operators.flatMap((raw, i): readonly string[] => {
    const name = raw.replace(/\.default$/, '.');
    const before = operators[i - 1] ?? '';
    if (name === 'add.Tensor') {
      const scalar = before === 'mean.dim' || (before.startsWith('_to_copy') && operators[i + 1] === 'mul.Tensor' && operators[i - 2] === 'mul.Tensor');
      return [scalar ? 'Adds' : 'Add'];
    }
    if (name === 'pow.Tensor_Scalar' && before === 'div.Scalar') {
      return [];
    }
    if (name.startsWith('_scaled_dot_product')) {
      return [name.includes('backward') ? 'AttentionGrad' : 'Attention'];
    }
    const kernels = KERNELS[name];
    assert.ok(kernels !== undefined, `operator ${raw} has no kernel in the table`);
    return kernels;
  });
}

const modelled = (...blocks: readonly Block[]): string[] => blocks.flatMap((block) => block.map(([key]) => key)).filter((key) => !SATELLITE.test(key) && !OPAQUE.test(key));

function record(): Recorded {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-torch-'));
  try {
    for (const [name, text] of WORKSPACE_FILES) {
      writeFileSync(path.join(folder, name), text);
    }
    const result = spawnSync(PYTHON, ['-W', 'ignore', path.join(import.meta.dirname, 'sample_operators.py'), folder], { encoding: 'utf8' });
    assert.equal(result.status, 0, result.stderr);
    return JSON.parse(result.stdout) as Recorded;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.env.FUSELENS_TORCH !== '1') {
  console.log('  left out: test/torch runs the sample\'s model with PyTorch; FUSELENS_TORCH=1 [FUSELENS_PYTHON=…] npx mocha test/torch/*.test.ts');
} else {
  describe('sample: the workspace under PyTorch', function () {
    this.timeout(300_000);
    let recorded: Recorded;
    before(() => { recorded = record(); });
    const model = BASELINE_MODEL;

    it('trains: finite losses that fall, finite parameters', () => {
      assert.ok(recorded.finite, recorded.losses.join(' '));
      assert.ok(recorded.losses[recorded.losses.length - 1] < recorded.losses[0], recorded.losses.join(' '));
    });

    it('computes the gated norm to within a bf16 step', () => {
      assert.ok(recorded.gatedNormError < 2 ** -8, String(recorded.gatedNormError));
    });

    for (const kind of ['linear', 'full'] as const) {
      it(`launches the kernels of a ${kind} layer's forward, in order`, () => {
        const { forward, gated, output } = model.mixers[kind];
        assert.deepEqual(kernelsOf(recorded.layers[kind].forward),
          modelled(model.norm, forward, gated, output, model.residual, model.norm, model.feedForward, model.downProjection, model.residual));
      });

      it(`launches the kernels of a ${kind} layer's backward, in order`, () => {
        const add: Block = [['Add', '', '']];
        const expected = modelled(model.feedBackward, model.normGrad, add, model.mixers[kind].backward, model.normGrad, add);
        // The stand-in's input gradients arrive as they are; a transposed copy exists on the device only; leaf gradients may be summed at the very end.
        const actual = kernelsOf(recorded.layers[kind].backward);
        assert.deepEqual(actual.slice(0, expected.filter((key) => key !== 'Transpose').length), expected.filter((key) => key !== 'Transpose'));
      });
    }

    it('launches the kernels of the rotary table and of a loss chunk', () => {
      assert.deepEqual(kernelsOf(recorded.rotary), modelled(ROTARY_TABLE));
      assert.deepEqual(kernelsOf(recorded.loss), modelled(LOSS_START, LOSS_CHUNK, LOSS_END));
    });
  });
}
