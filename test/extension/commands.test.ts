import assert from 'node:assert/strict';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';
import { closeEverything, extensionApi, temporaryFolder, writeTrace } from './support';

/** These ask something first; the questions are closed again. */
const ASK = new Set(['fuselens.openProfile', 'fuselens.openInFuseLens', 'fuselens.exportCsv', 'fuselens.exportPerfetto', 'fuselens.openInPerfetto', 'fuselens.setActiveProfile', 'fuselens.runTraining', 'fuselens.profileTraining', 'fuselens.attachRun', 'fuselens.stopRun', 'fuselens.fetchRun',
  'fuselens.openRunProfile', 'fuselens.openRunFolder', 'fuselens.useRunAsBaseline', 'fuselens.compareRuns', 'fuselens.runWithRemedy']);
/** Runs a process of its own and writes megabytes: a story of its own. */
const HEAVY = new Set(['fuselens.openSampleProfile']);

describe('commands', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;
  let names: readonly string[];

  before(async () => {
    api = await extensionApi();
    names = (await vscode.commands.getCommands(true)).filter((name) => /^fuselens\.[a-z]\w*$/i.test(name) && !HEAVY.has(name));
    assert.ok(names.length > 10);
  });

  afterEach(() => closeEverything(api));

  async function run(name: string, argument?: unknown): Promise<void> {
    const done = vscode.commands.executeCommand(name, argument);
    if (ASK.has(name)) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    } else {
      await done;
    }
  }

  it('never fail when no profile is open', async () => {
    assert.deepEqual(api.profiles(), []);
    for (const name of names) {
      await run(name);
    }
    assert.deepEqual(api.profiles(), []);
  });

  it('copy paths, problems and figures of the active profile', async () => {
    const trace = writeTrace(path.join(folder, 'copied.pt.trace.json'));
    await api.openProfile(trace);
    await run('fuselens.copyPath');
    assert.equal(await vscode.env.clipboard.readText(), trace);
    await run('fuselens.copyFigures');
    const report = JSON.parse(await vscode.env.clipboard.readText()) as { readonly schema: string; readonly ranks: readonly { readonly kernels: { readonly count: number; readonly totalUs: number } }[] };
    assert.equal(report.schema, 'fuselens/1');
    assert.deepEqual([report.ranks[0].kernels.count, report.ranks[0].kernels.totalUs], [3, 59.75]);
    await run('fuselens.copyProblems');
    assert.equal(typeof (await vscode.env.clipboard.readText()), 'string');
  });

  it('reload a profile, and say so when there is no other export to use', async () => {
    await api.openProfile(writeTrace(path.join(folder, 'reloaded.pt.trace.json')));
    await run('fuselens.reloadProfile');
    await run('fuselens.useTextExport');
    await run('fuselens.useDatabaseExport');
    assert.equal(api.profiles()[0].status, 'ready');
    await run('fuselens.closeProfile');
    assert.deepEqual(api.profiles(), []);
  });
});
