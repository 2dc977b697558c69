import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { constants, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { readSmallText } from '../../src/engine/port';
import { UnreadableInput } from '../../src/engine/profile/problems';
import { nodeFilePort } from '../../src/node/filePort';

const port = nodeFilePort();

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of stream) {
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts);
}

/** Gives `bytes` in pieces of `size` out of one reused buffer, as the real stream does. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const length = Math.min(size, bytes.length - at);
    buffer.fill(0xee);
    buffer.set(bytes.subarray(at, at + length));
    yield buffer.subarray(0, length);
    await Promise.resolve();
  }
}

async function inflate(bytes: Uint8Array, kind: 'gzip' | 'deflate-raw' = 'gzip', size = 7): Promise<{ out: Buffer; cuts: string[] }> {
  const cuts: string[] = [];
  const out = await collect(port.inflate(pieces(bytes, size), kind, (reason) => cuts.push(reason)));
  return { out, cuts };
}

describe('nodeFilePort', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fuselens-port-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('says in one sentence that a file cannot be read', async () => {
    const file = path.join(folder, 'gone.json');
    const refused = (error: unknown): boolean => error instanceof UnreadableInput && error.detail.code === 'error.file-unreadable' && error.detail.args?.file === file;
    await assert.rejects(port.read(file, 0, 10), refused);
    await assert.rejects(collect(port.stream(file)), refused);
  });

  it('passes over links to folders that the path runs through, and follows all others', async () => {
    const root = path.join(folder, 'links');
    await mkdir(path.join(root, 'a', 'b'), { recursive: true });
    await mkdir(path.join(root, 'other'));
    await symlink('.', path.join(root, 'a', 'self'));
    await symlink(path.join('..', '..'), path.join(root, 'a', 'b', 'up'));
    await symlink(path.join('..', 'other'), path.join(root, 'a', 'other'));
    await symlink(path.join('..', 'a'), path.join(root, 'other', 'back'));
    const names = async (...parts: string[]): Promise<string[]> => (await port.list(path.join(root, ...parts))).map(({ name }) => name);
    assert.deepEqual(await names('a'), ['b', 'other']);
    assert.deepEqual(await names('a', 'b'), []);
    assert.deepEqual(await names('other'), ['back']);
    assert.deepEqual(await names('a', 'other'), [], 'back leads to a, which the path came through');
  });

  it('delivers all that lies before damage in a gzip file, also when it is small', async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i) % 251));
    const packed = gzipSync(bytes);
    const wrongSum = Buffer.from(packed);
    wrongSum[wrongSum.length - 6] ^= 0xff;
    for (const size of [7, 70_000]) {
      const summed = await inflate(wrongSum, 'gzip', size);
      assert.deepEqual(summed.out, bytes);
      assert.equal(summed.cuts.length, 1);
      const trailed = await inflate(Buffer.concat([packed, Buffer.from('a line of a log\n')]), 'gzip', size);
      assert.deepEqual(trailed.out, bytes);
      assert.deepEqual(trailed.cuts, [], 'bytes after the last member are no loss');
    }
    const second = Buffer.from(gzipSync(bytes));
    second[second.length >> 1] ^= 0xff;
    const { out, cuts } = await inflate(Buffer.concat([packed, second]), 'gzip', 70_000);
    assert.deepEqual(out.subarray(0, bytes.length), bytes);
    assert.equal(cuts.length, 1);
  });

  it('streams every byte, whatever the chunk size and range', async () => {
    const file = path.join(folder, 'bytes.bin');
    const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 251));
    await writeFile(file, bytes);
    for (const chunkSize of [1, 3, 64, 999, 1000, 1001, 4096]) {
      assert.deepEqual(await collect(port.stream(file, { chunkSize })), bytes, `chunk ${chunkSize}`);
    }
    assert.deepEqual(await collect(port.stream(file, { chunkSize: 9, start: 10, end: 50 })), bytes.subarray(10, 50));
    assert.deepEqual(await collect(port.stream(file, { start: 990, end: 5000 })), bytes.subarray(990));
    assert.equal((await collect(port.stream(file, { start: 2000 }))).length, 0);
  });

  it('keeps a chunk untouched until the next one is asked for', async () => {
    const file = path.join(folder, 'turns.bin');
    await writeFile(file, Buffer.from('aaaabbbbccccdddd'));
    const seen: string[] = [];
    for await (const chunk of port.stream(file, { chunkSize: 4 })) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.push(Buffer.from(chunk).toString());
    }
    assert.deepEqual(seen, ['aaaa', 'bbbb', 'cccc', 'dddd']);
  });

  it('closes the file when the caller stops early', async () => {
    const file = path.join(folder, 'early.bin');
    await writeFile(file, Buffer.alloc(10_000));
    for (let i = 0; i < 5000; i++) {
      for await (const chunk of port.stream(file, { chunkSize: 100 })) {
        assert.equal(chunk.length, 100);
        break;
      }
    }
  });

  it('reads ranges, also past the end', async () => {
    const file = path.join(folder, 'range.txt');
    await writeFile(file, 'hello world');
    assert.equal(Buffer.from(await port.read(file, 6, 5)).toString(), 'world');
    assert.equal(Buffer.from(await port.read(file, 6, 500)).toString(), 'world');
    assert.equal((await port.read(file, 60, 5)).length, 0);
    assert.equal(await readSmallText(port, file), 'hello world');
    assert.equal(await readSmallText(port, file, 5), undefined);
  });

  it('takes paths as they are: spaces, #, %, CJK, quotes, very long', async () => {
    const names = ['with space', '50%done', 'a#b', '%41', '昇腾 性能', "it's", 'q?mark&amp'];
    for (const name of names) {
      const sub = path.join(folder, name);
      await mkdir(sub, { recursive: true });
      await writeFile(path.join(sub, `${name}.csv`), name);
      assert.equal(Buffer.from(await port.read(port.join(sub, `${name}.csv`), 0, 100)).toString(), name);
      assert.deepEqual(await port.list(sub), [{ name: `${name}.csv`, kind: 'file' }]);
    }
    const deep = path.join(folder, ...Array.from({ length: 8 }, (_, i) => String(i).repeat(60)));
    await mkdir(deep, { recursive: true });
    const file = path.join(deep, 'trace.json');
    await writeFile(file, '[]');
    assert.ok(file.length > 480);
    assert.equal(Buffer.from(await collect(port.stream(file))).toString(), '[]');
  });

  it('lists sorted by name, follows links, and has nothing to say about what is not there', async () => {
    const sub = path.join(folder, 'listing');
    await mkdir(path.join(sub, 'b'), { recursive: true });
    await writeFile(path.join(sub, 'c'), '');
    await writeFile(path.join(sub, 'A'), '');
    await symlink(path.join(sub, 'b'), path.join(sub, 'a-link'));
    await symlink(path.join(sub, 'gone'), path.join(sub, 'dangling'));
    assert.deepEqual(await port.list(sub), [
      { name: 'A', kind: 'file' }, { name: 'a-link', kind: 'folder' }, { name: 'b', kind: 'folder' }, { name: 'c', kind: 'file' },
    ]);
    assert.deepEqual(await port.list(path.join(sub, 'nowhere')), []);
    assert.equal(await port.stat(path.join(sub, 'nowhere')), undefined);
    assert.equal((await port.stat(sub))?.kind, 'folder');
  });

  it('reads beyond 4 GiB (sparse file)', async () => {
    const file = path.join(folder, 'sparse.bin');
    const far = 5 * 1024 ** 3 + 12345;
    const handle = await open(file, 'w');
    await handle.write(Buffer.from('far away'), 0, 8, far);
    await handle.close();
    assert.equal((await port.stat(file))?.size, far + 8);
    assert.equal(Buffer.from(await port.read(file, far, 8)).toString(), 'far away');
    assert.equal((await collect(port.stream(file, { start: far, chunkSize: 3 }))).toString(), 'far away');
    await rm(file);
  });
});

describe('inflate', () => {
  const text = Buffer.from(Array.from({ length: 400 }, (_, i) => `{"name":"kernel ${i % 13}","ts":${i * 17}}`).join('\n'));

  it('inflates gzip with several members, extra header fields and raw deflate', async () => {
    const first = gzipSync(text.subarray(0, 1000));
    const extra = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 4 | 8, 0, 0, 0, 0, 0, 255, 4, 0, 1, 2, 3, 4]), Buffer.from('name.json\0'), gzipSync(text.subarray(1000)).subarray(10)]);
    for (const size of [1, 7, 64, first.length, first.length + 1, 1 << 20]) {
      const { out, cuts } = await inflate(Buffer.concat([first, extra]), 'gzip', size);
      assert.deepEqual(out, text, `pieces of ${size}`);
      assert.deepEqual(cuts, []);
    }
    assert.deepEqual(await inflate(deflateRawSync(text), 'deflate-raw'), { out: text, cuts: [] });
  });

  it('ignores what follows the last member', async () => {
    assert.deepEqual(await inflate(Buffer.concat([gzipSync(text), Buffer.alloc(100), Buffer.from('padding')])), { out: text, cuts: [] });
  });

  it('delivers everything before a cut, wherever it is, and says so once', async () => {
    const whole = Buffer.concat([gzipSync(text.subarray(0, 5000)), gzipSync(text.subarray(5000))]);
    for (let length = 0; length < whole.length; length += 13) {
      const cut = whole.subarray(0, length);
      const expected = length === 0 ? Buffer.alloc(0) : gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH });
      const { out, cuts } = await inflate(cut);
      assert.deepEqual(out, expected, `cut at ${length}`);
      const atBorder = length === gzipSync(text.subarray(0, 5000)).length;
      assert.equal(cuts.length, atBorder ? 0 : 1, `cut at ${length}`);
    }
  });

  it('stops at damage without throwing and without inventing bytes', async () => {
    const size = 900_000;
    const big = Buffer.concat(Array.from({ length: Math.ceil(size / text.length) }, () => text)).subarray(0, size);
    const noisy = Buffer.from(big.map((byte, i) => (i % 5 === 0 ? (i * 2654435761) >>> 24 : byte)));
    const damaged = gzipSync(noisy);
    damaged.fill(0xff, damaged.length >> 1, (damaged.length >> 1) + 64);
    const { out, cuts } = await inflate(damaged, 'gzip', 4096);
    assert.equal(cuts.length, 1);
    assert.ok(out.length > noisy.length / 4);
    assert.deepEqual(out.subarray(0, noisy.length / 4), noisy.subarray(0, noisy.length / 4));
    assert.equal((await inflate(Buffer.from('this is no gzip at all'))).cuts.length, 1);
  });

  it('lets the caller stop early', async () => {
    const gz = gzipSync(Buffer.alloc(50_000_000));
    for await (const chunk of port.inflate(pieces(gz, 1000), 'gzip', () => assert.fail('not cut'))) {
      assert.ok(chunk.length > 0);
      break;
    }
  });

  it('agrees with gunzip on any members in any pieces', async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3000 }), { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 5000 }), async (members, size) => {
      const { out, cuts } = await inflate(Buffer.concat(members.map((member) => gzipSync(member))), 'gzip', size);
      assert.deepEqual(out, Buffer.concat(members));
      assert.deepEqual(cuts, []);
    }), { numRuns: 60 });
  });
});
