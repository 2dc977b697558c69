import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { makeFolder } from '../../src/node/makeFolder';

describe('makeFolder', () => {
  let folder: string;
  before(() => { folder = mkdtempSync(path.join(tmpdir(), 'fl-make-')); });
  after(() => { rmSync(folder, { recursive: true, force: true }); });
  const code = (where: string): Promise<string> => makeFolder(where).then(() => 'made', (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)));

  it('makes what is missing, and is content with what is there, whoever makes it', async () => {
    const deep = path.join(folder, 'a', 'b', 'c');
    assert.deepEqual(await Promise.all([code(deep), code(deep), code(path.join(folder, 'a'))]), ['made', 'made', 'made']);
    assert.ok(statSync(deep).isDirectory());
    symlinkSync(path.join(folder, 'a'), path.join(folder, 'link'));
    assert.deepEqual(await Promise.all([code(deep), code(path.parse(folder).root), code(path.join(folder, 'link')), code(path.join(folder, 'link', 'd'))]), ['made', 'made', 'made', 'made']);
  });

  it('says what stands in the way', async () => {
    writeFileSync(path.join(folder, 'file'), '');
    symlinkSync(path.join(folder, 'nothing'), path.join(folder, 'dangling'));
    assert.deepEqual(await Promise.all([code(path.join(folder, 'file')), code(path.join(folder, 'file', 'x', 'y')), code(path.join(folder, 'dangling'))]), ['EEXIST', 'ENOTDIR', 'EEXIST']);
    if (process.getuid?.() !== 0 && process.platform !== 'win32') {
      chmodSync(path.join(folder, 'a'), 0o555);
      assert.equal(await code(path.join(folder, 'a', 'new', 'newer')), 'EACCES');
      chmodSync(path.join(folder, 'a'), 0o755);
    }
  });

  it('comes back from a file system that denies a parent which is there', async function () {
    if (!existsSync('/proc/self')) {
      this.skip();
    }
    assert.deepEqual(await Promise.all([code('/proc/x'), code('/proc/self/x/y')]), ['ENOENT', 'ENOENT']);
  });
});
