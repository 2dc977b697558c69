import * as vscode from 'vscode';
import { renderProblem } from '../../protocol/text';
import type { Profile } from '../profile';
import type { ProfileStore } from '../profileStore';
import { withCancellableProgress } from '../progress';
import { isCancelled, sentenceOf, translate } from '../sentences';
import { fileChildren, nodeId, problemChildren, profileChildren, rankChildren, rankName, treeItem, unreadableReason, type ProfileNode } from './profileNodes';

const PROFILES_VIEW = 'fuselens.profiles';

/** Profile → run or step folder → ranks → steps, with problems. A profile opens when expanded, a rank is read when expanded. */
export class ProfilesTree implements vscode.TreeDataProvider<ProfileNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly disposables: vscode.Disposable[];
  /**
   * Why a node has no children, by node id. Kept until the node is collapsed: the tree asks again after every change, and
   * must not start a read again that has just failed or been cancelled.
   */
  private readonly failures = new Map<string, ProfileNode>();
  readonly view: vscode.TreeView<ProfileNode>;

  constructor(private readonly store: ProfileStore) {
    this.view = vscode.window.createTreeView(PROFILES_VIEW, { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view, this.changed, store.onDidChange(() => this.refresh()), store.onDidRemove(() => this.failures.clear()),
      this.view.onDidCollapseElement(({ element }) => this.failures.delete(nodeId(element))),
    ];
    this.refresh();
  }

  getTreeItem(node: ProfileNode): vscode.TreeItem {
    return treeItem(node, this.store);
  }

  async getChildren(node?: ProfileNode): Promise<ProfileNode[]> {
    switch (node?.kind) {
      case undefined: return this.store.profiles().map((profile): ProfileNode => ({ kind: 'profile', profile }));
      case 'profile': return this.orFailure(node, () => openedChildren(node.profile));
      case 'group': return node.profile.rankSummaries().filter(({ group }) => group === node.group).map((rank): ProfileNode => ({ kind: 'rank', profile: node.profile, rank }));
      case 'rank': return this.orFailure(node, () => loadedChildren(node));
      case 'problems': return problemChildren(node);
      case 'files': return this.orFailure(node, () => fileChildren(node));
      case 'problem': {
        const { effect } = renderProblem(node.problem, translate);
        return effect === '' ? [] : [{ kind: 'effect', profile: node.profile, problem: node.problem, effect, owner: node.owner }];
      }
      case 'step':
      case 'file':
      case 'effect':
      case 'note': return [];
    }
  }

  /** Expands the problems of a profile, for "Show Problems". */
  async revealProblems(profile: Profile): Promise<void> {
    await vscode.commands.executeCommand(`${PROFILES_VIEW}.focus`);
    const nodes = await this.getChildren({ kind: 'profile', profile });
    await this.view.reveal(nodes.find(({ kind }) => kind === 'problems') ?? { kind: 'profile', profile }, { expand: true, focus: true });
  }

  getParent(node: ProfileNode): ProfileNode | undefined {
    switch (node.kind) {
      case 'profile': return undefined;
      case 'rank': return node.rank.group === '' ? { kind: 'profile', profile: node.profile } : { kind: 'group', profile: node.profile, group: node.rank.group };
      case 'files':
      case 'step': return { kind: 'rank', profile: node.profile, rank: node.rank };
      case 'problems': return node.rank === undefined ? { kind: 'profile', profile: node.profile } : { kind: 'rank', profile: node.profile, rank: node.rank };
      default: return { kind: 'profile', profile: node.profile };
    }
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }

  private async orFailure(node: ProfileNode, children: () => Promise<ProfileNode[]>): Promise<ProfileNode[]> {
    const id = nodeId(node);
    const known = this.failures.get(id);
    if (known !== undefined) {
      return [known];
    }
    try {
      return await children();
    } catch (error) {
      const note = failureNote(node.profile, error);
      this.failures.set(id, note);
      return [note];
    }
  }

  private refresh(): void {
    const { active } = this.store;
    const context = (key: string, value: boolean): void => void vscode.commands.executeCommand('setContext', `fuselens.${key}`, value);
    context('hasProfile', this.store.profiles().length > 0);
    context('canUseText', active?.summary?.alternative === 'text');
    context('canUseDatabase', active?.summary?.alternative === 'db');
    this.changed.fire(undefined);
  }
}

async function openedChildren(profile: Profile): Promise<ProfileNode[]> {
  const summary = profile.summary ?? (await withCancellableProgress(vscode.l10n.t('Opening {0}', profile.name), (options) => profile.open(options)));
  const children = profileChildren(profile, summary);
  return children.length > 0 ? children : [{ kind: 'note', profile, text: vscode.l10n.t('No rank was found here.'), icon: 'info' }];
}

async function loadedChildren({ profile, rank }: Extract<ProfileNode, { kind: 'rank' }>): Promise<ProfileNode[]> {
  if (!rank.readable) {
    return [{ kind: 'note', profile, text: unreadableReason(profile, rank), icon: 'error' }];
  }
  const title = vscode.l10n.t('Reading {0} of {1}', rankName(rank), profile.name);
  return rankChildren(profile, rank.loaded === undefined ? await withCancellableProgress(title, (options) => profile.call('load', { rank: rank.id }, options)) : rank);
}

function failureNote(profile: Profile, error: unknown): ProfileNode {
  return isCancelled(error)
    ? { kind: 'note', profile, text: vscode.l10n.t('Cancelled. Collapse and expand to read it again.'), icon: 'circle-slash' }
    : { kind: 'note', profile, text: sentenceOf(error), icon: 'error' };
}
