import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi, RunInfo } from '../../src/host/api';
import { closeEverything, eventually, extensionApi, writeTrace } from './support';

/** A captured run that leaves a trace as a profiler would; the pass for times waits for a file. */
const TWICE = `import os, shutil, time
out = os.environ['FUSELENS_CAPTURE']
print('step 5/5 loss 0.5', flush=True)
while not out.endswith('-stacks') and not os.path.exists(os.environ['GATE']):
    time.sleep(0.1)
folder = os.path.join(out, 'profiling_time', 'step-5')
os.makedirs(folder)
shutil.copy('recorded.json', os.path.join(folder, 'rank0_here_1.pt.trace.json'))
`;

/** Prints like a trainer; waits for a file between steps, so that a test decides how far it comes. */
const TRAIN = `import os, sys, time
def main():
    steps = int(os.environ.get('STEPS', '5'))
    for step in range(1, steps + 1):
        print(f'step {step}/{steps} loss {2.5 / step:.3f}', flush=True)
        time.sleep(0.05)
    gate = os.environ.get('GATE')
    while gate and not os.path.exists(gate):
        time.sleep(0.1)
    if os.environ.get('FAIL'):
        raise ValueError(f"no such shape: {sys.argv[1]}")
main()
`;
const RAISE_LINE = 11;

