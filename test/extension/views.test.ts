import assert from 'node:assert/strict';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';
import { asViewState } from '../../src/host/views/profileView';
import { closeEverything, eventually, extensionApi, temporaryFolder, writeTrace, writeTwoRanks } from './support';

describe('a view', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  before(async () => {
    api = await extensionApi();
  });

  afterEach(async () => {
    api.latency.ms = 0;
    await closeEverything(api);
  });

  it('is what a trace opens in by default', async () => {
    const trace = writeTrace(path.join(folder, 'default.pt.trace.json'));
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(trace));
    const input = await eventually('a custom editor opens', () => vscode.window.tabGroups.activeTabGroup.activeTab?.input, (value) => value instanceof vscode.TabInputCustom);
    assert.equal((input as vscode.TabInputCustom).viewType, 'fuselens.trace');
    await eventually('the editor reads the rank', () => api.profiles()[0]?.ranks[0]?.loaded?.kernels, (kernels) => kernels === 3);
    await vscode.commands.executeCommand('fuselens.showOverview');
    assert.equal(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 1, 'the editor is the Overview: no second tab');
  });

  it('is one Overview when a profile that is open in a panel is opened as an editor', async () => {
    const both = writeTwoRanks(path.join(folder, 'taken-over'));
    const trace = path.join(both, 'worker0.pt.trace.json');
    await api.openProfile(trace);
    await vscode.commands.executeCommand('fuselens.showOverview');
    await eventually('the panel reads the rank', () => api.profiles()[0]?.ranks[0]?.loaded?.kernels, (kernels) => kernels === 3);
    const open = (): readonly vscode.Tab[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    assert.deepEqual(open().map(({ input }) => input instanceof vscode.TabInputWebview), [true]);
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(trace), 'fuselens.trace');
    await eventually('the editor took over', open, (tabs) => tabs.length === 1 && tabs[0].input instanceof vscode.TabInputCustom);
    assert.equal(api.views().filter(({ view }) => view === 'overview').length, 1);
    assert.equal(api.profiles()[0].ranks[0].loaded?.kernels, 3);
  });

  it('is offered for a kernel table without taking it over', async () => {
    const manifest = vscode.extensions.getExtension('fuselens.fuselens')?.packageJSON as { readonly contributes: { readonly customEditors: readonly { readonly viewType: string; readonly priority: string }[] } };
    assert.deepEqual(manifest.contributes.customEditors.map(({ viewType, priority }) => [viewType, priority]), [['fuselens.trace', 'default'], ['fuselens.profile', 'option']]);
  });

  it('keeps rank and step while hidden, and comes back with them', async () => {
    const both = writeTwoRanks(path.join(folder, 'kept'));
    const other = writeTrace(path.join(folder, 'other.pt.trace.json'));
    await api.openProfile(both);
    const [root] = await api.tree.children();
    const ranks = (await api.tree.children(root)).filter((node) => node.kind === 'rank');
    await vscode.commands.executeCommand('fuselens.showOverview', ranks[1]);
    await eventually('rank 1 is read', () => api.profiles()[0].ranks[1].loaded, (loaded) => loaded !== undefined);
    await api.openProfile(other);
    await eventually('the other view is read', () => api.profiles()[1].ranks[0].loaded, (loaded) => loaded !== undefined);
    await vscode.commands.executeCommand('fuselens.showOverview', root);
    const state = api.views().find(({ path: file }) => file === both);
    assert.ok(state);
    const rankOne = api.profiles()[0].ranks[1].id;
    assert.equal(state.rank, rankOne);
    await eventually('still rank 1', () => api.views().find(({ path: file }) => file === both)?.rank, (rank) => rank === rankOne);
  });

  it('works over a slow connection', async () => {
    api.latency.ms = 300;
    const trace = writeTrace(path.join(folder, 'slow.pt.trace.json'));
    await api.openProfile(trace);
    await eventually('the view reads the rank', () => api.profiles()[0].ranks[0].loaded?.kernels, (kernels) => kernels === 3);
  });

  it('takes back only a state of its own kind', () => {
    const state = { version: 1, path: '/profile', view: 'overview', rank: 'r' } as const;
    assert.deepEqual(asViewState(state), state);
    for (const foreign of [undefined, null, 'text', {}, { version: 2, path: '/p', view: 'overview' }, { version: 1, path: 3, view: 'overview' }, { version: 1, path: '/p', view: 'other' }]) {
      assert.equal(asViewState(foreign), undefined);
    }
  });
});
