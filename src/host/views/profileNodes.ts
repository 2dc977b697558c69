import * as path from 'node:path';
import * as vscode from 'vscode';
import type { Problem, ProfileSummary, RankFile, RankSummary, StepSummary } from '../../protocol/engine';
import { groupNames } from '../../protocol/groupNames';
import { withinProfile } from '../../protocol/problemPlace';
import { renderProblem, text } from '../../protocol/text';
import type { Profile } from '../profile';
import { formatBytes, sentenceOf, translate } from '../sentences';

/** What stands in the Profiles tree. Nodes are values made anew at each refresh; `id` keeps them apart and expanded. */
export type ProfileNode =
  | { readonly kind: 'profile'; readonly profile: Profile }
  | { readonly kind: 'group'; readonly profile: Profile; readonly group: string }
  | { readonly kind: 'rank'; readonly profile: Profile; readonly rank: RankSummary }
  | { readonly kind: 'step'; readonly profile: Profile; readonly rank: RankSummary; readonly step: StepSummary }
  | { readonly kind: 'problems'; readonly profile: Profile; readonly rank?: RankSummary; readonly problems: readonly Problem[] }
  | { readonly kind: 'problem'; readonly profile: Profile; readonly problem: Problem; readonly owner: string }
  /** What lies in a rank's folder. */
  | { readonly kind: 'files'; readonly profile: Profile; readonly rank: RankSummary }
  | { readonly kind: 'file'; readonly profile: Profile; readonly rank: RankSummary; readonly file: RankFile }
  | { readonly kind: 'effect'; readonly profile: Profile; readonly problem: Problem; readonly effect: string; readonly owner: string }
  /** A sentence in place of children: why there are none. */
  | { readonly kind: 'note'; readonly profile: Profile; readonly text: string; readonly icon: string };

export function nodeId(node: ProfileNode): string {
  const base = node.profile.path;
  switch (node.kind) {
    case 'profile': return base;
    case 'group': return `${base}\0group\0${node.group}`;
    case 'rank': return `${base}\0rank\0${node.rank.id}`;
    case 'step': return `${base}\0rank\0${node.rank.id}\0step\0${node.step.index}`;
    case 'problems': return `${base}\0problems\0${node.rank?.id ?? ''}`;
    case 'problem': return `${base}\0problem\0${node.owner}\0${node.problem.kind}\0${node.problem.where}`;
    case 'effect': return `${base}\0effect\0${node.owner}\0${node.problem.kind}\0${node.problem.where}`;
    case 'files': return `${base}\0rank\0${node.rank.id}\0files`;
    case 'file': return `${base}\0rank\0${node.rank.id}\0file\0${node.file.name}`;
    case 'note': return `${base}\0note\0${node.text}`;
  }
}

export function rankName(rank: RankSummary): string {
  return rank.rank === undefined ? rank.label : vscode.l10n.t('Rank {0}', rank.rank);
}

/** Children of an opened profile: its problems, then its groups, or its ranks where one group holds them all. */
export function profileChildren(profile: Profile, summary: ProfileSummary): ProfileNode[] {
  const ranks = profile.rankSummaries();
  const groups = [...new Set(ranks.map(({ group }) => group))];
  const nodes: ProfileNode[] = summary.problems.length === 0 ? [] : [{ kind: 'problems', profile, problems: summary.problems }];
  if (groups.length > 1 || (groups.length === 1 && groups[0] !== '')) {
    nodes.push(...groups.map((group): ProfileNode => ({ kind: 'group', profile, group })));
  } else {
    nodes.push(...ranks.map((rank): ProfileNode => ({ kind: 'rank', profile, rank })));
  }
  return nodes;
}

/** Why a rank cannot be read: the problem that names it, else a plain sentence. */
export function unreadableReason(profile: Profile, rank: RankSummary): string {
  const problems = profile.summary?.problems ?? [];
  const problem = problems.find(({ where }) => rank.id !== '' && where.includes(rank.id)) ?? problems.find(({ where }) => where.includes(rank.label)) ?? (problems.length === 1 ? problems[0] : undefined);
  return problem === undefined ? vscode.l10n.t('This rank cannot be read.') : renderProblem(withinProfile(problem, profile.path), translate).message;
}

