import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { findTorch } from '../../scripts/environment.mjs';
import { freshFolder, openUntrusted, openWorkbench, type Workbench } from './workbench';

const torch = findTorch();

/** A small decoder of eager norms, where PyTorch is there; else a script that only prints what one would. */
const WITH_TORCH = `import torch


class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


model = torch.nn.Sequential(*[torch.nn.Sequential(Norm(64), torch.nn.Linear(64, 64)) for _ in range(4)])
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 9):
    loss = model(torch.randn(8, 64)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f'step {step}/8 loss {loss.item():.4f}', flush=True)
`;
const PLAIN = `for step in range(1, 9):
    print(f'step {step}/8 loss {2.5 / step:.4f}', flush=True)
`;
const LONG = `import time
for step in range(1, 1000):
    print(f'step {step}/999 loss {2.5 / step:.4f}', flush=True)
    time.sleep(0.5)
`;
const BROKEN = `def scale(shape):
    return shape[3]

print('step 1 loss 2.5', flush=True)
scale((2, 4, 8))
`;

async function pick(workbench: Workbench, text: string): Promise<void> {
  const row = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  await row.waitFor({ timeout: 60000 });
  await row.click();
}

/** Answers an input box that asks for `prompt`. */
async function answer(workbench: Workbench, prompt: string, text: string): Promise<void> {
  await workbench.page.locator('.quick-input-widget', { hasText: prompt }).waitFor({ timeout: 60000 });
  const input = workbench.page.locator('.quick-input-widget input.input');
  await input.fill(text);
  await workbench.page.keyboard.press('Enter');
}

describe('running training', () => {
  it('profiles a script from the palette, shows it live, and opens what it left', async function () {
    const hasTorch = torch !== undefined;
    const folder = freshFolder('profile-training');
    fs.writeFileSync(path.join(folder, 'decoder.py'), hasTorch ? WITH_TORCH : PLAIN);
    const workbench = await openWorkbench({ folder });
    const { page } = workbench;

    // The short form: one command, no file written by hand.
    await workbench.command('FuseLens: Profile Training...');
    await pick(workbench, 'New...');
    await answer(workbench, 'The command', `${torch ?? 'python3'} decoder.py`);
    await pick(workbench, 'As it is');
    await pick(workbench, 'This machine');
    await answer(workbench, 'Which optimizer steps', '4-5');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Times only' }).waitFor({ timeout: 60000 });
    await workbench.screenshot('profile-training-cost');
    await pick(workbench, 'Times only');

    await page.locator('.part.panel', { hasText: 'decoder.py' }).waitFor({ timeout: 60000 });
    if (hasTorch) {
      // The CPU has no device kernels: the view says so instead of showing zeros.
      await workbench.frame('text=No device kernels were recorded here', 120000);
    }
    await workbench.command('View: Show FuseLens');
    await page.locator('.pane', { hasText: 'Runs' }).getByRole('treeitem', { name: /decoder\.py.*step 8\/8/ }).waitFor({ timeout: 60000 });
    await workbench.screenshot('profile-training');
    const written = fs.readFileSync(path.join(folder, '.vscode', 'tasks.json'), 'utf8');
    assert.match(written, /"type": "fuselens"/);
    assert.doesNotMatch(written, /"capture"/, 'profiling once must not change the task');

    // IntelliSense of the task type.
    await page.keyboard.press('Control+P');
    await page.locator('.quick-input-widget input.input').fill('tasks.json');
    await pick(workbench, 'tasks.json');
    await page.locator('.view-line', { hasText: '"launcher"' }).first().click();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('"');
    await page.locator('.suggest-widget .monaco-list-row', { hasText: 'capture' }).first().waitFor({ timeout: 60000 });
    await workbench.screenshot('task-intellisense');
  });

  it('says that a run goes on when its terminal is closed, stops it from there, and shows a traceback at its line', async () => {
    const folder = freshFolder('detached-training');
    fs.mkdirSync(path.join(folder, '.vscode'));
    fs.writeFileSync(path.join(folder, 'long.py'), LONG);
    fs.writeFileSync(path.join(folder, 'broken.py'), BROKEN);
    const task = (label: string): object => ({ type: 'fuselens', label, launcher: 'command', command: 'python3', args: [`${label}.py`], problemMatcher: [] });
    fs.writeFileSync(path.join(folder, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [task('long'), task('broken')] }, undefined, 2));
    const workbench = await openWorkbench({ folder });
    const { page } = workbench;
    await workbench.command('FuseLens: Run Training...');
    await pick(workbench, 'long');
    await page.locator('.statusbar', { hasText: /step \d+\/999/ }).waitFor({ timeout: 60000 });
    await workbench.command('Terminal: Kill All Terminals');
    await workbench.notification('long is still running on this machine.');
    // A toast fades in.
    await page.waitForTimeout(800);
    await workbench.screenshot('still-running');
    await page.locator('.notification-list-item', { hasText: 'still running' }).getByRole('button', { name: 'Stop' }).click();
    await workbench.command('View: Show FuseLens');
    await page.locator('.pane', { hasText: 'Runs' }).getByRole('treeitem', { name: /long.*stopped/ }).waitFor({ timeout: 60000 });

    await workbench.command('FuseLens: Run Training...');
    await pick(workbench, 'broken');
    await workbench.notification(/broken: The script ended with IndexError/);
    await workbench.command('Problems: Focus on Problems View');
    await page.locator('.markers-panel', { hasText: 'IndexError: tuple index out of range' }).waitFor({ timeout: 60000 });
    await workbench.screenshot('run-traceback');
  });

  it('starts nothing in a workspace that is not trusted, and says so', async () => {
    const folder = freshFolder('untrusted-training');
    fs.mkdirSync(path.join(folder, '.vscode'));
    fs.writeFileSync(path.join(folder, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [{ type: 'fuselens', label: 'evil', launcher: 'command', command: 'touch', args: [path.join(folder, 'ran')] }] }));
    const workbench = await openUntrusted(folder);
    await workbench.command('FuseLens: Run Training...');
    await workbench.notification('FuseLens starts no run in a workspace that is not trusted');
    await workbench.page.waitForTimeout(800);
    await workbench.screenshot('untrusted-run');
    assert.ok(!fs.existsSync(path.join(folder, 'ran')));
  });
});
