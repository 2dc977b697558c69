import assert from 'node:assert/strict';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';
import { asCompareState } from '../../src/host/views/compareView';
import { closeEverything, eventually, extensionApi, temporaryFolder, writeTwoRanks } from './support';

describe('a comparison', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  before(async () => {
    api = await extensionApi();
  });

  afterEach(async () => {
    await closeEverything(api);
  });

  const tabs = (): readonly string[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs).map(({ label }) => label);

  it('opens on two that are selected in the Explorer, once per pair, and reads every rank of both', async () => {
    const [base, candidate] = [writeTwoRanks(path.join(folder, 'a')), writeTwoRanks(path.join(folder, 'b'))];
    const selection = [vscode.Uri.file(candidate), vscode.Uri.file(base)];
    await vscode.commands.executeCommand('fuselens.compareSelected', selection[0], selection);
    await eventually('a tab compares them', () => api.comparisons(), (states) => states.length === 1 && states[0].base.path === base && states[0].candidate.path === candidate);
    await eventually('both profiles are listed and open', () => api.profiles().map(({ status }) => status), (statuses) => statuses.length === 2 && statuses.every((status) => status === 'ready'));
    await vscode.commands.executeCommand('fuselens.compareSelected', selection[0], [...selection].reverse());
    assert.equal(api.comparisons().length, 1, 'the same pair has one tab');
    assert.deepEqual(tabs(), ['a → b: Compare']);
  });

  it('closes with either of its profiles', async () => {
    const [base, candidate] = [writeTwoRanks(path.join(folder, 'c')), writeTwoRanks(path.join(folder, 'd'))];
    const selection = [vscode.Uri.file(base), vscode.Uri.file(candidate)];
    await vscode.commands.executeCommand('fuselens.compareSelected', selection[0], selection);
    await eventually('a tab compares them', () => api.comparisons().length, (count) => count === 1);
    api.closeProfile(candidate);
    await eventually('the tab is gone', () => [api.comparisons().length, tabs().length], ([states, open]) => states === 0 && open === 0);
  });

  it('needs two profiles, and says so in place of failing', async () => {
    const only = vscode.Uri.file(writeTwoRanks(path.join(folder, 'e')));
    await vscode.commands.executeCommand('fuselens.compareSelected', only, [only]);
    await vscode.commands.executeCommand('fuselens.compareSelected', undefined, undefined);
    assert.deepEqual(api.comparisons(), []);
  });

  it('remembers only what is a state of its own', () => {
    const state = { version: 1, view: 'compare', base: { path: '/a' }, candidate: { path: '/b' } };
    assert.deepEqual(asCompareState(state), state);
    for (const other of [undefined, null, 3, {}, { ...state, version: 2 }, { ...state, view: 'overview' }, { ...state, base: {} }, { ...state, candidate: null }]) {
      assert.equal(asCompareState(other), undefined);
    }
  });
});
