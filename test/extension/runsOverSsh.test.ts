import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi, RunInfo } from '../../src/host/api';
import { SSHD, startSshLab, type SshLab } from '../run/lab/sshLab';
import { closeEverything, eventually, extensionApi, writeTrace } from './support';

/** On the "host": counts until a file lets it go on, then fails in a file of the same name as here. */
const SCRIPT = `import os, time
from layers import norm
for step in range(1, 4):
    print(f'step {step}/3 loss {1 / step:.3f}', flush=True)
while not os.path.exists('gate'):
    time.sleep(0.1)
norm((2, 4))
`;
const LAYERS = `def norm(shape):
    raise ValueError(f'no eps for {shape}')
`;

/** Leaves a trace of step 5 where a captured run is told to, as a profiler would. */
const PROFILED = `import os, shutil
print('step 5/5 loss 0.5', flush=True)
folder = os.path.join(os.environ['FUSELENS_CAPTURE'], 'profiling_time', 'step-5')
os.makedirs(folder)
shutil.copy('recorded.json', os.path.join(folder, 'rank0_lab_1.pt.trace.json'))
`;

/** Notices with their buttons, as they are shown: in a window under test nobody sees them. */
function noticesFrom(): { readonly all: readonly (readonly unknown[])[]; readonly restore: () => void } {
  const { showInformationMessage } = vscode.window;
  const all: (readonly unknown[])[] = [];
  Object.assign(vscode.window, { showInformationMessage: (...shown: readonly unknown[]) => {
    all.push(shown);
    return Promise.resolve(undefined);
  } });
  return { all, restore: () => { Object.assign(vscode.window, { showInformationMessage }); } };
}

