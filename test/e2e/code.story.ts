import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';
import { freshFolder, openWorkbench } from './workbench';

describe('the code behind the kernels', () => {
  it('shows the gated norm at its lines, without a stack, and leads to the timeline and the fingerprints', async () => {
    const folder = freshFolder('code');
    execFileSync(process.execPath, [path.join(root, 'dist/cli.js'), 'sample', folder, '--ranks', '2'], { stdio: 'ignore' });
    const workbench = await openWorkbench({ folder: path.join(folder, 'workspace'), settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline')] } });
    const { page } = workbench;
    await workbench.frame('table.figures-table');

    await page.getByRole('treeitem', { name: 'q35_npu_old.py' }).dblclick();
    const lens = page.locator('.codelens-decoration a', { hasText: /Gated RMSNorm · 40\.\d ms\/step/ });
    await lens.waitFor({ timeout: 60000 });
    // What costs and what can be done stand before the details, so that a narrow editor cuts those.
    const line = page.locator('.codelens-decoration', { hasText: /Gated RMSNorm · 40\.\d ms\/step/ }).filter({ hasText: 'verify' }).first();
    await line.waitFor({ timeout: 60000 });
    assert.match((await line.innerText()).replace(/\s+/g, ' '), /Gated RMSNorm · 40\.\d ms\/step ?\| ?fuse ?\| ?verify ?\| ?11 kernels × 72 \(\+ [\d.]+ ms backward\) ?\| ?all chains/);
    await workbench.screenshotInThemes('sample-code');

    await page.locator('.view-line', { hasText: 'torch.rsqrt(h.pow(2)' }).first().hover({ position: { x: 260, y: 8 } });
    await page.locator('.monaco-hover', { hasText: 'Pows' }).first().waitFor();
    await workbench.screenshot('sample-code-hover');
    await page.keyboard.press('Escape');

    await lens.click();
    const timeline = await workbench.frame('canvas.lanes-canvas');
    await timeline.locator('.detail-name', { hasText: 'aclnnCast_CastAiCore_Cast' }).waitFor();
    await workbench.screenshot('sample-chain-in-timeline');

    await workbench.command('FuseLens: Show Fingerprints');
    const fingerprints = await workbench.frame('table.chain-kernels');
    await fingerprints.locator('.data-table tr', { hasText: 'Gated RMSNorm' }).first().dblclick();
    await fingerprints.locator('.chain-sources', { hasText: 'q35_npu_old.py:29' }).waitFor();
    await workbench.screenshotInThemes('sample-fingerprints');
  });
});
