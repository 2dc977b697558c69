import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { SSHD, startSshLab, until, type SshLab } from '../run/lab/sshLab';
import { freshFolder, openWorkbench, type Workbench } from './workbench';
import { RECORDED_STEP } from '../run/lab/recordedStep';

const LONG = `import time
for step in range(1, 1000):
    print(f'step {step}/999 loss {2.5 / step:.4f}', flush=True)
    time.sleep(0.5)
`;
/** A captured run that leaves a trace as a profiler would; the pass for times waits for a file. */
const TWICE = `import os, shutil, time
out = os.environ['FUSELENS_CAPTURE']
print('step 5/5 loss 0.5', flush=True)
while not out.endswith('-stacks') and not os.path.exists('gate'):
    time.sleep(0.1)
folder = os.path.join(out, 'profiling_time', 'step-5')
os.makedirs(folder)
shutil.copy('recorded.json', os.path.join(folder, 'rank0_here_1.pt.trace.json'))
`;
const WAIT = { timeout: 60000 };
const PASSPHRASE = 'two words';

const writeTasks = (folder: string, tasks: readonly object[]): void => {
  fs.mkdirSync(path.join(folder, '.vscode'), { recursive: true });
  fs.writeFileSync(path.join(folder, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: tasks.map((task) => ({ type: 'fuselens', launcher: 'command', command: 'python3', problemMatcher: [], ...task })) }, undefined, 2));
};

async function pick({ page }: Workbench, text: string): Promise<void> {
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  await row.waitFor(WAIT);
  await row.click();
}

/** Answers an input box that asks for `prompt`. */
async function answer({ page }: Workbench, prompt: string | RegExp, text: string): Promise<void> {
  await page.locator('.quick-input-widget', { hasText: prompt }).waitFor(WAIT);
  await page.locator('.quick-input-widget input.input').fill(text);
  await page.keyboard.press('Enter');
}

const row = ({ page }: Workbench, name: RegExp): ReturnType<Workbench['page']['locator']> => page.locator('.pane', { hasText: 'Runs' }).getByRole('treeitem', { name });

async function pressInNotice({ page }: Workbench, button: string, notice: string): Promise<void> {
  await page.locator('.notification-list-item', { hasText: notice }).getByRole('button', { name: button }).click(WAIT);
}

