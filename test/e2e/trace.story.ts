import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { hasSharedData, sharedPath } from '../sharedData';
import { freshFolder, openWorkbench } from './workbench';

const NAME = 'worker0.1623143566756.pt.trace.json.gz';
const source = sharedPath('kineto', 'old-2021-06-resnet50-w0');

describe('a Kineto trace', () => {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('opens with a double click, and its views come back after a reload', async () => {
    const folder = freshFolder('trace');
    fs.copyFileSync(path.join(source, NAME), path.join(folder, NAME));
    const truth = JSON.parse(fs.readFileSync(path.join(source, 'truth.json'), 'utf8')) as Readonly<Record<string, { readonly kernels: number }>>;
    const kernels = new RegExp(`\\b${truth[NAME].kernels.toLocaleString('en')}\\b`);
    const workbench = await openWorkbench({ folder });

    const overview = await workbench.openFile(NAME, 'table.figures-table');
    assert.match(await overview.locator('table.figures-table').innerText(), kernels);

    await overview.getByRole('button', { name: 'Show timeline' }).click();
    await workbench.coloured(await workbench.frame('canvas.lanes-canvas'), 'canvas.lanes-canvas');

    await workbench.reload();
    await workbench.coloured(await workbench.frame('canvas.lanes-canvas'), 'canvas.lanes-canvas');
    await workbench.screenshot('trace-after-reload');
    assert.deepEqual(fs.readdirSync(folder), [NAME]);
  });
});
