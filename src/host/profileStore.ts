import * as path from 'node:path';
import * as vscode from 'vscode';
import { Profile, type Prefer, type StartEngine } from './profile';

/** What is remembered of a workspace's profiles between sessions. */
interface Remembered {
  readonly path: string;
  readonly prefer?: 'text' | 'db';
  readonly name?: string;
}

const PROFILES_KEY = 'fuselens.profiles';
const ACTIVE_KEY = 'fuselens.activeProfile';
const RECENT_KEY = 'fuselens.recent';
const MAX_RECENT = 10;

/** All profiles of this window, and which of them is the active one. */
export class ProfileStore implements vscode.Disposable {
  private readonly byPath = new Map<string, { readonly profile: Profile; readonly listener: vscode.Disposable }>();
  private readonly changed = new vscode.EventEmitter<Profile | undefined>();
  private readonly removed = new vscode.EventEmitter<Profile>();
  /** Something about this profile, or about the list (undefined), is different now. */
  readonly onDidChange = this.changed.event;
  readonly onDidRemove = this.removed.event;
  private activePath: string | undefined;

  constructor(
    private readonly startEngine: StartEngine,
    private readonly memory: { readonly workspace: vscode.Memento; readonly global: vscode.Memento },
    private readonly releaseAfterMs = 5000,
  ) {
    for (const { path: remembered, prefer, name } of memory.workspace.get<readonly Remembered[]>(PROFILES_KEY, [])) {
      this.insert(remembered, prefer).rename(name);
    }
    this.activePath = memory.workspace.get<string>(ACTIVE_KEY);
  }

  profiles(): readonly Profile[] {
    return [...this.byPath.values()].map(({ profile }) => profile);
  }

  get(file: string): Profile | undefined {
    return this.byPath.get(normalPath(file))?.profile;
  }

  /** The profile at a path, listed from now on. Opens nothing. */
  add(file: string, prefer?: Prefer): Profile {
    const known = this.get(file);
    if (known !== undefined) {
      return known;
    }
    const profile = this.insert(file, prefer);
    this.activePath ??= profile.path;
    this.save();
    this.changed.fire(undefined);
    return profile;
  }

  remove(profile: Profile): void {
    const entry = this.byPath.get(profile.path);
    if (entry === undefined) {
      return;
    }
    this.byPath.delete(profile.path);
    entry.listener.dispose();
    if (this.activePath === profile.path) {
      this.activePath = this.profiles().at(-1)?.path;
    }
    this.removed.fire(profile);
    profile.dispose();
    this.save();
    this.changed.fire(undefined);
  }

  get active(): Profile | undefined {
    return this.activePath === undefined ? undefined : this.get(this.activePath);
  }

  setActive(profile: Profile): void {
    this.activePath = profile.path;
    this.save();
    this.changed.fire(undefined);
  }

  recent(): readonly string[] {
    return this.memory.global.get<readonly string[]>(RECENT_KEY, []);
  }

  noteRecent(file: string): void {
    const recent = [file, ...this.recent().filter((other) => other !== file)].slice(0, MAX_RECENT);
    void this.memory.global.update(RECENT_KEY, recent);
  }

  /** Writes the list down again, after a profile changed its export. */
  save(): void {
    const list = this.profiles().map(({ path: file, prefer, givenName }): Remembered => ({ path: file, ...(prefer === undefined ? {} : { prefer }), ...(givenName === undefined ? {} : { name: givenName }) }));
    void this.memory.workspace.update(PROFILES_KEY, list);
    void this.memory.workspace.update(ACTIVE_KEY, this.activePath);
  }

  dispose(): void {
    for (const { profile, listener } of this.byPath.values()) {
      listener.dispose();
      profile.dispose();
    }
    this.byPath.clear();
    this.changed.dispose();
    this.removed.dispose();
  }

  private insert(file: string, prefer: Prefer): Profile {
    const normal = normalPath(file);
    const profile = new Profile(normal, prefer, this.startEngine, this.releaseAfterMs);
    this.byPath.set(normal, { profile, listener: profile.onDidChange(() => this.changed.fire(profile)) });
    return profile;
  }
}

/** One spelling per place: no trailing separator, no `..`. */
function normalPath(file: string): string {
  const normal = path.normalize(file);
  return normal.length > path.parse(normal).root.length ? normal.replace(/[\\/]+$/, '') : normal;
}
