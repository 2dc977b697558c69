import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { FuseDesk } from '../../../src/engine/fuse/fuseDesk';
import type { FuseAnswer, FuseParams } from '../../../src/protocol/fuse';
import { nodeFilePort } from '../../../src/node/filePort';
import { applyEdits } from '../../../src/engine/fuse/plan';
import { parsePython } from '../../../src/engine/python/parsePython';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';
import { testParser } from '../pythonParser';

describe('what the editor is told about fusing', () => {
  const [[name, text]] = WORKSPACE_FILES;
  const file = `/project/sample/${name}`;
  let parser: Parser;
  before(async () => { parser = await testParser(); });

  const ask = (places: FuseParams['places'], sources = ['/project/sample'], device = 'ascend', more: Partial<FuseParams> = {}): Promise<FuseAnswer> => new FuseDesk(nodeFilePort(), () => Promise.resolve(parser)).answer({ file, text, sources, ...(places === undefined ? {} : { places }), ...more }, undefined, device);

  it('speaks only of places that the profile shows, and survives a message', async () => {
    assert.deepEqual((await ask([])).entries, []);
    const answer = await ask([{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }]);
    assert.deepEqual(answer.entries.map(({ fusion, status, startLine, endLine }) => ({ fusion, status, startLine, endLine })), [{ fusion: 'gated-rms-norm', status: 'fixable', startLine: 29, endLine: 30 }]);
    assert.deepEqual(structuredClone(answer), answer);
  });

  it('makes one edit of all places, which still is Python', async () => {
    const { together, entries } = await ask(['gated-rms-norm', 'zero-centred-rms-norm', 'rope', 'swiglu', 'l2-norm'].map((fusion) => ({ fusion, startLine: 1, endLine: 10_000 })));
    assert.equal(together.count, entries.filter(({ status }) => status === 'fixable').length);
    assert.ok(together.count >= 2);
    const edited = applyEdits(text, together.edits);
    assert.deepEqual(parsePython(parser, edited).errors, []);
    assert.equal(edited.split('torch_npu.npu_rms_norm').length - 1 >= 2, true);
  });

  it('takes the profile\'s device as the backend, and plain torch for any other', async () => {
    const place = [{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }];
    assert.match((await ask(place)).entries[0].replacement ?? '', /^torch_npu\.npu_rms_norm\(x, self\.weight, self\.eps\)\[0\]/);
    assert.match((await ask(place, ['/project/sample'], 'cpu')).entries[0].replacement ?? '', /^F\.rms_norm\(x\.float\(\)/);
  });

  it('edits nothing outside the workspace', async () => {
    assert.deepEqual((await ask([{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }], ['/elsewhere'])).entries.map(({ reason }) => reason), ['outside-workspace']);
  });

  it('takes folders that are only followed, or that only begin alike, for no part of the workspace', async () => {
    const place = [{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }];
    const reasons = async (sources: readonly string[], workspace: readonly string[]): Promise<readonly (string | undefined)[]> => (await ask(place, [...sources], 'ascend', { workspace })).entries.map(({ reason }) => reason);
    assert.deepEqual(await reasons(['/project/sample'], ['/project/sample']), [undefined]);
    assert.deepEqual(await reasons(['/project/sample'], ['/elsewhere']), ['outside-workspace']);
    assert.deepEqual(await reasons(['/project/sample'], ['/project/sam']), ['outside-workspace']);
  });

  it('prefers the backend that is asked for to the device of the profile', async () => {
    const [entry] = (await ask([{ fusion: 'gated-rms-norm', startLine: 29, endLine: 30 }], ['/project/sample'], 'ascend', { backend: 'torch' })).entries;
    assert.match(entry.replacement ?? '', /^F\.rms_norm/);
  });

  it('writes a patch module for an installed file when it is asked to, with the digest as its guard', async () => {
    const installed = '/venv/lib/python3.11/site-packages/models/norms.py';
    const [plain, asked] = await Promise.all([{}, { patchDigest: 'abc123' }].map((more) => ask(undefined, ['/project/sample'], 'ascend', { file: installed, ...more })));
    assert.equal(plain.patch, undefined);
    assert.ok(plain.entries.some(({ patchable, status, edits }) => patchable && status === 'refused' && edits.length === 0));
    assert.deepEqual(parsePython(parser, asked.patch?.text ?? '(').errors, []);
    assert.match(asked.patch?.text ?? '', /_SOURCE_SHA256 = "abc123"[\s\S]*import models\.norms as _original|import models\.norms as _original[\s\S]*_SOURCE_SHA256 = "abc123"/);
    assert.equal((await ask(undefined, ['/project/sample'], 'ascend', { patchDigest: 'abc123' })).patch, undefined, 'a file of the workspace is edited where it is');
  });
});
