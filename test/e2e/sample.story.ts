import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';
import { freshFolder, openWorkbench } from './workbench';

describe('the sample', () => {
  it('opens with its Overview, leads into the Timeline, and finds a kernel there', async () => {
    const folder = freshFolder('sample');
    execFileSync(process.execPath, [path.join(root, 'dist/cli.js'), 'sample', folder], { stdio: 'ignore' });
    const workbench = await openWorkbench({ folder: path.join(folder, 'workspace'), settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline'), path.join(folder, 'optimized')] } });

    const overview = await workbench.frame('table.figures-table');
    // The figure the sample's notes promise for rank 0.
    assert.match(await overview.locator('table.figures-table').innerText(), /19,252/);
    await workbench.page.locator('.part.statusbar', { hasText: 'baseline' }).waitFor();
    await workbench.screenshotInThemes('sample-overview');

    await overview.getByRole('button', { name: 'Show timeline' }).click();
    const timeline = await workbench.frame('canvas.lanes-canvas');
    await timeline.getByRole('group', { name: 'Kernel families' }).getByRole('button').first().waitFor();
    await workbench.coloured(timeline, 'canvas.lanes-canvas');
    await workbench.screenshotInThemes('sample-timeline');

    await timeline.locator('canvas.lanes-canvas').click({ position: { x: 300, y: 60 } });
    await workbench.page.keyboard.press('Control+f');
    await timeline.getByRole('textbox', { name: 'Name, type or shape' }).fill('allreduce');
    await timeline.locator('.hit').first().click();
    await timeline.getByRole('tab', { name: 'Selection' }).click();
    await timeline.locator('.detail-name', { hasText: /allreduce/i }).waitFor();
    await workbench.screenshot('sample-timeline-selection');
  });
});
