import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { applyEdits, mergedEdits } from '../../src/engine/fuse/plan';
import { planFusions } from '../../src/engine/fuse/planFusions';
import { parsePython } from '../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../src/engine/python/program';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { testParser } from '../engine/pythonParser';

/** Every spelling, edited and run beside the original; torch_npu's operators by a reference written from their documentation. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

interface Compared {
  readonly case: string;
  readonly dtype: string;
  readonly strided: boolean;
  /** The result first, then the gradients of the inputs and of the parameters. */
  readonly sameDtype: readonly boolean[];
  readonly differences: readonly { readonly absolute: number; readonly relative: number }[];
  /** The fused one is no further from a run in fp64. */
  readonly closer: readonly boolean[];
  readonly finite: boolean;
}

/** "Equal within bf16 rounding": a unit in the last place is 2^-8 of a value; two of them, over a whole tensor. In fp32 the order of sums and the digits of written-out constants. */
const PROMISED: Readonly<Record<string, number>> = { 'torch.bfloat16': 2 ** -7, 'torch.float32': 2e-5 };

/** PyTorch's CPU layer norm sums the gradients of weight and bias in bf16: its case is given twice as much. */
async function compare(): Promise<readonly Compared[]> {
  const parser = await testParser();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-fuse-'));
  try {
    for (const backend of ['torch', 'ascend'] as const) {
      SPELLINGS.forEach(({ python, fusion, name }) => {
        const text = HEADER + python;
        const scope = moduleScope('/project/model.py', 'model', text, parsePython(parser, text));
        const { edits } = mergedEdits(planFusions(scope, new ModuleSet([scope]), backend, parser));
        if (edits.length > 0) {
          const stem = path.join(folder, `${backend} ${fusion} ${name}`.replace(/\W+/g, '-'));
          writeFileSync(`${stem}.original.py`, text);
          writeFileSync(`${stem}.fused.py`, applyEdits(text, edits));
        }
      });
    }
    const result = spawnSync(PYTHON, ['-W', 'ignore', path.join(import.meta.dirname, 'fuse_check.py'), folder], { encoding: 'utf8' });
    assert.equal(result.status, 0, result.stderr);
    return result.stdout.trim().split('\n').map((line) => JSON.parse(line) as Compared);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.env.FUSELENS_TORCH === '1') {
  describe('fused edits under PyTorch', function () {
    this.timeout(300_000);
    let all: readonly Compared[];
    before(async () => { all = await compare(); });

    it('ran every spelling that has an edit, in two dtypes, dense and strided', () => {
      assert.ok(all.length >= 4 * 30, String(all.length));
    });

    it('keep every dtype, and stay finite', () => {
      assert.deepEqual(all.filter(({ sameDtype, finite }) => !finite || sameDtype.includes(false)), []);
    });

    it('keep values and gradients within what is promised', () => {
      const worse = all.flatMap((one) => one.differences.map((difference, i) => ({ at: `${one.case} ${one.dtype} ${one.strided ? 'strided' : 'dense'} #${i}`, ...difference, limit: PROMISED[one.dtype] * (one.case.includes('layer-norm') ? 2 : 1), closer: one.closer[i] }))).filter(({ relative, limit, closer }) => !(relative <= limit) && !closer);
      assert.deepEqual(worse, []);
    });
  });
}
