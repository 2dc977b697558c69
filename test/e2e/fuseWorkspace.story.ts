import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';
import { freshFolder, openWorkbench, type Workbench } from './workbench';

/** Ticks everything in the Refactor Preview and applies it. */
async function applyPreview(workbench: Workbench): Promise<void> {
  const { page } = workbench;
  await page.getByRole('tab', { name: 'Refactor Preview' }).waitFor({ timeout: 90000 });
  const boxes = page.locator('.refactor-preview .edit-checkbox, .bulk-edit-panel .edit-checkbox, .edit-checkbox');
  await boxes.first().waitFor({ timeout: 20000 });
  for (let i = 0; i < await boxes.count(); i++) {
    if (!(await boxes.nth(i).isChecked())) {
      await boxes.nth(i).click();
    }
  }
  await page.getByRole('button', { name: 'Apply' }).first().click();
}

describe('fusing more than one place', () => {
  const sample = (name: string): string => {
    const folder = freshFolder(name);
    execFileSync(process.execPath, [path.join(root, 'dist/cli.js'), 'sample', folder, '--ranks', '1'], { stdio: 'ignore' });
    return folder;
  };

  it('fuses the whole workspace as one edit, says what was left and why, and takes it back by one undo', async () => {
    const folder = sample('fuse-all');
    const workbench = await openWorkbench({ folder: path.join(folder, 'workspace'), settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline')] } });
    const { page } = workbench;
    await workbench.frame('table.figures-table');
    await page.getByRole('treeitem', { name: 'q35_npu_old.py' }).dblclick();
    await page.locator('.codelens-decoration a', { hasText: /^fuse$/ }).first().waitFor({ timeout: 90000 });
    await workbench.command('FuseLens: Fuse All in Workspace');
    await applyPreview(workbench);
    await page.locator('.view-line', { hasText: 'torch_npu.npu_rms_norm' }).first().waitFor({ timeout: 60000 });
    const told = page.locator('.notification-list-item-message', { hasText: /fused in one file, \d+ left as they are/ });
    await told.waitFor({ timeout: 30000 });
    assert.match(await told.innerText(), /\d+ × /);
    await workbench.screenshot('fuse-workspace');
    await page.locator('.view-line', { hasText: 'torch_npu.npu_rms_norm' }).first().click();
    await page.keyboard.press('Control+Z');
    await page.locator('.view-line', { hasText: 'torch.rsqrt(h.pow(2)' }).first().waitFor({ timeout: 60000 });
    assert.equal(await page.locator('.view-line', { hasText: 'torch_npu' }).count(), 0);
  });

  it('leaves an installed package alone, and writes a patch module into the workspace', async () => {
    const folder = sample('fuse-installed');
    const site = path.join(folder, 'venv', 'lib', 'python3.11', 'site-packages');
    const own = path.join(folder, 'own');
    fs.mkdirSync(path.join(site, 'q35'), { recursive: true });
    fs.mkdirSync(own);
    fs.writeFileSync(path.join(own, 'run.py'), 'import torch\n');
    fs.cpSync(path.join(folder, 'workspace'), path.join(site, 'q35'), { recursive: true });
    fs.rmSync(path.join(folder, 'workspace'), { recursive: true });
    const installed = path.join(site, 'q35', 'q35_npu_old.py');
    const before = fs.readFileSync(installed);
    const workbench = await openWorkbench({ folder: own, settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline')], 'fuselens.source.folders': [site] } });
    const { page } = workbench;
    await workbench.frame('table.figures-table');
    await workbench.openPath(installed);
    await page.locator('.codelens-decoration a', { hasText: /kernels/ }).first().waitFor({ timeout: 90000 });
    await page.locator('.view-line', { hasText: 'torch.rsqrt(h.pow(2)' }).first().click();
    await page.keyboard.press('Control+.');
    await page.locator('.action-widget', { hasText: 'Write patch module...' }).waitFor({ timeout: 30000 });
    await workbench.screenshot('fuse-patch-offered');
    await page.keyboard.press('Escape');
    await workbench.command('FuseLens: Write Patch Module for Installed File');
    await applyPreview(workbench);
    await page.locator('.view-line', { hasText: '_SOURCE_SHA256' }).first().waitFor({ timeout: 60000 });
    await workbench.screenshot('fuse-patch-module');
    assert.ok(fs.readFileSync(installed).equals(before));
    const written = fs.readFileSync(path.join(own, 'fuselens_patch_q35_npu_old.py'), 'utf8');
    assert.match(written, /import q35\.q35_npu_old as _original[\s\S]*torch_npu\.npu_rms_norm/);
  });
});
