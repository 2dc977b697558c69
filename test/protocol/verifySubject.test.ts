import assert from 'node:assert/strict';
import { english } from '../../src/protocol/text';
import type { VerifyReport } from '../../src/protocol/verify';
import { verifySubject } from '../../src/protocol/verifySentences';

describe('what a verification is of', () => {
  const report = (fusion: string): VerifyReport => ({ fusion, backend: 'torch' }) as VerifyReport;

  it('is a fusion for a backend, and of code changed by hand no backend is named', () => {
    assert.equal(verifySubject(report('gated-rms-norm'), english), 'Gated RMSNorm (torch)');
    assert.equal(verifySubject(report('none'), english), 'Changed by hand');
  });
});
