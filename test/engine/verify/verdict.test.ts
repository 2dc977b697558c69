import assert from 'node:assert/strict';
import { outside, verifyReport } from '../../../src/engine/verify/verdict';
import type { HelperCase, HelperResult, HelperTensor, VerifyDtype, VerifySubject } from '../../../src/protocol/verify';
import { verifyHeadline, verifySentences } from '../../../src/protocol/verifySentences';
import { english } from '../../../src/protocol/text';

const SUBJECT: VerifySubject = { file: '/project/model.py', function: 'Norm.forward', startLine: 3, endLine: 5, fusion: 'rms-norm', backend: 'ascend', promise: 'rounding', original: 'a', fused: 'b', roles: {} };

const tensor = (change: Partial<HelperTensor> = {}): HelperTensor => ({
  name: 'output', missing: false, before: 'bfloat16', after: 'bfloat16', sameShape: true, finite: true, maxAbs: 0.01, maxRel: 0.004, normRel: 0.002,
  errorBefore: { max: 0.01, norm: 1 }, errorAfter: { max: 0.01, norm: 1 }, truthMax: 4, ...change,
});
const result = (tensors: readonly HelperTensor[], change: Partial<HelperResult> = {}): HelperResult => ({ dtype: 'bfloat16', layout: 'contiguous', variant: 'fused', error: null, tensors, ...change });
const ran = (results: readonly HelperResult[]): HelperCase => ({ name: '0', status: 'ran', whole: true, inputsFrom: 'roles', references: ['torch_npu'], inputs: [{ name: 'x', shape: [2, 4, 8] }], results, skipped: [] });
const why = (change: Partial<HelperTensor>, dtype: VerifyDtype = 'bfloat16', promise = 'rounding'): string | undefined => outside(tensor(change), dtype, promise)?.why;

describe('verdict on a verification', () => {
  it('takes a difference of one unit in the last place, and more only where the fused one is no further from exact', () => {
    assert.equal(why({}), undefined);
    assert.equal(why({ normRel: 2 ** -7 }), undefined);
    assert.equal(why({ normRel: 2 ** -7 + 1e-6, errorAfter: { max: 0.01, norm: 1.0001 } }), 'too-far');
    assert.equal(why({ normRel: 0.5, errorAfter: { max: 0.01, norm: 1 } }), undefined);
    assert.equal(why({ normRel: 2 ** -7, before: 'float32', after: 'float32' }, 'float32'), undefined, 'no further from exact');
    assert.equal(why({ normRel: 3e-5, before: 'float32', after: 'float32', errorAfter: { max: 0, norm: 2 } }, 'float32'), 'too-far');
  });

  it('sees single wrong values that the whole would hide', () => {
    assert.equal(why({ errorAfter: { max: 0.0624, norm: 1 } }), undefined, 'four units of the largest value');
    assert.equal(why({ errorAfter: { max: 0.07, norm: 1 } }), 'element');
    assert.equal(why({ errorBefore: undefined, errorAfter: undefined, maxRel: 0.07 }), 'element', 'without an exact run');
    assert.equal(why({ errorBefore: undefined, errorAfter: undefined, maxRel: 0.03 }), undefined);
  });

  it('knows what is no question of rounding', () => {
    assert.equal(why({ missing: true }), 'missing');
    assert.equal(why({ sameShape: false }), 'shape');
    assert.equal(why({ finite: false }), 'not-finite');
    assert.equal(why({ maxAbs: null }), 'not-finite');
    assert.equal(why({ before: 'float32', after: 'bfloat16' }), undefined, 'the dtype of x beside a wider weight is promised');
    assert.equal(why({ before: 'bfloat16', after: 'float32' }), 'dtype');
  });

  it('takes exact at its word', () => {
    assert.equal(why({ maxAbs: 0, maxRel: 0, normRel: 0 }, 'bfloat16', 'exact'), undefined);
    assert.equal(why({ maxAbs: 1e-9 }, 'bfloat16', 'exact'), 'not-exact');
  });

  it('reports verified, differs, or failed, never a figure it does not have', () => {
    const good = verifyReport(SUBJECT, undefined, ran([result([tensor(), tensor({ name: 'gradient of x', maxAbs: 0.5, maxRel: 0.03 })])]));
    assert.deepEqual([good.verdict, good.rows[0].output, good.rows[0].gradient, good.torch], ['verified', { maxAbs: 0.01, maxRel: 0.004 }, { maxAbs: 0.5, maxRel: 0.03 }, null]);
    assert.equal(verifyHeadline(good, english), 'verified: max abs 0.5, max rel 0.03 (bf16), promised within bf16 rounding');
    assert.ok(verifySentences(good, english).some((sentence) => sentence.startsWith('torch_npu is not installed here: a reference')));

    const bad = verifyReport(SUBJECT, undefined, ran([result([tensor()]), result([tensor({ maxAbs: null })], { dtype: 'float16' }), result([], { error: 'TypeError: no' })]));
    assert.deepEqual([bad.verdict, bad.rows.map(({ within }) => within), bad.rows[1].output], ['differs', [true, false, false], { maxAbs: null, maxRel: 0.004 }]);
    assert.equal(verifyHeadline(bad, english), 'differs: max abs –, max rel 0.004 (fp16), promised within bf16 rounding');
    assert.equal(bad.rows[2].worst?.why, 'stopped');

    const failed = verifyReport(SUBJECT, undefined, { name: '0', status: 'failed', code: 'no-torch', args: { python: '/usr/bin/python3' } });
    assert.deepEqual([failed.verdict, failed.rows, failed.whole], ['failed', [], null]);
    assert.match(verifyHeadline(failed, english), /^The Python at \/usr\/bin\/python3 has no PyTorch: install it there/);
    assert.equal(verifyReport(SUBJECT, undefined, ran([])).failure?.code, 'runs-nowhere', 'nothing compared is nothing verified');
  });

  it('says when fewer tokens were run than the profile has', () => {
    const fromProfile: HelperCase = { ...(ran([result([tensor()])]) as Extract<HelperCase, { status: 'ran' }>), inputsFrom: 'profile', inputs: [{ name: 'x', shape: [256, 16, 128] }] };
    assert.deepEqual(verifyReport(SUBJECT, undefined, fromProfile, { profileShape: [4096, 16, 128] }).cutFrom, [4096, 16, 128]);
    assert.equal(verifyReport(SUBJECT, undefined, fromProfile, { profileShape: [256, 16, 128] }).cutFrom, null);
  });
});
