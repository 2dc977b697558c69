import assert from 'node:assert/strict';
import { samePlace } from '../../src/host/editor/documentEvidence';
import { shiftedEvidence, type LineEdit } from '../../src/host/editor/shiftedEvidence';
import type { FingerprintData } from '../../src/protocol/fingerprints';

const FILE = '/project/models/norm.py';

function evidence(...lines: readonly number[]): FingerprintData {
  return { fingerprints: [], lines: lines.map((line) => ({ file: FILE, line, kernels: 1, totalUs: 1, backwardUs: 0, method: 'alignment' })), attribution: { locatedShare: 1, alignment: null, files: 1, capped: false, stacks: 'none', carried: null, holes: [], ambiguous: [] } };
}

describe('evidence after an edit', () => {
  const after = (edit: LineEdit, ...lines: readonly number[]): readonly number[] => shiftedEvidence(evidence(...lines), FILE, [edit]).lines.map(({ line }) => line);

  it('moves down with lines put in above', () => {
    assert.deepEqual(after({ startLine: 5, endLine: 5, addedLines: 3 }, 2, 10, 20), [2, 13, 23]);
  });

  it('moves up with lines taken out above', () => {
    assert.deepEqual(after({ startLine: 5, endLine: 8, addedLines: 0 }, 2, 10, 20), [2, 7, 17]);
  });

  it('is dropped where the edit touches it', () => {
    assert.deepEqual(after({ startLine: 10, endLine: 10, addedLines: 0 }, 2, 10, 20), [2, 20]);
  });

  it('of other files stays', () => {
    assert.deepEqual(shiftedEvidence(evidence(3), '/project/other/train.py', [{ startLine: 1, endLine: 1, addedLines: 5 }]).lines.map(({ line }) => line), [3]);
  });
});

describe('places of a profile', () => {
  it('are the same by path, or by the tail of a path from elsewhere', () => {
    assert.ok(samePlace('/project/models/norm.py', '/project/models/norm.py'));
    assert.ok(samePlace('models/norm.py', '/project/models/norm.py'));
    assert.ok(samePlace('/root/job/models/norm.py', '/project/models/norm.py'));
    assert.ok(samePlace('C:\\job\\models\\norm.py', '/project/models/norm.py'));
    assert.ok(!samePlace('/root/job/norm.py', '/project/models/norm.py'));
    assert.ok(!samePlace('/root/models/other.py', '/project/models/norm.py'));
  });
});