describe('runs', function () {
  this.timeout(60000);
  let api: ExtensionApi;
  let root: vscode.Uri;
  const file = (...parts: readonly string[]): string => path.join(root.fsPath, ...parts);

  before(async () => {
    api = await extensionApi();
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder !== undefined);
    root = folder.uri;
    fs.mkdirSync(file('.vscode'), { recursive: true });
    fs.writeFileSync(file('train.py'), TRAIN);
    fs.writeFileSync(file('twice.py'), TWICE);
    // As XTuner reads a configuration.
    fs.mkdirSync(file('xtuner', 'v1', 'train', 'cli'), { recursive: true });
    fs.writeFileSync(file('xtuner', 'v1', 'train', 'cli', 'sft.py'), `import os, runpy, sys\ntrainer = runpy.run_path(sys.argv[2])['trainer']\nopen(os.environ['SAID'], 'w').write(f'{trainer.profile_step} {trainer.profile_time}')\n`);
    fs.writeFileSync(file('tuned.py'), `import types\ntrainer = types.SimpleNamespace(work_dir='somewhere')\n`);
    writeTrace(file('recorded.json'));
    fs.writeFileSync(file('launch.sh'), '#!/bin/sh\ntorchrun --nproc_per_node 2 train.py --found\n');
    const base = { type: 'fuselens', launcher: 'command', command: 'python3', problemMatcher: [] };
    const tasks = [
      { ...base, label: 'quick', args: ['train.py'], env: { STEPS: '3' } },
      { ...base, label: 'failing', args: ['train.py', '(3, 4) $HOME "x"'], env: { STEPS: '1', FAIL: '1' } },
      { ...base, label: 'long', args: ['${workspaceFolder}/train.py'], env: { STEPS: '4', GATE: file('gate') } },
      { ...base, label: 'twice', args: ['twice.py'], env: { GATE: file('gate') }, capture: { steps: [5, 5], stacks: true } },
      { ...base, label: 'tuned', args: ['xtuner/v1/train/cli/sft.py', '--config', 'tuned.py'], env: { SAID: file('said') } },
      { ...base, label: 'wrong', args: ['train.py'], capture: { steps: [5, 3] } },
    ];
    fs.writeFileSync(file('.vscode', 'tasks.json'), `// ours\n${JSON.stringify({ version: '2.0.0', tasks }, undefined, 2)}`);
    await eventually('tasks of the file', async () => vscode.tasks.fetchTasks({ type: 'fuselens' }), (found) => tasks.every(({ label }) => found.some(({ name }) => name === label)));
  });

  after(async () => {
    for (const { id, phase } of api.runs()) {
      if (phase === 'running') {
        await vscode.commands.executeCommand('fuselens.stopRun', { id });
      }
    }
  });

  async function start(task: string): Promise<vscode.TaskExecution> {
    const execution = await vscode.commands.executeCommand<vscode.TaskExecution | undefined>('fuselens.runTraining', { task });
    assert.ok(execution !== undefined, `${task} was not started`);
    return execution;
  }

  function terminalOf(name: string): vscode.Terminal {
    // The newest: those of runs that have ended stay open.
    const found = vscode.window.terminals.filter((terminal) => terminal.name === name).at(-1);
    assert.ok(found !== undefined, `no terminal of ${name}: ${vscode.window.terminals.map((terminal) => terminal.name).join(', ')}`);
    return found;
  }

  const newest = (name: string): RunInfo | undefined => api.runs().find((run) => run.name === name);
  const ended = (execution: vscode.TaskExecution): Promise<unknown> => eventually('the end of the task', () => vscode.tasks.taskExecutions.includes(execution), (running) => !running);

  it('follow a task to its end, with step, loss and exit code in the tree', async () => {
    await ended(await start('quick'));
    const run = await eventually('the end of the run', () => newest('quick'), (one) => one?.phase === 'exited' && !one.followed);
    assert.deepEqual([run?.phase, run?.exit, run?.step, run?.totalSteps, run?.loss, run?.followed], ['exited', 0, 3, 3, 0.833, false]);
    assert.match(String(run?.row.description), /done · step 3\/3 · loss 0\.833/);
    assert.equal(run?.row.contextValue, 'run');
  });

  it('publish a traceback as a problem of the local file, and take it back with the next run of the task', async () => {
    await ended(await start('failing'));
    const uri = vscode.Uri.file(file('train.py'));
    const ours = (): readonly vscode.Diagnostic[] => vscode.languages.getDiagnostics(uri).filter(({ source, severity }) => source === 'FuseLens' && severity === vscode.DiagnosticSeverity.Error);
    const [found, ...others] = await eventually('the diagnostic', ours, (all) => all.length > 0);
    assert.deepEqual(others, []);
    assert.deepEqual([found.message, found.range.start.line + 1, found.code], ['ValueError: no such shape: (3, 4) $HOME "x"', RAISE_LINE, 'failing']);
    assert.deepEqual(found.relatedInformation?.map(({ location, message }) => [path.basename(location.uri.fsPath), location.range.start.line + 1, message]), [['train.py', RAISE_LINE + 1, '<module>']]);
    await eventually('the failed run', () => newest('failing'), (run) => run?.phase === 'exited' && run.exit === 1);
    // The next one of the same task, which does not fail.
    const text = fs.readFileSync(file('.vscode', 'tasks.json'), 'utf8');
    fs.writeFileSync(file('.vscode', 'tasks.json'), text.replace('"FAIL": "1"', '"FAIL": ""'));
    await eventually('the changed task', async () => (await vscode.tasks.fetchTasks({ type: 'fuselens' })).find(({ name }) => name === 'failing')?.definition.env as Record<string, string> | undefined, (env) => env?.FAIL === '');
    await ended(await start('failing'));
    await eventually('the run that does not fail', () => newest('failing'), (run) => run?.exit === 0);
    await eventually('no diagnostic', ours, (all) => all.length === 0);
  });

  it('go on when the terminal goes, are attached to again from their beginning, and stop when told to', async () => {
    fs.rmSync(file('gate'), { force: true });
    const execution = await start('long');
    await eventually('the last step', () => newest('long'), (run) => run?.step === 4 && run.phase === 'running');
    execution.terminate();
    const left = await eventually('letting go', () => newest('long'), (run) => run?.followed === false);
    await vscode.commands.executeCommand('fuselens.refreshRuns');
    assert.equal(newest('long')?.phase, 'running');
    assert.match(String(newest('long')?.row.contextValue), /\blive\b/);

    const attached = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.attachRun', { id: left?.id });
    await eventually('following again', () => newest('long'), (run) => run?.followed === true && run.step === 4);
    await vscode.commands.executeCommand('fuselens.stopRun', { id: left?.id });
    await ended(attached);
    const stopped = await eventually('the stop', () => newest('long'), (run) => run?.phase === 'exited');
    assert.deepEqual([stopped?.stopped, stopped?.id], [true, left?.id]);
    assert.equal(api.runs().filter(({ name }) => name === 'long').length, 1);
  });

  it('end by themselves after they were let go, and are told as done later', async () => {
    fs.rmSync(file('gate'), { force: true });
    const execution = await start('long');
    await eventually('running', () => newest('long'), (run) => run?.step === 4 && run.phase === 'running');
    // Closing the terminal, as its bin in the panel does; before, the task was terminated.
    terminalOf('long').dispose();
    await eventually('letting go', () => newest('long'), (run) => run?.followed === false);
    await ended(execution);
    await vscode.commands.executeCommand('fuselens.refreshRuns');
    assert.deepEqual([newest('long')?.phase, newest('long')?.stopped], ['running', false]);
    fs.writeFileSync(file('gate'), '');
    await eventually('the end', async () => {
      await vscode.commands.executeCommand('fuselens.refreshRuns');
      return newest('long');
    }, (run) => run?.phase === 'exited');
    assert.deepEqual([newest('long')?.exit, newest('long')?.stopped], [0, false]);
  });

  it('go on with the second pass of a capture when attached to after the first has ended, once', async () => {
    fs.rmSync(file('gate'), { force: true });
    const execution = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.profileTraining', { task: 'twice' });
    await eventually('the first pass', () => newest('twice'), (run) => run?.step === 5 && run.phase === 'running');
    execution.terminate();
    const first = await eventually('letting go', () => newest('twice'), (run) => run?.followed === false);
    fs.writeFileSync(file('gate'), '');
    await eventually('its end', async () => {
      await vscode.commands.executeCommand('fuselens.refreshRuns');
      return newest('twice');
    }, (run) => run?.phase === 'exited');
    assert.deepEqual(api.runs().filter(({ name }) => name === 'twice').map(({ id }) => id), [first?.id]);

    await ended(await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.attachRun', { id: first?.id }));
    const passes = api.runs().filter(({ name }) => name === 'twice');
    assert.deepEqual(passes.map(({ id, exit }) => [id, exit]), [[`${first?.id}-stacks`, 0], [first?.id, 0]]);
    // The profile that has the times is the one that is opened.
    assert.deepEqual(api.profiles().filter(({ active }) => active).map((one) => one.path), [path.join(file('outputs'), String(first?.id), 'profiling_time')]);
    await ended(await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.attachRun', { id: first?.id }));
    assert.equal(api.runs().filter(({ name }) => name === 'twice').length, 2);
    await closeEverything(api);
  });

  it('ask which steps and how; an XTuner trainer is offered its own switches, in a copy of its configuration', async () => {
    const started = vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.profileTraining', { task: 'tuned' });
    // Nothing tells a test that a question is there: it waits a second for each.
    const press = async (...commands: readonly string[]): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      for (const command of commands) {
        await vscode.commands.executeCommand(command);
      }
    };
    await press('workbench.action.acceptSelectedQuickOpenItem');
    await press('workbench.action.quickOpenSelectNext', 'workbench.action.quickOpenSelectNext', 'workbench.action.acceptSelectedQuickOpenItem');
    await ended(await started);
    assert.equal(fs.readFileSync(file('said'), 'utf8'), '[5, 6, 7] True');
    assert.equal(fs.readFileSync(file('tuned.py'), 'utf8'), `import types\ntrainer = types.SimpleNamespace(work_dir='somewhere')\n`);
  });

  it('are cancelled by Ctrl+C in the terminal of their task', async () => {
    fs.rmSync(file('gate'), { force: true });
    const execution = await start('long');
    const running = await eventually('the last step', () => newest('long'), (run) => run?.step === 4 && run.phase === 'running');
    terminalOf('long').sendText('\u0003', false);
    await ended(execution);
    const stopped = await eventually('the end of the run', () => newest('long'), (run) => run?.phase === 'exited' && !run.followed);
    assert.deepEqual([stopped?.id, stopped?.stopped], [running?.id, true]);
    assert.match(String(stopped?.row.description), /^stopped/);
  });

  it('do not start with settings that cannot be meant; tasks.json says where', async () => {
    const before = api.runs().length;
    const task = (await vscode.tasks.fetchTasks({ type: 'fuselens' })).find(({ name }) => name === 'wrong');
    assert.ok(task !== undefined);
    await ended(await vscode.tasks.executeTask(task));
    assert.equal(api.runs().length, before);
    const document = await vscode.workspace.openTextDocument(file('.vscode', 'tasks.json'));
    const [problem] = await eventually('the diagnostic', () => vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === 'FuseLens'), (all) => all.length > 0);
    assert.match(problem.message, /capture\.steps.*from 5 to 3/);
    assert.match(document.getText(problem.range), /^\[\s*5,\s*3\s*\]$/);
  });

  it('are found in shell scripts', async () => {
    const found = (await vscode.tasks.fetchTasks({ type: 'fuselens' })).find(({ detail }) => detail === 'launch.sh:2');
    assert.deepEqual(found?.definition, { type: 'fuselens', launcher: 'torchrun', command: 'train.py', args: ['--found'], procs: 2 });
  });
});

