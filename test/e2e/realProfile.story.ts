import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { hasSharedData, sharedPath } from '../sharedData';
import { freshFolder, openWorkbench } from './workbench';

describe('a real Ascend profile of four ranks', () => {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  it('opens from the Explorer; its ranks are in the tree, its kernels in the Overview', async () => {
    const folder = freshFolder('real');
    const profile = path.join(folder, 'qwen3');
    fs.symlinkSync(sharedPath('ascend', 'msinsight-qwen3-4rank'), profile);
    const workbench = await openWorkbench({ folder });
    const { page } = workbench;

    await workbench.explorerMenu('qwen3', 'Open in FuseLens');

    const overview = await workbench.frame('table.figures-table');
    const rows = fs.readFileSync(path.join(profile, 'rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv'), 'utf8').trimEnd().split('\n').length - 1;
    assert.match(await overview.locator('table.figures-table').innerText(), new RegExp(rows.toLocaleString('en')));
    await workbench.screenshotInThemes('qwen3-overview');

    await workbench.command('FuseLens: Show Timeline');
    const timeline = await workbench.frame('canvas.lanes-canvas');
    await workbench.coloured(timeline, 'canvas.lanes-canvas');
    await workbench.screenshotInThemes('qwen3-timeline');

    await workbench.command('FuseLens: Focus on Profiles View');
    const tree = page.locator('.pane-body:visible');
    await tree.getByRole('treeitem', { name: /qwen3/ }).click();
    await page.keyboard.press('ArrowRight');
    for (const rank of [0, 1, 2, 3]) {
      await tree.getByRole('treeitem', { name: new RegExp(`rank[ _]${rank}`, 'i') }).first().waitFor();
    }
    await workbench.screenshot('qwen3-profiles');
  });
});