export function rankChildren(profile: Profile, rank: RankSummary): ProfileNode[] {
  const { loaded } = rank;
  if (loaded === undefined) {
    return [];
  }
  const nodes: ProfileNode[] = loaded.steps.map((step) => ({ kind: 'step', profile, rank, step }));
  nodes.push({ kind: 'files', profile, rank });
  return loaded.problems.length === 0 ? nodes : [{ kind: 'problems', profile, rank, problems: loaded.problems }, ...nodes];
}

/** Each file of the rank's folder: what was read of it, or why not. */
export async function fileChildren({ profile, rank }: Extract<ProfileNode, { kind: 'files' }>): Promise<ProfileNode[]> {
  return (await profile.call('rankFiles', { rank: rank.id })).map((file): ProfileNode => ({ kind: 'file', profile, rank, file }));
}

const FILE_ICON: Readonly<Record<RankFile['state'], string>> = { read: 'check', unused: 'circle-slash', missing: 'question' };

function fileItem({ name, bytes, state, about }: RankFile): vscode.TreeItem {
  const sentence = text(about, undefined, translate);
  const size = bytes === null ? '' : formatBytes(bytes);
  return row(name, vscode.TreeItemCollapsibleState.None, { icon: FILE_ICON[state], description: [size, sentence].filter((part) => part !== '').join(' · '), tooltip: `${name}\n${sentence}`, context: 'file' });
}

export function problemChildren(node: Extract<ProfileNode, { kind: 'problems' }>): ProfileNode[] {
  return node.problems.map((problem) => ({ kind: 'problem', profile: node.profile, problem: withinProfile(problem, node.profile.path), owner: node.rank?.id ?? '' }));
}

const SEVERITY_ICON: Readonly<Record<Problem['severity'], vscode.ThemeIcon>> = {
  info: new vscode.ThemeIcon('info'),
  warning: new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')),
  error: new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground')),
};

function problemsIcon(problems: readonly Problem[]): vscode.ThemeIcon {
  const worst = (['error', 'warning', 'info'] as const).find((severity) => problems.some((problem) => problem.severity === severity)) ?? 'info';
  return SEVERITY_ICON[worst];
}

/** The row of a node. */
export function treeItem(node: ProfileNode, store: { readonly active: Profile | undefined; profiles(): readonly Profile[] }): vscode.TreeItem {
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = ((): vscode.TreeItem => {
    switch (node.kind) {
      case 'profile': return profileItem(node.profile, store.active === node.profile, store.profiles().filter(({ name }) => name === node.profile.name).length > 1);
      case 'group': return groupItem(node.profile, node.group);
      case 'rank': return rankItem(node.profile, node.rank);
      case 'step': return row(node.step.source === 'window' ? vscode.l10n.t('Whole recording') : node.step.name, None, { icon: 'circle-small', context: 'step', ...(Number.isFinite(node.step.durationNs) ? { description: formatDuration(node.step.durationNs) } : {}) });
      case 'problems': return row(vscode.l10n.t('Problems ({0})', node.problems.length), Collapsed, { icon: problemsIcon(node.problems), context: 'problems' });
      case 'problem': return problemItem(node.problem);
      case 'files': return row(vscode.l10n.t('Files'), Collapsed, { icon: 'files', context: 'files', description: vscode.l10n.t('what is in this folder') });
      case 'file': return fileItem(node.file);
      case 'effect': return row(node.effect, None, { icon: 'arrow-small-right', tooltip: node.effect, context: 'effect' });
      case 'note': return row(node.text, None, { icon: node.icon, tooltip: node.text });
    }
  })();
  item.id = nodeId(node);
  if (node.kind === 'rank' || node.kind === 'step') {
    item.command = { command: 'fuselens.showOverview', title: vscode.l10n.t('Show Overview'), arguments: [node] };
  }
  return item;
}

interface RowOptions {
  readonly icon: string | vscode.ThemeIcon;
  readonly description?: string;
  readonly tooltip?: string | vscode.MarkdownString;
  readonly context?: string;
}

function row(label: string, state: vscode.TreeItemCollapsibleState, { icon, description, tooltip, context }: RowOptions): vscode.TreeItem {
  const item = new vscode.TreeItem(label, state);
  item.iconPath = typeof icon === 'string' ? new vscode.ThemeIcon(icon) : icon;
  item.description = description;
  item.tooltip = tooltip;
  item.contextValue = context;
  // Without this a screen reader would be given the tooltip.
  item.accessibilityInformation = { label: description === undefined || description === '' ? label : `${label}, ${description}` };
  return item;
}

