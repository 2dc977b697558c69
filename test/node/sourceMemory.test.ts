import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { GramIndex } from '../../src/engine/attribution/sourceGrams';
import { scopeOf } from '../../src/engine/python/sourceIndex';
import { pythonParser } from '../../src/node/pythonParser';
import { nodeSourceMemory } from '../../src/node/sourceMemory';

const TEXT = 'import torch\nclass A(torch.nn.Module):\n    def forward(self, x):\n        return torch.rsqrt(x.pow(2).mean(-1)) * x.exp()\n';

describe('what is remembered of source files', () => {
  let folder = '';
  before(async () => { folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-source-')); });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is the same in the next session, without parsing again; other text is looked at anew', async () => {
    const memory = nodeSourceMemory(folder, 'one');
    assert.equal(await memory.load(), undefined);
    const first = new GramIndex(await memory.load());
    const grams = first.of(scopeOf('/w/a.py', '/w', TEXT, await pythonParser()));
    assert.ok(grams.size > 0);
    const bytes = first.serialize();
    assert.ok(bytes !== undefined && first.serialize() === undefined, 'once is enough');
    await memory.store(bytes);
    assert.deepEqual(await readdir(folder), ['source.grams']);

    const never = new Proxy(await pythonParser(), { get: () => { throw new Error('parsed'); } });
    const second = new GramIndex(await memory.load());
    assert.deepEqual(second.of(scopeOf('/elsewhere/b.py', '/elsewhere', TEXT, never)), grams);
    assert.equal(second.serialize(), undefined);
    assert.throws(() => second.of(scopeOf('/w/a.py', '/w', `${TEXT}#`, never)), /parsed/);
  });

  it('is passed over when another build wrote it, or when it is damaged', async () => {
    assert.equal(await nodeSourceMemory(folder, 'two').load(), undefined);
    const whole = await readFile(path.join(folder, 'source.grams'));
    await writeFile(path.join(folder, 'source.grams'), whole.subarray(0, whole.length - 9));
    const damaged = new GramIndex(await nodeSourceMemory(folder, 'one').load());
    assert.ok(damaged.of(scopeOf('/w/a.py', '/w', TEXT, await pythonParser())).size > 0);
  });

  it('costs only time where nothing can be written', async () => {
    const file = path.join(folder, 'source.grams');
    await nodeSourceMemory(path.join(file, 'below'), 'one').store(new Uint8Array(3));
  });
});
