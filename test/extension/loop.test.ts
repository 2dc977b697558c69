import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi, RunInfo } from '../../src/host/api';
import type { CompareReport } from '../../src/protocol/compare';
import { closeEverything, eventually, extensionApi } from './support';

/**
 * Stands in for a script on a device, which no test machine has: it leaves in the capture's folder what the profiler of a GPU
 * would, two steps of three kernels; with FAST=1 they take half as long. Everything round it is real.
 */
const DEVICE = `import json, os
folder = os.path.join(os.environ['FUSELENS_CAPTURE'], 'profiling_time', 'step-4')
os.makedirs(folder)
scale = 0.5 if os.environ.get('FAST') == '1' else 1.0
events = []
for number in (4, 5):
    start = number * 1000.0
    events.append(dict(ph='X', cat='user_annotation', name=f'ProfilerStep#{number}', pid=7, tid=7, ts=start, dur=200 * scale))
    for i, (name, at, dur) in enumerate((('gemm_kernel', 10, 80), ('add_kernel', 100, 30), ('layer_norm_kernel', 140, 40))):
        link = dict(correlation=number * 10 + i)
        events.append(dict(ph='X', cat='cuda_runtime', name='cudaLaunchKernel', pid=7, tid=7, ts=start + at * scale - 4, dur=2, args=link))
        events.append(dict(ph='X', cat='kernel', name=name, pid=0, tid=7, ts=start + at * scale, dur=dur * scale, args=dict(device=0, stream=7, **link)))
    print(f'step {number} loss {1 / number:.3f}', flush=True)
with open(os.path.join(folder, 'rank0.pt.trace.json'), 'w') as file:
    json.dump(dict(schemaVersion=1, deviceProperties=[dict(id=0, name='Test GPU')], distributedInfo=dict(backend='nccl', rank=0, world_size=1), traceEvents=events), file)
`;

describe('runs that are made again', function () {
  this.timeout(120000);
  let api: ExtensionApi;

  before(async () => {
    api = await extensionApi();
    const root = vscode.workspace.workspaceFolders?.[0].uri.fsPath ?? '';
    fs.mkdirSync(path.join(root, '.vscode'), { recursive: true });
    fs.writeFileSync(path.join(root, 'device.py'), DEVICE);
    const base = { type: 'fuselens', launcher: 'command', command: 'python3', args: ['device.py'], problemMatcher: [], capture: { steps: [4, 5], warmup: 0 }, tokensPerStep: 4096 };
    fs.writeFileSync(path.join(root, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [{ ...base, label: 'device' }, { ...base, label: 'device fast', env: { FAST: '1' } }] }));
    await eventually('tasks of the file', async () => vscode.tasks.fetchTasks({ type: 'fuselens' }), (found) => ['device', 'device fast'].every((label) => found.some(({ name }) => name === label)));
  });

  afterEach(() => closeEverything(api));

  const ended = (execution: vscode.TaskExecution): Promise<unknown> => eventually('the end of the task', () => vscode.tasks.taskExecutions.includes(execution), (running) => !running, 60000);
  const run = (name: string): RunInfo | undefined => api.runs().find((one) => one.name === name);

  // A task that has not begun yet is in no list either.
  const opened = (name: string): Promise<RunInfo | undefined> => eventually(`the profile of ${name}`, () => run(name), (one) => one?.exit !== undefined && one.profile !== undefined, 120000);

  it('puts a remedy into a copy of the run that made the active profile, and compares what it leaves', async () => {
    await ended(await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.profileTraining', { task: 'device' }));
    const first = await opened('device');
    assert.equal(api.profiles().find(({ active }) => active)?.path, first?.profile);
    await ended(await vscode.commands.executeCommand<vscode.TaskExecution>('fuselens.runWithRemedy', { remedy: 'FAST=1' }));
    const second = await opened('device FAST=1');
    assert.deepEqual([second?.exit, second?.profile === undefined], [0, false]);
    const [comparison] = await eventually('the comparison', () => api.comparisons(), (all) => all.length > 0, 60000);
    assert.deepEqual([comparison.base.path, comparison.candidate.path], [first?.profile, second?.profile]);
    // The task itself is as it was.
    const tasks = await vscode.tasks.fetchTasks({ type: 'fuselens' });
    assert.equal(tasks.find(({ name }) => name === 'device')?.definition.env, undefined);
  });

  it('makes two runs in turn and compares their medians', async () => {
    const report = await vscode.commands.executeCommand<CompareReport>('fuselens.compareRuns', { base: 'device', candidate: 'device fast', times: 2 });
    assert.deepEqual([report.base.runs, report.candidate.runs, report.base.samples, report.verdict.kind], [2, 2, 4, 'faster']);
    assert.deepEqual([report.verdict.baseStepUs?.median, report.verdict.candidateStepUs?.median], [200, 100]);
    const order = api.runs().slice(0, 4).map(({ name }) => name).reverse();
    assert.deepEqual(order, ['device 1/2', 'device fast 1/2', 'device fast 2/2', 'device 2/2']);
    const page = vscode.window.visibleTextEditors.map(({ document }) => document).find(({ languageId }) => languageId === 'markdown') ?? vscode.workspace.textDocuments.find(({ languageId }) => languageId === 'markdown');
    assert.match(page?.getText() ?? '', /200 µs[\s\S]*100 µs/);
  });
});
