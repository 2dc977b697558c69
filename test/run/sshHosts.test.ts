import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { hostsOfConfig } from '../../src/run/sshHosts';

describe('hosts of an ssh configuration', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fuselens-ssh-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('are its names without patterns, those of included files too, whatever includes what', async () => {
    const config = path.join(folder, 'config');
    fs.mkdirSync(path.join(folder, 'd'));
    fs.writeFileSync(config, '# mine\nHost a b *.cluster !c\n  HostName 10.0.0.1\nhost="with blank"\nInclude d/*.conf missing\nMatch host x\n');
    fs.writeFileSync(path.join(folder, 'd', 'one.conf'), 'Host lab\r\nInclude ../config\n');
    fs.writeFileSync(path.join(folder, 'd', 'two.txt'), 'Host no\n');
    // Relative names lie beside the file that names them.
    assert.deepEqual(await hostsOfConfig(config), ['a', 'b', 'with blank', 'lab']);
    assert.deepEqual(await hostsOfConfig(path.join(folder, 'none')), []);
  });
});