const python = process.env.FUSELENS_PYTHON ?? path.join(process.env.FUSELENS_ROOT ?? '', '.torch-venv/bin/python');
/** A decoder's worth of eager norms, small enough for any machine. */
const MODEL = `import torch
class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Sequential(Norm(64), torch.nn.Linear(64, 64)) for _ in range(4)])
    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return x
torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(1, 9):
    loss = model(torch.randn(8, 64)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f'step {step}/8 loss {loss.item():.4f}', flush=True)
`;

(fs.existsSync(python) ? describe : describe.skip)('captures', function () {
  this.timeout(120000);
  let api: ExtensionApi;
  let root: string;

  before(async () => {
    api = await extensionApi();
    root = vscode.workspace.workspaceFolders?.[0].uri.fsPath ?? '';
    fs.mkdirSync(path.join(root, '.vscode'), { recursive: true });
    fs.writeFileSync(path.join(root, 'decoder.py'), MODEL);
    const base = { type: 'fuselens', launcher: 'command', command: python, problemMatcher: [], capture: { steps: [4, 5], warmup: 1 } };
    const tasks = [{ ...base, label: 'decoder', args: ['decoder.py'] }, { ...base, label: 'early', args: ['-c', 'print("no steps here")'] }];
    fs.writeFileSync(path.join(root, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks }));
    await eventually('tasks of the file', async () => vscode.tasks.fetchTasks({ type: 'fuselens' }), (found) => tasks.every(({ label }) => found.some(({ name }) => name === label)));
  });

  afterEach(() => closeEverything(api));

  async function profile(argument: object): Promise<RunInfo> {
    const before = new Set(api.runs().map(({ id }) => id));
    const execution = await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.profileTraining', argument);
    await eventually('the end of the task', () => vscode.tasks.taskExecutions.includes(execution), (running) => !running, 90000);
    const [made] = api.runs().filter(({ id }) => !before.has(id)).slice(-1);
    assert.ok(made !== undefined);
    return made;
  }

  it('leave a profile that opens under the name of the run, with its steps', async () => {
    const made = await profile({ task: 'decoder' });
    assert.deepEqual([made.phase, made.exit, made.step, made.row.contextValue], ['exited', 0, 8, 'run capture profile']);
    const opened = api.profiles().find((one) => one.path === made.profile);
    assert.ok(opened?.active === true && opened.status === 'ready', JSON.stringify(opened));
    const [row] = await api.tree.children();
    assert.match(String(api.tree.item(row).label), /^decoder · /);
    const record = JSON.parse(fs.readFileSync(path.join(made.profile ?? '', '..', 'fuselens-run.json'), 'utf8')) as { readonly name: string; readonly environment: Record<string, string> };
    assert.equal(record.name, 'decoder');
    assert.match(record.environment.torch, /^2\./);
    await vscode.commands.executeCommand('fuselens.useRunAsBaseline', { id: made.id });
  });

  it('in two passes carry the lines of one over to the other', async () => {
    const made = await profile({ task: 'decoder', capture: { steps: [4, 5], warmup: 1, stacks: true } });
    const [second, first] = api.runs();
    assert.deepEqual([first.name, second.name, second.id], ['decoder', 'decoder', `${first.id}-stacks`]);
    assert.equal(made.id, first.id);
    assert.equal(api.profiles().find(({ active }) => active)?.path, first.profile);
    // The CPU ran operators; that is what the lens over the norm counts.
    const document = await vscode.workspace.openTextDocument(path.join(root, 'decoder.py'));
    await vscode.window.showTextDocument(document);
    const titles = async (): Promise<readonly string[]> => (await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri)).map(({ command }) => command?.title ?? '');
    const found = await eventually('a lens', titles, (all) => all.some((title) => title.includes('/step')), 40000);
    assert.match(found.join(' | '), /RMSNorm · [\d.]+ .s\/step( \| \w+)* \| \d+ operators × \d+/);
    assert.doesNotMatch(found.join('\n'), /kernel/);
  });

  it('say why there is none when the script takes no step', async () => {
    const made = await profile({ task: 'early' });
    assert.deepEqual([made.phase, made.exit, made.profile], ['exited', 0, undefined]);
    assert.equal(made.row.contextValue, 'run capture');
  });
});
