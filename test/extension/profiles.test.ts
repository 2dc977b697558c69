import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';
import { closeEverything, eventually, extensionApi, temporaryFolder, writeTrace, writeTwoRanks } from './support';

describe('an open profile', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  before(async () => {
    api = await extensionApi();
  });

  afterEach(() => closeEverything(api));

  it('opens by path, becomes the active one and shows its Overview', async () => {
    const trace = writeTrace(path.join(folder, 'one.pt.trace.json'));
    assert.equal(await api.openProfile(trace), true);
    const [profile] = api.profiles();
    assert.deepEqual({ path: profile.path, active: profile.active, status: profile.status }, { path: trace, active: true, status: 'ready' });
    assert.deepEqual(api.views().map(({ view, path: file }) => [view, file]), [['overview', trace]]);
    await eventually('the view reads the rank', () => api.profiles()[0].ranks[0].loaded?.kernels, (kernels) => kernels === 3);
  });

  it('opens by the command of the Explorer, and once however often it is asked', async () => {
    const trace = writeTrace(path.join(folder, 'two.pt.trace.json'));
    await vscode.commands.executeCommand('fuselens.openInFuseLens', vscode.Uri.file(trace));
    await vscode.commands.executeCommand('fuselens.openProfile', vscode.Uri.file(trace));
    await vscode.commands.executeCommand('fuselens.showOverview');
    assert.equal(api.profiles().length, 1);
    assert.deepEqual(api.views().map(({ view }) => view), ['overview']);
    await vscode.commands.executeCommand('fuselens.showTimeline');
    assert.deepEqual(api.views().map(({ view }) => view), ['overview', 'timeline']);
  });

  it('lists ranks and, once read, steps in the tree', async () => {
    const both = writeTwoRanks(path.join(folder, 'ranks'));
    await api.openProfile(both);
    const [root] = await api.tree.children();
    assert.equal(root.kind, 'profile');
    assert.match(String(api.tree.item(root).description), /active/);
    const ranks = (await api.tree.children(root)).filter(({ kind }) => kind === 'rank');
    assert.deepEqual(ranks.map((node) => api.tree.item(node).label), ['Rank 0', 'Rank 1']);
    const steps = (await api.tree.children(ranks[1])).filter(({ kind }) => kind === 'step');
    assert.deepEqual(steps.map((node) => api.tree.item(node).label), ['ProfilerStep#5']);
    await eventually('the tree shows how many kernels', () => api.tree.children(root), (nodes) => nodes.some((node) => node.kind === 'rank' && String(api.tree.item(node).description).startsWith('3')));
  });

  it('gives its place to another active profile, and the next one when closed', async () => {
    const first = writeTrace(path.join(folder, 'first.pt.trace.json'));
    const second = writeTrace(path.join(folder, 'second.pt.trace.json'));
    await api.openProfile(first);
    await api.openProfile(second);
    const active = (): readonly string[] => api.profiles().filter((profile) => profile.active).map((profile) => profile.path);
    assert.deepEqual(active(), [second]);
    const [root] = await api.tree.children();
    await vscode.commands.executeCommand('fuselens.setActiveProfile', root);
    assert.deepEqual(active(), [first]);
    api.closeProfile(first);
    assert.deepEqual(active(), [second]);
  });

  it('is refused in one sentence when it is nothing of ours, and leaves nothing behind', async () => {
    const bad = { 'empty.json': '', 'page.json': '<html></html>', 'nothing.json': '{}', 'cut.db': 'SQLite format 3\0', 'packed.json.gz': 'not gzip' };
    for (const [name, content] of Object.entries(bad)) {
      const file = path.join(folder, name);
      fs.writeFileSync(file, content);
      assert.equal(typeof (await api.openProfile(file)), 'boolean', name);
      assert.equal(api.profiles().some(({ status }) => status === 'opening'), false, name);
    }
    assert.equal(await api.openProfile(path.join(folder, 'no-such-folder')), false);
    assert.deepEqual(api.profiles().filter(({ path: file }) => file.endsWith('no-such-folder')), []);
  });

  it('gives its memory back some seconds after its last view closed, and reads again when asked', async function () {
    this.timeout(60000);
    const trace = writeTrace(path.join(folder, 'released.pt.trace.json'));
    await api.openProfile(trace);
    await eventually('the view reads the rank', () => api.profiles()[0].ranks[0].loaded, (loaded) => loaded !== undefined);
    assert.equal(api.profiles()[0].engineRuns, true);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await eventually('the engine ends', () => api.profiles()[0].engineRuns, (runs) => !runs);
    assert.equal(api.profiles()[0].ranks[0].loaded?.kernels, 3, 'the tree keeps what it has shown');
    await vscode.commands.executeCommand('fuselens.showOverview');
    await eventually('a new engine runs', () => api.profiles()[0].engineRuns, (runs) => runs);
  });

  it('frees everything at once when closed, over and over', async () => {
    const trace = writeTrace(path.join(folder, 'again.pt.trace.json'));
    for (let round = 0; round < 5; round++) {
      assert.equal(await api.openProfile(trace), true);
      api.closeProfile(trace);
      assert.deepEqual(api.profiles(), []);
      await eventually('its tab closes', () => api.views().length, (views) => views === 0);
    }
  });
});
