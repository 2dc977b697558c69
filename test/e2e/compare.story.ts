import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from '../../scripts/environment.mjs';
import { hasSharedData, sharedPath } from '../sharedData';
import { freshFolder, openWorkbench } from './workbench';

describe('comparing', function () {
  // Sixteen ranks and four themes twice.
  this.timeout(400_000);

  it('the sample\'s runs: a verdict per token, windows on one scale, tables, and all of it again after a reload', async () => {
    const folder = freshFolder('compare');
    execFileSync(process.execPath, [path.join(root, 'dist/cli.js'), 'sample', folder, '--ranks', '8'], { stdio: 'ignore' });
    const workbench = await openWorkbench({ folder: path.join(folder, 'workspace'), settings: { 'fuselens.openOnStart': [path.join(folder, 'baseline'), path.join(folder, 'optimized')] } });
    await workbench.frame('table.figures-table');
    await workbench.command('FuseLens: Compare With...');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'optimized' }).click();

    const view = await workbench.frame('.verdict', 90_000);
    assert.match(await view.locator('.verdict-head').innerText(), /faster: 1,000 tokens take/);
    const drawing = view.locator('.window-drawing').first();
    await drawing.waitFor();
    assert.equal(await view.locator('.window-drawing').count(), 2);
    await workbench.screenshotInThemes('sample-compare');

    // By keyboard: a pair of windows, a kernel in it, a column of the table.
    await view.getByRole('button', { name: /Gated RMSNorm · forward/ }).focus();
    await workbench.page.keyboard.press('Enter');
    await view.locator('.bracket', { hasText: '11 kernels' }).first().waitFor();
    await view.locator('.window-drawing').first().focus();
    await workbench.page.keyboard.press('ArrowRight');
    assert.match(await view.locator('.window-detail').innerText(), /^1 \/ \d+ · /);
    await view.locator('.section-windows').scrollIntoViewIfNeeded();
    await workbench.screenshotInThemes('sample-compare-windows');
    await view.getByRole('textbox', { name: 'Filter by name' }).fill('norm');
    await view.locator('.section-tables tbody tr', { hasText: 'Gated RMSNorm' }).first().waitFor();
    await view.locator('.section-tables').scrollIntoViewIfNeeded();
    await workbench.screenshot('sample-compare-table');

    await workbench.reload();
    const again = await workbench.frame('.verdict', 90_000);
    assert.equal(await again.getByRole('textbox', { name: 'Filter by name' }).inputValue(), 'norm');
    assert.equal(await again.getByRole('button', { name: /Gated RMSNorm · forward/ }).getAttribute('aria-pressed'), 'true');

    // The lead to the timeline, and the other way round.
    await again.getByRole('button', { name: 'Show candidate in timeline' }).click();
    await workbench.frame('canvas.lanes-canvas');
    await workbench.page.getByRole('tab', { name: /baseline → optimized/ }).click();
    await (await workbench.frame('.verdict')).getByRole('button', { name: 'Swap sides' }).click();
    await workbench.page.getByRole('tab', { name: /optimized → baseline/ }).waitFor();
  });

  it('one model on chips of two vendors: no verdict, and why', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const paths = ['cuda-h100-qwen05b-infer-stacks', 'rocm-mi300-qwen05b-infer-stacks'].map((name) => sharedPath('kineto', name));
    const workbench = await openWorkbench({ folder: freshFolder('compare-real'), settings: { 'fuselens.openOnStart': paths } });
    await workbench.frame('table.figures-table');
    await workbench.command('FuseLens: Compare With...');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'rocm-mi300' }).click();
    const view = await workbench.frame('.verdict-notComparable', 90_000);
    assert.match(await view.locator('.verdict').innerText(), /different vendors/);
    await view.locator('.window-drawing').first().waitFor();
    await workbench.screenshotInThemes('qwen-compare');
  });
});
