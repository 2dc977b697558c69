import * as path from 'node:path';
import * as vscode from 'vscode';
import type { FamilyRule } from '../engine/analysis/families';
import { startEngine } from '../node/engineClient';
import type { StartEngine } from './profile';
import type { ProfileStore } from './profileStore';

const MB = 1024 * 1024;

/** Starts engines with what the settings say at that moment; `storage` holds the cache unless a setting moves it. */
export function engineStarter(script: string, storage: string): StartEngine {
  return (onCrash) => {
    const settings = vscode.workspace.getConfiguration('fuselens');
    const cacheMb = settings.get('cache.sizeMb', 4096);
    const cacheFolder = settings.get('cache.folder', '');
    const rules = vscode.workspace.isTrusted ? settings.get<readonly FamilyRule[]>('families.rules', []) : [];
    return startEngine({
      script,
      onCrash,
      processOverBytes: settings.get('reading.childProcessOverMb', 1024) * MB,
      settings: {
        memoryBudgetBytes: settings.get('memory.budgetMb', 2048) * MB,
        ...(cacheMb > 0 ? { cacheFolder: cacheFolder === '' ? path.join(storage, 'cache') : cacheFolder, cacheLimitBytes: cacheMb * MB } : {}),
        ...(rules.length > 0 ? { familyRules: rules } : {}),
      },
    });
  };
}

/** Family rules are told to an engine when it starts: other rules, or trust in the workspace's own, mean another engine. */
export function reloadOnRules(store: ProfileStore): vscode.Disposable {
  const reload = (): void => {
    for (const profile of store.profiles()) {
      if (profile.engineRuns) {
        profile.reload().catch(() => undefined);
      }
    }
  };
  return vscode.Disposable.from(
    vscode.workspace.onDidGrantWorkspaceTrust(reload),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('fuselens.families.rules')) {
        reload();
      }
    }),
  );
}
