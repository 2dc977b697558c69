import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { packTar } from 'modern-tar';
import { tarEntries } from '../../../src/engine/readers/archiveTar';

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let i = 0; i < bytes.length; i += size) {
    yield await Promise.resolve(bytes.subarray(i, i + size));
  }
}

/** Name → bytes, reading only the members that `wanted` accepts. */
async function entries(bytes: Uint8Array, chunk: number, wanted: (name: string) => boolean = () => true): Promise<readonly (readonly [string, number, string | undefined])[]> {
  const found: [string, number, string | undefined][] = [];
  for await (const { name, size, body } of tarEntries(chunked(bytes, chunk))) {
    const parts: Buffer[] = [];
    if (wanted(name)) {
      for await (const part of body) {
        parts.push(Buffer.from(part));
      }
    }
    found.push([name, size, wanted(name) ? Buffer.concat(parts).toString('latin1') : undefined]);
  }
  return found;
}

describe('tarEntries', () => {
  it('gives back what modern-tar packed, read in chunks of any size, members read or passed over', async () => {
    const file = fc.record({ name: fc.stringMatching(/^[a-z字]{1,40}$/u), body: fc.uint8Array({ maxLength: 3000 }) });
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(file, { selector: ({ name }) => name, maxLength: 6 }), fc.integer({ min: 1, max: 2000 }), fc.nat(63), async (files, chunk, mask) => {
        const tar = await packTar(files.map(({ name, body }) => ({ header: { name, size: body.length }, body })));
        const wanted = (name: string): boolean => ((mask >> files.findIndex((one) => one.name === name)) & 1) === 1;
        assert.deepEqual(await entries(tar, chunk, wanted), files.map(({ name, body }) => [name, body.length, wanted(name) ? Buffer.from(body).toString('latin1') : undefined]));
      }),
      { seed: Date.now() % 2 ** 31, numRuns: 200 },
    );
  });

  for (const format of ['ustar', 'gnu', 'pax']) {
    it(`reads what the tar program writes as ${format}, long names included`, async function () {
      const root = mkdtempSync(path.join(os.tmpdir(), 'fuselens-tar-'));
      try {
        const folder = 'folder'.repeat(format === 'ustar' ? 12 : 25);
        mkdirSync(path.join(root, 'in', folder, 'deeper'), { recursive: true });
        const name = `${folder}/deeper/${'kernel_details'.repeat(5)}.csv`;
        writeFileSync(path.join(root, 'in', name), 'x'.repeat(70_000));
        writeFileSync(path.join(root, 'in', 'b.json'), '{}');
        try {
          execFileSync('tar', [`--format=${format}`, '--sort=name', '-C', path.join(root, 'in'), '-cf', path.join(root, 'x.tar'), '.'], { stdio: 'pipe' });
        } catch {
          this.skip();
        }
        const found = await entries(readFileSync(path.join(root, 'x.tar')), 4096);
        assert.deepEqual(found.map(([one, size, body]) => [one, size, body?.length]), [['./b.json', 2, 2], [`./${name}`, 70_000, 70_000]]);
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    });
  }

  it('ends where the archive is cut, and closes its source when the caller stops', async () => {
    const body = new Uint8Array(5000).fill(65);
    const tar = await packTar([{ header: { name: 'a', size: 5000 }, body }, { header: { name: 'b', size: 5000 }, body }]);
    assert.deepEqual((await entries(tar.subarray(0, 8000), 100)).map(([name, , text]) => [name, text?.length]), [['a', 5000], ['b', 8000 - 512 - 5120 - 512]]);
    assert.deepEqual(await entries(new Uint8Array(4096).fill(7), 100), []);
    let closed = false;
    const source = (async function* () {
      try {
        yield* chunked(tar, 700);
      } finally {
        closed = true;
      }
    })();
    for await (const { body: parts } of tarEntries(source)) {
      for await (const part of parts) {
        assert.ok(part.length > 0);
        break;
      }
      break;
    }
    assert.equal(closed, true);
  });
});
