/** Wires the parts together; nothing else happens here. No profile is read and no workspace is searched at activation. */
import * as path from 'node:path';
import type * as vscode from 'vscode';
import { activeProfileItem } from './host/activeProfile';
import type { ExtensionApi } from './host/api';
import type { CommandContext } from './host/commands/context';
import { askAndOpen, openOnStart, openPath } from './host/commands/openProfile';
import { registerCommands } from './host/commands/register';
import { Measurements } from './host/editor/measured';
import { registerEditor } from './host/editor/register';
import { openSource } from './host/openSource';
import { ProfileStore } from './host/profileStore';
import { sourceRequest } from './host/sourceRequest';
import { engineStarter, reloadOnRules } from './host/startEngine';
import { registerRuns } from './host/tasks/register';
import { ProfilesTree } from './host/views/profilesTree';
import { CompareTabs } from './host/views/compareTabs';
import { ViewTabs } from './host/views/viewTabs';

export function activate(context: vscode.ExtensionContext): ExtensionApi {
  const started = performance.now();
  const { extensionUri, extensionPath, globalStorageUri, workspaceState, globalState } = context;
  const store = new ProfileStore(engineStarter(path.join(extensionPath, 'dist', 'worker.js'), globalStorageUri.fsPath), { workspace: workspaceState, global: globalState });
  const tree = new ProfilesTree(store);
  const latency = { ms: 0 };
  const tabs = new ViewTabs(store, { extensionUri, latency, openSource, sources: sourceRequest, openOther: () => void askAndOpen(commands) });
  const compareTabs = new CompareTabs(store, { extensionUri, latency, openSource, sources: sourceRequest, show: (profile, view, target) => tabs.show(profile, view, target) });
  const commands: CommandContext = { store, tabs, compareTabs, tree, extensionPath, globalStorage: globalStorageUri };
  const measurements = new Measurements(workspaceState);
  const editor = registerEditor(store, tabs, extensionUri, measurements);
  context.subscriptions.push(store, tree, tabs, compareTabs, activeProfileItem(store), registerCommands(commands), reloadOnRules(store), editor.disposable);
  const runs = registerRuns(commands, workspaceState, { evidence: editor.evidence, measurements });
  context.subscriptions.push(runs.disposable, measurements);
  void openOnStart(commands);
  return {
    activationMs: performance.now() - started,
    openProfile: async (file) => (await openPath(commands, file)) !== undefined,
    closeProfile: (file) => {
      const profile = store.get(file);
      if (profile !== undefined) {
        store.remove(profile);
      }
    },
    profiles: () => store.profiles().map((profile) => ({ path: profile.path, active: profile === store.active, status: profile.status.kind, engineRuns: profile.engineRuns, ranks: profile.rankSummaries() })),
    tree: { children: (node) => tree.getChildren(node), item: (node) => tree.getTreeItem(node) },
    views: () => tabs.states(),
    comparisons: () => compareTabs.states(),
    latency,
    runs: () => runs.infos(),
    evidence: async () => (await editor.evidence.compute())?.data,
  };
}

export function deactivate(): void {
  // Subscriptions end the engines.
}
