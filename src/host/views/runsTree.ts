import * as vscode from 'vscode';
import { stepsText } from '../../run/captureSteps';
import { arrayTasks, isCapture, isLive, keyOf, placeName, reasonWords, stateWord, statusWords, taskState, type ArrayTask, type RunEntry, type TaskPhase } from '../tasks/runEntry';
import type { Runs } from '../tasks/runs';

const RUNS_VIEW = 'fuselens.runs';

type RunNode = RunEntry | ArrayTask;
const isTask = (node: RunNode): node is ArrayTask => 'number' in node;

/** Runs and captures, here and on hosts, newest first; below an array its tasks; live while the view is open. */
export class RunsTree implements vscode.TreeDataProvider<RunNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<RunEntry | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly disposables: vscode.Disposable[];
  private clock: NodeJS.Timeout | undefined;
  readonly view: vscode.TreeView<RunNode>;

  constructor(private readonly runs: Runs) {
    this.view = vscode.window.createTreeView(RUNS_VIEW, { treeDataProvider: this });
    this.disposables = [
      this.view, this.changed,
      runs.onDidChange(() => this.changed.fire(undefined)),
      this.view.onDidChangeVisibility(({ visible }) => this.look(visible)),
    ];
    this.look(this.view.visible);
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    return isTask(node) ? taskItem(node) : runItem(node);
  }

  getChildren(node?: RunNode): RunNode[] {
    return node === undefined ? [...this.runs.all()] : isTask(node) ? [] : [...arrayTasks(node)];
  }

  getParent(node: RunNode): RunEntry | undefined {
    return isTask(node) ? node.of : undefined;
  }

  dispose(): void {
    clearInterval(this.clock);
    this.runs.watch(false);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Elapsed time runs on between two answers of the host. */
  private look(visible: boolean): void {
    this.runs.watch(visible);
    clearInterval(this.clock);
    this.clock = visible ? setInterval(() => {
      if (this.runs.all().some(isLive)) {
        this.changed.fire(undefined);
      }
    }, 1000) : undefined;
  }
}

function runItem(entry: RunEntry): vscode.TreeItem {
  const { Expanded, None } = vscode.TreeItemCollapsibleState;
  // From its first row on: VS Code keeps a known row as it was, and so would never open it.
  const isArray = entry.record?.settings.slurm?.array !== undefined || entry.state?.tasks !== undefined;
  const item = new vscode.TreeItem(entry.name, isArray ? Expanded : None);
  const description = [...(entry.host === undefined ? [] : [placeName(entry.host)]), statusWords(entry)].filter((word) => word !== '').join(' · ');
  item.id = keyOf(entry);
  item.description = description;
  item.iconPath = iconOf(entry);
  item.tooltip = tooltipOf(entry);
  item.contextValue = ['run', ...(isLive(entry) ? ['live'] : []), ...(isCapture(entry) ? ['capture'] : []), ...(entry.profile === undefined ? [] : ['profile'])].join(' ');
  item.accessibilityInformation = { label: `${entry.name}, ${placeName(entry.host)}, ${statusWords(entry)}` };
  return item;
}

function taskItem(task: ArrayTask): vscode.TreeItem {
  const { phase, words } = taskState(task);
  const item = new vscode.TreeItem(vscode.l10n.t('task {0}', task.number), vscode.TreeItemCollapsibleState.None);
  item.id = `${keyOf(task.of)}\0${task.number}`;
  item.description = words;
  item.iconPath = TASK_ICONS[phase];
  item.contextValue = 'task';
  item.accessibilityInformation = { label: `${vscode.l10n.t('task {0}', task.number)}, ${words}` };
  return item;
}

const TASK_ICONS: Readonly<Record<TaskPhase, vscode.ThemeIcon>> = {
  queued: new vscode.ThemeIcon('history', new vscode.ThemeColor('testing.iconQueued')),
  running: new vscode.ThemeIcon('sync~spin', new vscode.ThemeColor('charts.blue')),
  done: new vscode.ThemeIcon('pass', new vscode.ThemeColor('charts.green')),
  failed: new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground')),
};

function iconOf(entry: RunEntry): vscode.ThemeIcon {
  const { state, failure } = entry;
  if (failure !== undefined) {
    return new vscode.ThemeIcon('debug-disconnect', new vscode.ThemeColor('list.warningForeground'));
  }
  switch (state?.phase) {
    case undefined: return new vscode.ThemeIcon('question');
    case 'starting':
    // As VS Code shows tests that wait.
    case 'queued': return new vscode.ThemeIcon('history', new vscode.ThemeColor('testing.iconQueued'));
    case 'running': return new vscode.ThemeIcon('sync~spin', new vscode.ThemeColor('charts.blue'));
    case 'lost': return new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
    case 'exited': return state?.stopped === true ? new vscode.ThemeIcon('circle-slash') : state?.exit === 0 ? new vscode.ThemeIcon(isCapture(entry) ? 'graph' : 'pass', new vscode.ThemeColor('charts.green')) : new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
  }
}

/** What ran: command, folder, commit and what differs from it; for a capture the steps. */
function tooltipOf(entry: RunEntry): vscode.MarkdownString {
  const { record, failure, state } = entry;
  const text = new vscode.MarkdownString();
  const line = (label: string, value: string | undefined): void => {
    if (value !== undefined && value !== '') {
      text.appendText(`${label}: ${value}`).appendMarkdown('  \n');
    }
  };
  text.appendMarkdown('**').appendText(entry.name).appendMarkdown('**  \n');
  line(vscode.l10n.t('State'), stateWord(entry));
  line(vscode.l10n.t('Waiting because'), state?.phase === 'queued' && state.queue !== undefined ? reasonWords(state.queue) : undefined);
  // As the system prints it: the clock is the host's.
  line(vscode.l10n.t('Start expected'), state?.phase === 'queued' ? state.queue?.startEstimate?.replace('T', ' ') : undefined);
  line(vscode.l10n.t('Job'), state?.queue?.job);
  line(vscode.l10n.t('Host'), placeName(entry.host));
  line(vscode.l10n.t('Command'), record === undefined ? undefined : [record.settings.launcher === 'command' ? '' : record.settings.launcher, record.settings.command, ...record.settings.args ?? []].join(' ').trim());
  line(vscode.l10n.t('Started'), record?.startedAt === undefined || record.startedAt === '' ? undefined : new Date(record.startedAt).toLocaleString(vscode.env.language));
  line(vscode.l10n.t('Profiled steps'), record?.settings.capture === undefined ? undefined : stepsText(record.settings.capture.steps));
  line(vscode.l10n.t('Code'), codeWords(entry));
  line(vscode.l10n.t('Run folder'), entry.folder);
  line(vscode.l10n.t('Profile'), entry.profile);
  line(vscode.l10n.t('Problem'), failure);
  return text;
}

/** "main 1a2b3c4d, 3 files changed (9f8e7d6c)": the commit and, where the code differed from it, by which difference. */
export function codeWords({ record }: RunEntry): string | undefined {
  const { commit, branch, diffHash, changedFiles = [] } = record?.provenance ?? {};
  if (commit === undefined) {
    return undefined;
  }
  const at = [branch, commit.slice(0, 8)].filter((word) => word !== undefined).join(' ');
  return diffHash === undefined ? at : vscode.l10n.t('{0}, {1} files changed ({2})', at, changedFiles.length, diffHash.slice(0, 8));
}
