import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { packTar } from 'modern-tar';
import { decodeDetail } from '../../../src/engine/readers/traceDetail';
import { hasSharedData, sharedPath } from '../../sharedData';
import { csvRows, find, kernelsOf, outputOf, port, readOnly, readSource } from './ascendSupport';

const LEVEL1 = sharedPath('ascend', 'msinsight-alexnet', 'text', 'level1');

function filesBelow(folder: string, prefix = ''): readonly (readonly [string, Uint8Array])[] {
  return readdirSync(path.join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(folder, name) : [[name, new Uint8Array(readFileSync(path.join(folder, name)))] as const];
  });
}

describe('archives of Ascend profiles', function () {
  let root = '';
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });
  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'fuselens-archive-'));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });
  const write = (name: string, bytes: Uint8Array): string => {
    const file = path.join(root, name);
    writeFileSync(file, bytes);
    return file;
  };
  const tar = (prefix: string): Promise<Uint8Array> => packTar(filesBelow(LEVEL1).map(([name, body]) => ({ header: { name: prefix + name, size: body.length }, body })));

  it('read like the folder: zip, tar with ./ before the names, tar.gz', async () => {
    const expected = await readOnly(path.join(LEVEL1, 'rank1_ascend_pt'));
    const archives = [
      write('run.zip', zipSync(Object.fromEntries(filesBelow(LEVEL1)), { level: 1 })), write('run.tar', await tar('./')), write('run.tar.gz', gzipSync(await tar('job/'))),
    ];
    for (const archive of archives) {
      const { sources } = await find(archive);
      assert.deepEqual(sources.map(({ rank, path: file, files }) => [rank, file, files]), [[0, archive, [archive]], [1, archive, [archive]]]);
      const { data, problems } = await readSource(sources[1]);
      assert.deepEqual(kernelsOf(data), kernelsOf(expected.data), archive);
      assert.deepEqual(data.deviceEvents.op, expected.data.deviceEvents.op);
      assert.deepEqual(data.memory.length, expected.data.memory.length);
      assert.deepEqual(problems, expected.problems);
      const kernel = kernelsOf(data)[3];
      assert.deepEqual(await decodeDetail(port, data, 'device', kernel.row), await decodeDetail(port, expected.data, 'device', kernel.row));
      const op = data.deviceEvents.op[kernel.row];
      assert.deepEqual(await decodeDetail(port, data, 'host', op), await decodeDetail(port, expected.data, 'host', op));
    }
  });

  it('with one rank at the top are called after the archive', async () => {
    const archive = write('rank.zip', zipSync(Object.fromEntries(filesBelow(path.join(LEVEL1, 'rank0_ascend_pt'))), { level: 1 }));
    const { sources } = await find(archive);
    assert.deepEqual(sources.map(({ id, label, rank, group }) => [id, label, rank, group]), [['rank.zip', 'rank.zip', 0, '']]);
    assert.equal(kernelsOf((await readSource(sources[0])).data).length, 191);
  });

  it('and single gzipped files open', async () => {
    for (const [name, count] of [['trace_view.json', 191], ['kernel_details.csv', 191]] as const) {
      const archive = write(`${name}.gz`, gzipSync(readFileSync(outputOf(path.join(LEVEL1, 'rank0_ascend_pt'), name))));
      const { data } = await readOnly(archive);
      assert.equal(kernelsOf(data).length, count);
      assert.notEqual(await decodeDetail(port, data, 'device', 5), undefined);
    }
  });

  it('of other things are left to their readers', async () => {
    assert.deepEqual((await find(write('x.zip', zipSync({ 'a/readme.txt': new Uint8Array([65]) })))).sources, []);
    assert.deepEqual((await find(write('x.pt.trace.json.gz', gzipSync('{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}')))).sources, []);
  });
});

describe('details of a kernel', function () {
  it('are all cells of its row', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const folder = path.join(LEVEL1, 'rank0_ascend_pt');
    const { data } = await readOnly(folder);
    const rows = csvRows(outputOf(folder, 'kernel_details.csv'));
    for (const i of [0, 7, 190]) {
      const expected: Record<string, string> = {};
      for (const [name, cell] of Object.entries(rows[i])) {
        const text = cell.replace(/^["\s]+|["\s]+$/g, '');
        if (text !== '' && text !== 'N/A') {
          expected[name] = text;
        }
      }
      assert.deepEqual(await decodeDetail(port, data, 'device', kernelsOf(data)[i].row), expected);
    }
  });
});
