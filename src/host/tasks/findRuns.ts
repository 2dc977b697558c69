import * as vscode from 'vscode';
import { detectRuns, type DetectedRun } from '../../run/detectRuns';

export interface FoundRun {
  readonly run: DetectedRun;
  readonly folder: vscode.WorkspaceFolder;
  /** Workspace-relative. */
  readonly file: string;
}

/** What is looked at, most telling first; and at most how many files of it. Nothing is searched before tasks are asked for. */
const PLACES: readonly (readonly [string, number])[] = [
  ['{.vscode/launch.json,*/.vscode/launch.json}', 20],
  ['{README*,docs/**/*.md,**/README*.md}', 40],
  ['**/*.{sh,bash,slurm,sbatch}', 150],
  ['{**/config/**/*.py,**/configs/**/*.py,**/*{sft,rl,pretrain,finetune}*.py}', 200],
];
const PASSED_OVER = '**/{node_modules,.git,.venv,venv,env,__pycache__,site-packages,outputs,work_dirs,checkpoints,wandb}/**';
const LARGEST_BYTES = 256 * 1024;
const MOST_RUNS = 60;
const FRESH_MS = 15_000;

let known: { readonly at: number; readonly runs: readonly FoundRun[] } | undefined;

/** Runs that the workspace describes outside tasks.json. A few hundred small files at most; the answer is kept for some seconds. */
export async function findRuns(token?: vscode.CancellationToken): Promise<readonly FoundRun[]> {
  if (known !== undefined && Date.now() - known.at < FRESH_MS) {
    return known.runs;
  }
  const runs: FoundRun[] = [];
  const seen = new Set<string>();
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const [pattern, most] of PLACES) {
      const files = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, pattern), PASSED_OVER, most, token);
      for (const found of (await Promise.all(files.map((uri) => inFile(folder, uri)))).flat()) {
        const key = `${folder.uri.toString()}\0${JSON.stringify(found.run.settings)}`;
        if (!seen.has(key) && runs.length < MOST_RUNS) {
          seen.add(key);
          runs.push(found);
        }
      }
      if (token?.isCancellationRequested === true) {
        return runs;
      }
    }
  }
  const named = withOwnNames(runs);
  known = { at: Date.now(), runs: named };
  return named;
}

async function inFile(folder: vscode.WorkspaceFolder, uri: vscode.Uri): Promise<readonly FoundRun[]> {
  try {
    if ((await vscode.workspace.fs.stat(uri)).size > LARGEST_BYTES) {
      return [];
    }
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    const file = uri.path.slice(folder.uri.path.length + 1);
    return detectRuns(file, text).map((run) => ({ run: inItsFolder(run, file), folder, file }));
  } catch {
    // Gone meanwhile, or not to be read: nothing to offer from it.
    return [];
  }
}

/** A script that starts a file lying beside it is meant to be run from there. */
function inItsFolder(run: DetectedRun, file: string): DetectedRun {
  const folder = file.includes('/') && /\.(?:sh|bash|slurm|sbatch)$/.test(file) ? file.slice(0, file.lastIndexOf('/')) : undefined;
  return folder === undefined || run.settings.workdir !== undefined || run.settings.command.includes('/') || run.settings.command === '-m' ? run : { ...run, settings: { ...run.settings, workdir: folder } };
}

/** Tasks of one name cannot be told apart in a list: the file goes along. */
function withOwnNames(runs: readonly FoundRun[]): readonly FoundRun[] {
  const counts = new Map<string, number>();
  runs.forEach(({ run }) => counts.set(run.name, (counts.get(run.name) ?? 0) + 1));
  return runs.map((found) => ((counts.get(found.run.name) ?? 0) > 1 ? { ...found, run: { ...found.run, name: `${found.run.name} (${found.file}:${found.run.line})` } } : found));
}