if (SSHD === undefined) {
  console.log('runs over ssh: left out, there is no sshd here');
} else {
  describe('runs over ssh', function () {
    this.timeout(120000);
    let api: ExtensionApi;
    let lab: SshLab;
    let root: string;
    let there: string;

    before(async () => {
      api = await extensionApi();
      lab = await startSshLab();
      root = vscode.workspace.workspaceFolders?.[0].uri.fsPath ?? '';
      there = path.join(lab.folder, `a folder with 'quotes' and $HOME`);
      fs.mkdirSync(there);
      for (const folder of [root, there]) {
        fs.writeFileSync(path.join(folder, 'layers.py'), LAYERS);
        fs.writeFileSync(path.join(folder, 'remote.py'), SCRIPT);
      }
      await vscode.workspace.getConfiguration('fuselens.run').update('sshArguments', lab.sshArguments, vscode.ConfigurationTarget.Global);
      fs.mkdirSync(path.join(root, '.vscode'), { recursive: true });
      fs.writeFileSync(path.join(there, 'profiled.py'), PROFILED);
      writeTrace(path.join(there, 'recorded.json'));
      const task = { type: 'fuselens', label: 'remote', host: 'lab', launcher: 'command', command: 'python3', args: ['remote.py'], workdir: there, problemMatcher: [] };
      const profiled = { ...task, label: 'profiled', args: ['profiled.py'], capture: { steps: [5, 5] } };
      fs.writeFileSync(path.join(root, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [task, profiled, { ...profiled, label: 'analysed there', sync: { fetch: 'none' } }] }));
      await eventually('tasks of the file', async () => vscode.tasks.fetchTasks({ type: 'fuselens' }), (found) => found.some(({ name }) => name === 'analysed there'));
    });

    after(async () => {
      await closeEverything(api);
      await vscode.workspace.getConfiguration('fuselens.run').update('sshArguments', undefined, vscode.ConfigurationTarget.Global);
      await lab.dispose();
    });

    const newest = (name: string): RunInfo | undefined => api.runs().find((one) => one.name === name);
    const run = (): RunInfo | undefined => newest('remote');

    /** Runs a captured task to its end, and gives the kernels of the profile that was opened. */
    async function kernelsOf(task: string): Promise<readonly [RunInfo, number]> {
      const execution = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.profileTraining', { task });
      await eventually('the end of the task', () => vscode.tasks.taskExecutions.includes(execution), (running) => !running, 60000);
      const made = newest(task);
      assert.ok(made?.profile !== undefined, JSON.stringify(made));
      return [made, await kernelsIn(made.profile)];
    }

    /** Of the profile, once it is the active one and shown. */
    async function kernelsIn(profile: string): Promise<number> {
      await eventually('the profile', () => api.profiles().find((one) => one.path === profile), (one) => one?.active === true && one.status === 'ready');
      assert.deepEqual(api.views().filter((view) => view.path === profile).map(({ view }) => view), ['overview']);
      await vscode.commands.executeCommand('fuselens.copyFigures');
      const { ranks } = JSON.parse(await vscode.env.clipboard.readText()) as { readonly ranks: readonly { readonly kernels: { readonly count: number } }[] };
      return ranks[0].kernels.count;
    }

    it('stream on after the connection is killed, and map a traceback of the host to the file here', async () => {
      const execution = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.runTraining', { task: 'remote' });
      await eventually('the last step', run, (one) => one?.step === 3 && one.phase === 'running', 60000);
      assert.equal(run()?.host, 'lab');
      const told = noticesFrom();
      lab.killConnections();
      await eventually('the notice', () => told.all, (all) => all.length > 0);
      assert.deepEqual(told.all, [['remote is still running on lab.', 'Stop', 'Attach']]);
      told.restore();
      fs.writeFileSync(path.join(there, 'gate'), '');
      await eventually('the end of the task', () => vscode.tasks.taskExecutions.includes(execution), (running) => !running, 60000);
      assert.deepEqual([run()?.phase, run()?.exit], ['exited', 1]);
      const diagnostics = vscode.languages.getDiagnostics(vscode.Uri.file(path.join(root, 'layers.py'))).filter(({ source }) => source === 'FuseLens');
      assert.deepEqual(diagnostics.map(({ message, range }) => [message, range.start.line + 1]), [['ValueError: no eps for (2, 4)', 2]]);
    });

    it('go on there when the terminal closes, are listed by the host, attached to and stopped', async () => {
      fs.rmSync(path.join(there, 'gate'));
      const first = run()?.id;
      const execution = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.runTraining', { task: 'remote' });
      const started = await eventually('the last step', run, (one) => one?.id !== first && one?.step === 3, 60000);
      execution.terminate();
      await eventually('letting go', run, (one) => one?.followed === false);
      await vscode.commands.executeCommand('fuselens.refreshRuns');
      assert.deepEqual([run()?.id, run()?.phase], [started?.id, 'running']);
      await vscode.commands.executeCommand('fuselens.attachRun', { host: 'lab', id: started?.id });
      await eventually('following again', run, (one) => one?.followed === true);
      await vscode.commands.executeCommand('fuselens.stopRun', { host: 'lab', id: started?.id });
      await eventually('the stop', run, (one) => one?.phase === 'exited' && one.stopped && !one.followed, 60000);
    });

    it('leave a profile that is fetched and opens here, and can be fetched again from the Runs view', async () => {
      const [made, kernels] = await kernelsOf('profiled');
      // Three kernels, as the trace was written.
      assert.equal(kernels, 3);
      const output = path.join(root, 'outputs', made.id);
      assert.equal(made.profile, path.join(output, 'profiling_time'));
      assert.match(String(made.row.contextValue), /^run capture profile$/);
      // Somebody tidied up here.
      fs.rmSync(output, { recursive: true });
      assert.equal(await vscode.commands.executeCommand('fuselens.fetchRun', { host: 'lab', id: made.id }), made.profile);
      assert.deepEqual(fs.readdirSync(path.join(output, 'profiling_time', 'step-5')), ['rank0_lab_1.pt.trace.json']);
      assert.deepEqual(fs.readFileSync(path.join(output, 'profiling_time', 'step-5', 'rank0_lab_1.pt.trace.json')), fs.readFileSync(path.join(there, 'recorded.json')));
    });

    it('leave a profile that is analysed there, and only its columns come here', async () => {
      const [made, kernels] = await kernelsOf('analysed there');
      assert.equal(kernels, 3);
      const here = fs.readdirSync(path.join(root, 'outputs', made.id), { recursive: true, encoding: 'utf8' });
      assert.deepEqual(here.filter((file) => file.endsWith('.pt.trace.json')), []);
      assert.deepEqual(fs.readdirSync(path.join(there, 'outputs', made.id, 'profiling_time', 'step-5')), ['rank0_lab_1.pt.trace.json']);
      // The command line went there once, into a folder named by its hash.
      assert.equal(fs.readdirSync(path.join(lab.folder, 'home', '.fuselens', 'cli')).length, 1);
    });
  });
}