function profileItem(profile: Profile, active: boolean, namesake: boolean): vscode.TreeItem {
  const { summary, status } = profile;
  const format = summary === undefined ? '' : formatName(summary.format);
  const failed = status.kind === 'failed';
  const words = [active ? vscode.l10n.t('active') : '', namesake ? path.basename(path.dirname(profile.path)) : '', format, failed ? sentenceOf(status.error) : ''].filter((word) => word !== '');
  return row(profile.name, failed ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed, {
    icon: failed ? SEVERITY_ICON.error : active ? new vscode.ThemeIcon('pass-filled', new vscode.ThemeColor('charts.green')) : 'graph',
    description: words.join(' · '),
    tooltip: failed ? `${profile.path}\n${sentenceOf(status.error)}` : profile.path,
    context: ['profile', ...(active ? ['active'] : []), ...(summary?.alternative === undefined ? [] : [summary.alternative === 'db' ? 'text' : 'db'])].join(' '),
  });
}

/** A run or step folder: its short name, the way to it beside. */
function groupItem(profile: Profile, group: string): vscode.TreeItem {
  const ranks = profile.rankSummaries();
  const name = groupNames(ranks.map((rank) => rank.group)).get(group) ?? group;
  const count = ranks.filter((rank) => rank.group === group).length;
  return row(group === '' ? vscode.l10n.t('Other ranks') : name, vscode.TreeItemCollapsibleState.Expanded, { icon: 'folder', description: vscode.l10n.t('{0} ranks', count), tooltip: group });
}

function rankItem(profile: Profile, rank: RankSummary): vscode.TreeItem {
  const { loaded } = rank;
  if (!rank.readable) {
    const reason = unreadableReason(profile, rank);
    return row(rankName(rank), vscode.TreeItemCollapsibleState.None, { icon: SEVERITY_ICON.error, description: reason, tooltip: reason, context: 'unreadable' });
  }
  // What a rank without kernels lacks stands beside its name, where another has their number.
  const reason = rank.withoutKernels === true ? unreadableReason(profile, rank) : undefined;
  const unknown = reason !== undefined || (loaded !== undefined && loaded.kernels === undefined);
  const description = unknown ? [vscode.l10n.t('kernels unknown'), reason ?? ''].filter((part) => part !== '').join(' · ')
    : loaded?.kernels === undefined ? formatBytes(rank.bytes) : vscode.l10n.t('{0} kernels', loaded.kernels.toLocaleString(vscode.env.language));
  const facts = loaded === undefined ? [] : [
    ...(loaded.device === undefined ? [] : [vscode.l10n.t('Device {0}', loaded.device)]),
    ...(loaded.host === undefined ? [] : [vscode.l10n.t('Host {0}', loaded.host)]),
    ...Object.entries(loaded.facts).map(([name, value]) => `${name}: ${value}`),
  ];
  return row(rankName(rank), vscode.TreeItemCollapsibleState.Collapsed, { icon: 'server-process', description, tooltip: [rank.label, ...(reason === undefined ? [] : [reason]), ...facts].join('\n'), context: 'rank' });
}

function problemItem(problem: Problem): vscode.TreeItem {
  const { message, effect } = renderProblem(problem, translate);
  const tooltip = [message, effect, problem.where].filter((line) => line !== '').join('\n\n');
  const state = effect === '' ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed;
  return row(message, state, { icon: SEVERITY_ICON[problem.severity], tooltip, context: 'problem', ...(problem.count > 1 ? { description: `× ${problem.count}` } : {}) });
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  'ascend-text': 'Ascend', 'ascend-db': 'Ascend DB', 'msprof-db': 'msprof DB', 'ascend-op-summary': 'msprof', 'ascend-raw': 'Ascend', 'ascend-cluster': 'Ascend cluster', kineto: 'Kineto', 'nsys-sqlite': 'Nsight Systems',
};

const formatName = (format: string): string => FORMAT_NAMES[format] ?? format;

function formatDuration(ns: number): string {
  const milliseconds = ns / 1e6;
  return milliseconds >= 1000 ? `${(milliseconds / 1000).toFixed(3)} s` : `${milliseconds.toFixed(milliseconds < 10 ? 2 : 1)} ms`;
}
