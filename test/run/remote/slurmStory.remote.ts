import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { freshFolder, openWorkbench, type Workbench } from '../../e2e/workbench';
import { HAS_SLURM, startSlurmLab, type SlurmLab } from '../lab/slurmLab';
import { startSshLab, until, type SshLab } from '../lab/sshLab';

const WAIT = { timeout: 60000 };
/** Counts, and then waits for a file. */
const TRAIN = `import os, time
for step in range(1, 4):
    print(f'step {step}/3 loss {2.5 / step:.3f}', flush=True)
while not os.path.exists('gate'):
    time.sleep(0.2)
`;
/** One task of an array: waits for a file, and fails where its number is even. */
const SWEEP = `import os, sys, time
task = int(os.environ['SLURM_ARRAY_TASK_ID'])
print(f'task {task} is up', flush=True)
while not os.path.exists('sweep-gate'):
    time.sleep(0.2)
sys.exit(3 if task % 2 == 0 else 0)
`;

/** A job waits, runs, ends, is cancelled and fails before the eyes of who started it. In the editor, so it needs what the stories need. */
describe('Slurm in the editor', () => {
  let lab: SshLab | undefined;
  let slurm: SlurmLab | undefined;
  let folder = '';
  before(async function () {
    if (process.getuid?.() !== 0 || !HAS_SLURM || process.env.FUSELENS_EDITOR === undefined) {
      this.skip();
    }
    lab = await startSshLab();
    slurm = await startSlurmLab();
  });
  after(async () => {
    await slurm?.dispose();
    await lab?.dispose();
  });

  const slurmSays = (file: string, ...args: readonly string[]): string => spawnSync(file, args, { encoding: 'utf8', cwd: '/tmp', env: { ...process.env, ...slurm?.environment } }).stdout.trim();
  /** A job of somebody else on every node. */
  const occupy = (): string => slurmSays('sbatch', '--parsable', '--exclusive', '--nodes=4', '--output=/dev/null', '--wrap', 'sleep 600');

  const row = ({ page }: Workbench, name: RegExp): ReturnType<Workbench['page']['locator']> => page.locator('.pane', { hasText: 'Runs' }).getByRole('treeitem', { name });
  const status = ({ page }: Workbench, text: RegExp): Promise<void> => page.locator('.statusbar', { hasText: text }).waitFor(WAIT);
  /** What the terminals show; drawn as text, not on a canvas, as the settings below ask for. */
  const terminal = ({ page }: Workbench, text: RegExp): Promise<void> => until(async () => text.test((await page.locator('.xterm-rows').allInnerTexts()).join('\n').replaceAll('\u00a0', ' ').replace(/\n/g, ' ')), `no terminal says ${text.source}`);
  async function start(workbench: Workbench, task: string): Promise<void> {
    await workbench.command('FuseLens: Run Training...');
    const choice = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: task }).first();
    await choice.waitFor(WAIT);
    await choice.click();
  }

  it('says why a job waits and at which place, then where it runs; Stop cancels it; tasks of an array and failures are told', async () => {
    folder = freshFolder('slurm-training');
    fs.writeFileSync(path.join(folder, 'train.py'), TRAIN);
    fs.writeFileSync(path.join(folder, 'sweep.py'), SWEEP);
    const whole = { nodes: 4, slurm: { arguments: ['--exclusive'] } };
    const tasks = [
      { label: 'pretrain', args: ['train.py'], ...whole }, { label: 'ablation', args: ['train.py', '--eager'], ...whole },
      { label: 'sweep', args: ['sweep.py'], slurm: { array: '1-4%2' } }, { label: 'broken', args: ['-c', 'raise SystemExit(42)'] },
    ].map((task) => ({ type: 'fuselens', host: 'lab', launcher: 'slurm', command: 'python3', workdir: folder, setup: slurm?.setup, problemMatcher: [], ...task }));
    fs.mkdirSync(path.join(folder, '.vscode'));
    fs.writeFileSync(path.join(folder, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks }));
    // Those of a try before.
    slurmSays('scancel', '--user=root');
    await until(() => slurmSays('squeue', '-h') === '', 'old jobs do not end');
    const running = occupy();
    const next = occupy();
    await until(() => slurmSays('squeue', '-h', '-j', running, '-o', '%T') === 'RUNNING', 'the nodes are not taken');
    const workbench = await openWorkbench({ folder, settings: { 'fuselens.run.sshArguments': lab?.sshArguments, 'terminal.integrated.gpuAcceleration': 'off' } });
    await workbench.command('View: Show FuseLens');

    await start(workbench, 'pretrain');
    await row(workbench, /^pretrain, lab, queued, place 2: jobs of higher priority first/).waitFor(WAIT);
    await status(workbench, /pretrain: queued, place 2: jobs of higher priority first/);
    await terminal(workbench, /Job \d+: queued, place 2: jobs of higher priority first\./);
    await start(workbench, 'ablation');
    await row(workbench, /^ablation, lab, queued, place 3/).waitFor(WAIT);
    await workbench.screenshotInThemes('slurm-queued', ['dark', 'light', 'high-contrast']);

    await workbench.command('FuseLens: Stop Run...');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'ablation' }).first().click(WAIT);
    await row(workbench, /^ablation, lab, cancelled/).waitFor(WAIT);
    await terminal(workbench, /ablation was stopped: job \d+ is cancelled\./);
    assert.deepEqual(slurmSays('squeue', '-h', '-o', '%j').split('\n').sort(), ['pretrain', 'wrap', 'wrap']);

    slurmSays('scancel', next);
    await row(workbench, /^pretrain, lab, queued, place 1: waiting for free nodes/).waitFor(WAIT);
    slurmSays('scancel', running);
    await row(workbench, /^pretrain, lab, running on n\[1-4\] · step 3\/3/).waitFor(WAIT);
    await status(workbench, /pretrain: running on n\[1-4\] · step 3\/3/);
    // Where the name stands: to the right of it are buttons.
    await workbench.page.locator('.terminal-tabs-entry', { hasText: 'pretrain' }).click({ ...WAIT, position: { x: 8, y: 8 } });
    await terminal(workbench, /Job \d+: running on n\[1-4\]\./);
    fs.writeFileSync(path.join(folder, 'gate'), '');
    await row(workbench, /^pretrain, lab, done/).waitFor(WAIT);

    await start(workbench, 'sweep');
    await row(workbench, /^task 2, running on n\d/).waitFor(WAIT);
    await row(workbench, /^task 4, waiting: the array allows no more at once/).waitFor(WAIT);
    await workbench.screenshotInThemes('slurm-array', ['dark', 'light', 'high-contrast']);
    fs.writeFileSync(path.join(folder, 'sweep-gate'), '');
    await row(workbench, /^sweep, lab, 2 of 4 tasks failed/).waitFor(WAIT);
    for (const task of [/^task 1, done/, /^task 2, failed \(3\)/, /^task 3, done/, /^task 4, failed \(3\)/]) {
      assert.equal(await row(workbench, task).count(), 1, task.source);
    }
    await terminal(workbench, /Task 2 failed with exit code 3\./);
    await workbench.notification(/sweep: 2 of 4 tasks failed \(exit code in brackets\): 2 \(3\), 4 \(3\)\./);

    await start(workbench, 'broken');
    await row(workbench, /^broken, lab, failed \(42\)/).waitFor(WAIT);
    await workbench.notification('broken: The run failed with exit code 42');
    await workbench.screenshotInThemes('slurm-ended', ['dark', 'light', 'high-contrast']);
  });
});
