import assert from 'node:assert/strict';
import { captureOutput } from '../../src/run/captureOutput';
import { commandScript, type JobPlace } from '../../src/run/jobScript';
import type { RunSettings } from '../../src/run/runSettings';

const place = (workdir: string, env: Readonly<Record<string, string>>): JobPlace => ({ id: 'r1', runFolder: undefined, workdir, filesFolder: '/tmp/f', files: [], addition: { env } });
const settings: RunSettings = { launcher: 'command', command: 'python' };

describe('the output folder of a captured run', () => {
  it('is what its script tells the helper, whatever the folder is called', () => {
    const folder = `/data/it's a "folder" $HOME/outputs/r1`;
    const script = commandScript(settings, place('/data', { FUSELENS_CAPTURE: folder }), ['python'], '/data', '/runs/r1');
    assert.deepEqual(captureOutput(script, 'r1'), { folder, seenByJob: true });
  });

  it('lies in the working directory of the host where only the container is told', () => {
    const inside = commandScript({ ...settings, exec: { prefix: ['docker', 'exec', 'c'], path: '/w' } }, place('/w', { FUSELENS_CAPTURE: '/w/outputs/r1' }), ['python'], `/data/it's`, '/runs/r1');
    assert.deepEqual(captureOutput(inside, 'r1'), { folder: `/data/it's/outputs/r1`, seenByJob: false });
  });

  it('is not guessed from a script of somebody else', () => {
    assert.equal(captureOutput('echo hello\n', 'r1'), undefined);
  });
});
