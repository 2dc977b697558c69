import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import { outputPlace } from '../../src/run/outputPlace';
import { Hosts, type RunRecord } from '../../src/run/run';

describe('the place of what a job left', () => {
  let folder: string;
  const hosts = new Hosts();
  beforeEach(() => { folder = mkdtempSync('/tmp/fl-it\'s place-'); });
  afterEach(() => { rmSync(folder, { recursive: true, force: true }); });
  // `env` starts a command as a container's program does, in the same file system: what is "inside" is another folder of it.
  const record = (prefix: readonly string[]): RunRecord => ({
    schema: 'fuselens-run/1', id: 'r', name: 'r', startedAt: '', workdir: path.join(folder, 'host'), settings: { launcher: 'command', command: 'x', exec: { prefix, path: path.join(folder, 'inside') } },
  });
  const find = async (prefix: readonly string[], output: string): Promise<readonly [string, boolean]> => {
    const place = await outputPlace(hosts, record(prefix), path.join(folder, output));
    return [path.relative(folder, place.folder), place.contained];
  };

  it('is the host\'s folder where the container shares it, under whichever name it is asked for', async () => {
    mkdirSync(path.join(folder, 'host/outputs/r'), { recursive: true });
    mkdirSync(path.join(folder, 'inside/outputs/r'), { recursive: true });
    assert.deepEqual([await find(['env'], 'inside/outputs/r'), await find(['env'], 'host/outputs/r')], [['host/outputs/r', false], ['host/outputs/r', false]]);
  });

  it('is the container where it shares nothing', async () => {
    mkdirSync(path.join(folder, 'inside/outputs/r'), { recursive: true });
    assert.deepEqual([await find(['env'], 'inside/outputs/r'), await find(['env'], 'host/outputs/r')], [['inside/outputs/r', true], ['inside/outputs/r', true]]);
  });

  it('is looked for on the host where it is nowhere, and where the container is gone with the run', async () => {
    assert.deepEqual(await find(['env'], 'inside/outputs/r'), ['host/outputs/r', false]);
    mkdirSync(path.join(folder, 'inside/outputs/r'), { recursive: true });
    assert.deepEqual(await find(['docker', 'run', 'image'], 'inside/outputs/r'), ['host/outputs/r', false]);
  });
});
