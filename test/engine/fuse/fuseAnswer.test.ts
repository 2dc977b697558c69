import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { fuseAnswer } from '../../../src/engine/fuse/fuseAnswer';
import { applyEdits } from '../../../src/engine/fuse/plan';
import { parsePython } from '../../../src/engine/python/parsePython';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';
import { testParser } from '../pythonParser';

describe('what the editor is told about fusing', () => {
  const [[name, text]] = WORKSPACE_FILES;
  const file = `/project/sample/${name}`;
  let parser: Parser;
  before(async () => { parser = await testParser(); });

  const ask = (places: Parameters<typeof fuseAnswer>[0]['places'], sources = ['/project/sample'], device = 'ascend'): ReturnType<typeof fuseAnswer> => fuseAnswer({ file, text, sources, places }, undefined, device, parser);

  it('speaks only of places that the profile shows, and survives a message', () => {
    assert.deepEqual(ask([]).entries, []);
    const answer = ask([{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }]);
    assert.deepEqual(answer.entries.map(({ fusion, status, startLine, endLine }) => ({ fusion, status, startLine, endLine })), [{ fusion: 'gated-rms-norm', status: 'fixable', startLine: 29, endLine: 30 }]);
    assert.deepEqual(structuredClone(answer), answer);
  });

  it('makes one edit of all places, which still is Python', () => {
    const { together, entries } = ask(['gated-rms-norm', 'zero-centred-rms-norm', 'rope', 'swiglu', 'l2-norm'].map((fusion) => ({ fusion, startLine: 1, endLine: 10_000 })));
    assert.equal(together.count, entries.filter(({ status }) => status === 'fixable').length);
    assert.ok(together.count >= 2);
    const edited = applyEdits(text, together.edits);
    assert.deepEqual(parsePython(parser, edited).errors, []);
    assert.equal(edited.split('torch_npu.npu_rms_norm').length - 1 >= 2, true);
  });

  it('takes the profile\'s device as the backend, and plain torch for any other', () => {
    const place = [{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }];
    assert.match(ask(place).entries[0].replacement ?? '', /^torch_npu\.npu_rms_norm\(x, self\.weight, self\.eps\)\[0\]/);
    assert.match(ask(place, ['/project/sample'], 'cpu').entries[0].replacement ?? '', /^F\.rms_norm\(x\.float\(\)/);
  });

  it('edits nothing outside the workspace', () => {
    assert.deepEqual(ask([{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }], ['/elsewhere']).entries.map(({ reason }) => reason), ['outside-workspace']);
  });
});
