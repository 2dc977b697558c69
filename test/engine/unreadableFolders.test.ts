import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { detectProfile } from '../../src/engine/detect';
import type { FilePort } from '../../src/engine/port';
import { UnreadableInput } from '../../src/engine/profile/problems';
import { nodeFilePort } from '../../src/node/filePort';
import { renderProblem } from '../../src/protocol/text';

const TRACE = JSON.stringify({ schemaVersion: 1, traceEvents: [{ ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 1, dur: 2, args: {} }] });

/** The superuser may list every folder, so refusal is injected; the last test meets the real one where it can. */
function refusing(name: string): FilePort {
  const port = nodeFilePort();
  return {
    ...port,
    list: (folder, onRefused) => {
      if (path.basename(folder) !== name) {
        return port.list(folder, onRefused);
      }
      onRefused?.('EACCES');
      return Promise.resolve([]);
    },
  };
}

describe('Folders that may not be read', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'fuselens-locked-'));
    await mkdir(path.join(root, 'locked'));
    await writeFile(path.join(root, 'rank0.pt.trace.json'), TRACE);
  });
  afterEach(async () => {
    await chmod(path.join(root, 'locked'), 0o755);
    await rm(root, { recursive: true });
  });

  it('are a problem of the profile, told once, with place and effect', async () => {
    const detected = await detectProfile(refusing('locked'), root);
    assert.equal(detected.sources.length, 1);
    const refused = detected.problems.filter(({ kind }) => kind === 'folder-unreadable');
    assert.deepEqual(refused.map(({ where, count, severity }) => [where, count, severity]), [[path.join(root, 'locked'), 1, 'warning']]);
    const { message, effect } = renderProblem(refused[0]);
    assert.match(message, /locked may not be read \(EACCES\)/);
    assert.notEqual(effect, '');
  });

  it('are the reason when nothing else is there', async () => {
    await rm(path.join(root, 'rank0.pt.trace.json'));
    await assert.rejects(detectProfile(refusing('locked'), root), (error: unknown) =>
      error instanceof UnreadableInput && error.detail.code === 'error.folder-unreadable' && error.detail.args?.['folder'] === path.join(root, 'locked'));
  });

  it('are not taken for results that were never made', async () => {
    await mkdir(path.join(root, 'worker_ascend_pt', 'ASCEND_PROFILER_OUTPUT'), { recursive: true });
    await writeFile(path.join(root, 'worker_ascend_pt', 'profiler_info_3.json'), '{}');
    const kinds = (await detectProfile(refusing('ASCEND_PROFILER_OUTPUT'), root)).problems.map(({ kind }) => kind);
    assert.ok(kinds.includes('folder-unreadable') && kinds.includes('ascend-rank-incomplete') && !kinds.includes('ascend-not-analysed'), kinds.join());
  });

  it('are told by the file system itself to an ordinary user', async () => {
    await chmod(root, 0o755);
    await chmod(path.join(root, 'locked'), 0o000);
    // The superuser may read everything, so it becomes nobody while it looks.
    const superuser = process.getuid?.() === 0;
    if (superuser) {
      process.seteuid?.(65534);
    }
    try {
      const { problems } = await detectProfile(nodeFilePort(), root);
      assert.deepEqual(problems.map(({ kind, args }) => [kind, args?.['reason']]), [['folder-unreadable', 'EACCES']]);
    } finally {
      if (superuser) {
        process.seteuid?.(0);
      }
    }
  });
});
