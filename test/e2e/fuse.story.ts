import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';
import { freshFolder, openWorkbench } from './workbench';

describe('fusing from the editor', () => {
  it('offers the fused norm where the profile shows the chain, previews it, and takes it back by one undo', async () => {
    const folder = freshFolder('fuse');
    execFileSync(process.execPath, [path.join(root, 'dist/cli.js'), 'sample', folder, '--ranks', '1'], { stdio: 'ignore' });
    const workbench = await openWorkbench({ folder: path.join(folder, 'workspace'), settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline')] } });
    const { page } = workbench;
    await workbench.frame('table.figures-table');
    await page.getByRole('treeitem', { name: 'q35_npu_old.py' }).dblclick();
    const lens = page.locator('.codelens-decoration a', { hasText: /^fuse$/ }).first();
    await lens.waitFor({ timeout: 60000 });
    await lens.click();

    await page.getByRole('tab', { name: 'Refactor Preview' }).waitFor({ timeout: 60000 });
    await page.locator('.edit-checkbox').first().click();
    await workbench.screenshot('fuse-preview');
    await page.getByRole('button', { name: 'Apply' }).first().click();
    await page.locator('.view-line', { hasText: 'torch_npu.npu_rms_norm' }).first().waitFor({ timeout: 60000 });
    await page.locator('.codelens-decoration', { hasText: 'not measured yet' }).first().waitFor({ timeout: 60000 });
    await workbench.screenshot('fuse-applied');

    await page.locator('.view-line', { hasText: 'torch_npu.npu_rms_norm' }).first().click();
    await page.keyboard.press('Control+Z');
    await page.locator('.view-line', { hasText: 'torch.rsqrt(h.pow(2)' }).first().waitFor({ timeout: 60000 });
    assert.equal(await page.locator('.view-line', { hasText: 'torch_npu.npu_rms_norm' }).count(), 0);
    await workbench.screenshot('fuse-undone');
  });
});