describe('a window on runs', () => {
  let lab: SshLab | undefined;
  let tries = 0;
  after(() => lab?.dispose());

  it('says after a reload what goes on and which pass is to come; Attach streams a run again, Stop ends it', async () => {
    // Runs of a try before are still listed.
    tries++;
    const [long, twice] = [`long${tries}`, `twice${tries}`];
    const folder = freshFolder('reloaded-training');
    fs.writeFileSync(path.join(folder, 'long.py'), LONG);
    fs.writeFileSync(path.join(folder, 'twice.py'), TWICE);
    fs.writeFileSync(path.join(folder, 'recorded.json'), JSON.stringify(RECORDED_STEP));
    writeTasks(folder, [{ label: long, args: ['long.py'] }, { label: twice, args: ['twice.py'], capture: { steps: [5, 5], stacks: true } }]);
    const workbench = await openWorkbench({ folder });
    const { page } = workbench;
    await workbench.command('FuseLens: Run Training...');
    await pick(workbench, long);
    await page.locator('.statusbar', { hasText: /step \d+\/999/ }).waitFor(WAIT);
    await workbench.command('FuseLens: Profile Training...');
    await pick(workbench, twice);
    await page.locator('.statusbar', { hasText: /step 5\/5/ }).waitFor(WAIT);

    await workbench.reload();
    // Nobody follows the first pass as it ends.
    fs.writeFileSync(path.join(folder, 'gate'), '');
    await workbench.notification(`${long} is still running on this machine.`);
    await pressInNotice(workbench, 'Attach', `${long} is still running`);
    // It is the same run, from its first line on.
    await page.locator('.part.panel .tab, .part.panel', { hasText: `${long} (attached)` }).first().waitFor(WAIT);
    await page.locator('.statusbar', { hasText: /step \d+\/999/ }).waitFor(WAIT);
    await pressInNotice(workbench, 'Start Second Pass', `The first pass of ${twice} ended while no window followed it`);
    await workbench.command('View: Show FuseLens');
    await until(async () => (await row(workbench, new RegExp(`^${twice}.*done`)).count()) === 2, 'the second pass did not run');
    await workbench.screenshot('attached-after-reload');

    await workbench.reload();
    await workbench.notification(`${long} is still running on this machine.`);
    await pressInNotice(workbench, 'Stop', `${long} is still running`);
    await workbench.command('View: Show FuseLens');
    await row(workbench, new RegExp(`${long}.*stopped`)).waitFor(WAIT);
    assert.equal(await row(workbench, new RegExp(`^${long}`)).count(), 1, 'there was one run all the time');
  });

  it('asks once which folder holds new runs, and offers to save before a run', async () => {
    const place = freshFolder('two-folders');
    for (const name of ['first', 'second']) {
      fs.mkdirSync(path.join(place, name));
      fs.writeFileSync(path.join(place, name, `${name}.py`), `open('ran', 'w').write('of ${name}')\n`);
    }
    const file = path.join(place, 'both.code-workspace');
    fs.writeFileSync(file, JSON.stringify({ folders: [{ path: 'first' }, { path: 'second' }] }));
    // VS Code saves by itself before a task, unless it is told not to.
    const workbench = await openWorkbench({ folder: file, settings: { 'files.autoSave': 'off', 'task.saveBeforeRun': 'never' } });
    const { page } = workbench;
    const ran = path.join(place, 'second', 'ran');
    const newRun = async (command: string, folder?: string): Promise<void> => {
      await workbench.command('FuseLens: Run Training...');
      await pick(workbench, 'New...');
      if (folder !== undefined) {
        await page.locator('.quick-input-widget', { hasText: 'Which folder shall hold the runs?' }).waitFor(WAIT);
        await pick(workbench, folder);
      }
      await answer(workbench, 'The command', command);
      await pick(workbench, 'As it is');
      await pick(workbench, 'This machine');
    };
    await newRun('python3 second.py', 'second');
    // The terminal is drawn on a canvas: the run tells by a file.
    const says = (text: string): Promise<void> => until(() => fs.existsSync(ran) && fs.readFileSync(ran, 'utf8') === text, `no run said "${text}"`);
    await says('of second');

    // Unsaved text of the folder that runs.
    await page.getByRole('treeitem', { name: 'second.py' }).dblclick();
    await page.locator('.view-line', { hasText: 'of second' }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type(`open('ran', 'w').write('typed and saved')`);
    // Not asked again: the folder is known.
    await newRun('python3 second.py --again');
    const dialog = page.locator('.monaco-dialog-box', { hasText: 'Files are not saved yet' });
    await dialog.waitFor(WAIT);
    await workbench.screenshot('save-before-run');
    await dialog.getByRole('button', { name: 'Save All' }).click();
    await says('typed and saved');
    assert.match(fs.readFileSync(path.join(place, 'second', '.vscode', 'tasks.json'), 'utf8'), /--again/);
    assert.ok(!fs.existsSync(path.join(place, 'first', '.vscode')));
  });

  (SSHD === undefined ? it.skip : it)('asks what ssh asks in an input box, sends the folder after a look at what will go, and lists what runs on that host', async () => {
    // That of a try before.
    await lab?.dispose();
    lab = await startSshLab();
    // The key is of use only to who knows its words.
    execFileSync('ssh-keygen', ['-q', '-p', '-P', '', '-N', PASSPHRASE, '-f', path.join(lab.folder, 'id')]);
    const folder = freshFolder('asked-by-ssh');
    fs.writeFileSync(path.join(folder, 'pushed.py'), 'print("step 1 loss 2.5")\n');
    fs.writeFileSync(path.join(folder, 'notes.txt'), 'not for the host\n');
    fs.writeFileSync(path.join(folder, '.gitignore'), 'notes.txt\n.vscode/\n');
    writeTasks(folder, [{ label: 'there', host: 'lab', args: ['pushed.py'], sync: { push: true } }]);
    const workbench = await openWorkbench({ folder, settings: { 'fuselens.run.sshArguments': lab.sshArguments } });
    const { page } = workbench;
    await workbench.command('FuseLens: Run Training...');
    await pick(workbench, 'there');
    await page.locator('.quick-input-widget', { hasText: 'ssh asks about lab' }).waitFor(WAIT);
    assert.equal(await page.locator('.quick-input-widget input.input').getAttribute('type'), 'password');
    await workbench.screenshot('ssh-asks');
    await answer(workbench, /Enter passphrase for key/, PASSPHRASE);
    const dialog = page.locator('.monaco-dialog-box', { hasText: /Send 2 files .* to .* on lab\?/ });
    await dialog.waitFor(WAIT);
    assert.match(await dialog.innerText(), /pushed\.py/);
    assert.doesNotMatch(await dialog.innerText(), /notes\.txt/);
    await workbench.screenshot('push-asks');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await workbench.command('View: Show FuseLens');
    await row(workbench, /there.*lab.*done/).waitFor(WAIT);
    await workbench.command('FuseLens: Attach to Run...');
    await pick(workbench, 'Another host...');
    await answer(workbench, 'A name that ssh accepts', 'lab');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: /there.*lab · done/ }).waitFor(WAIT);
  });
});
