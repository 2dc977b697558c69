import * as path from 'node:path';
import * as vscode from 'vscode';
import type { CallOptions, Engine, EngineMethod, EngineParams, EngineResult, ProfileSummary, RankSummary } from '../protocol/engine';
import { findStacksTwin } from '../run/captureManifest';
import { visibleText } from '../protocol/visibleText';
import { codeOf, isCancelled } from './sentences';

/** Starts an engine; `onCrash` is called when it ends by itself, between calls too. */
export type StartEngine = (onCrash: (error: unknown) => void) => Engine;

export type Prefer = 'text' | 'db' | undefined;

/** `idle` = listed, no engine runs. `failed` keeps its error until the next attempt. */
export type ProfileStatus =
  | { readonly kind: 'idle' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Error codes after which the engine is gone and only a new one helps. */
const CRASH_CODES: ReadonlySet<string> = new Set(['error.engine-crashed', 'error.engine-out-of-memory']);

export const isCrash = (error: unknown): boolean => CRASH_CODES.has(codeOf(error));

/**
 * One profile the user has open. It owns at most one engine, started by the first call and ended `releaseAfterMs` after the
 * last user (a view, a running call) let go, so that moving a tab does not read the files again. What the tree has shown
 * stays when the engine goes.
 */
export class Profile implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly reloaded = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  /** The files are about to be read anew: views ask for everything again. */
  readonly onDidReload = this.reloaded.event;
  status: ProfileStatus = { kind: 'idle' };
  summary: ProfileSummary | undefined;
  private readonly ranks = new Map<string, RankSummary>();
  private engine: Engine | undefined;
  private opening: Promise<ProfileSummary> | undefined;
  private users = 0;
  private releaseTimer: NodeJS.Timeout | undefined;
  private disposed = false;
  private given: string | undefined;
  private stacks: string | undefined;

  constructor(readonly path: string, public prefer: Prefer, private readonly startEngine: StartEngine, private readonly releaseAfterMs: number) {}

  /** What the user or a run called it, else what its files do. */
  get name(): string {
    return this.given ?? this.summary?.name ?? visibleText(path.basename(this.path));
  }

  get givenName(): string | undefined {
    return this.given;
  }

  rename(name: string | undefined): void {
    this.given = name;
    this.changed.fire();
  }

  get engineRuns(): boolean {
    return this.engine !== undefined;
  }

  /** Ranks with everything loaded so far. */
  rankSummaries(): readonly RankSummary[] {
    return (this.summary?.ranks ?? []).map((rank) => this.ranks.get(rank.id) ?? rank);
  }

  /** The rank a view starts with: the first with kernels, else the first that can be read. */
  defaultRank(): RankSummary | undefined {
    const ranks = this.rankSummaries();
    return ranks.find((rank) => rank.readable && rank.withoutKernels !== true) ?? ranks.find((rank) => rank.readable) ?? ranks[0];
  }

  /** Keeps the engine alive until disposed. */
  use(): vscode.Disposable {
    this.users++;
    clearTimeout(this.releaseTimer);
    let released = false;
    return new vscode.Disposable(() => {
      if (!released) {
        released = true;
        this.users--;
        this.scheduleRelease();
      }
    });
  }

  /** Detects what lies at the path. Shared by all who ask meanwhile; rejects with the engine's error. */
  async open(options: CallOptions = {}): Promise<ProfileSummary> {
    const use = this.use();
    try {
      return await (this.opening ??= this.openNow(options));
    } finally {
      use.dispose();
    }
  }

  async call<M extends EngineMethod>(method: M, params: EngineParams<M>, options: CallOptions = {}): Promise<EngineResult<M>> {
    const use = this.use();
    try {
      await this.open(options);
      const engine = this.engine;
      if (engine === undefined) {
        throw Object.assign(new Error('The profile was closed meanwhile.'), { name: 'Cancelled' });
      }
      const result = await engine.call(method, this.withStacks(method, params), options);
      if (method === 'load') {
        this.remember(result as RankSummary);
      }
      return result;
    } finally {
      use.dispose();
    }
  }

  /** Of a capture in two passes this is the one with the times: its lines come from the other. */
  private withStacks<M extends EngineMethod>(method: M, params: EngineParams<M>): EngineParams<M> {
    return method === 'fingerprints' && this.stacks !== undefined ? { ...params, stacks: this.stacks } : params;
  }

  /** Reads everything anew, from another export when `prefer` is given. */
  async reload(options: CallOptions & { readonly prefer?: Prefer } = {}): Promise<ProfileSummary> {
    this.prefer = options.prefer ?? this.prefer;
    await this.endEngine();
    this.ranks.clear();
    this.summary = undefined;
    this.reloaded.fire();
    return this.open(options);
  }

  dispose(): void {
    this.disposed = true;
    void this.endEngine();
    this.changed.dispose();
    this.reloaded.dispose();
  }

  /** Ends the engine now; the profile stays listed. */
  async endEngine(): Promise<void> {
    clearTimeout(this.releaseTimer);
    const { engine } = this;
    this.engine = undefined;
    this.opening = undefined;
    this.setStatus({ kind: 'idle' });
    await engine?.dispose();
  }

  private async openNow(options: CallOptions): Promise<ProfileSummary> {
    const engine: Engine = this.startEngine((error) => this.noteCrash(engine, error));
    this.engine = engine;
    this.setStatus({ kind: 'opening' });
    try {
      const summary = await engine.call('open', { path: this.path, ...(this.prefer === undefined ? {} : { options: { prefer: this.prefer } }) }, options);
      if (this.engine === engine) {
        this.summary = summary;
        this.stacks = await findStacksTwin(this.path);
        this.setStatus({ kind: 'ready' });
      }
      return summary;
    } catch (error) {
      if (this.engine === engine) {
        this.engine = undefined;
        this.opening = undefined;
        this.setStatus(isCancelled(error) ? { kind: 'idle' } : { kind: 'failed', error });
      }
      await engine.dispose();
      throw error;
    }
  }

  private remember(rank: RankSummary): void {
    this.ranks.set(rank.id, rank);
    this.changed.fire();
  }

  private noteCrash(engine: Engine, error: unknown): void {
    if (this.engine === engine) {
      this.engine = undefined;
      this.opening = undefined;
      this.setStatus({ kind: 'failed', error });
    }
  }

  private scheduleRelease(): void {
    clearTimeout(this.releaseTimer);
    if (this.users === 0 && this.engine !== undefined) {
      this.releaseTimer = setTimeout(() => void this.endEngine(), this.releaseAfterMs);
    }
  }

  private setStatus(status: ProfileStatus): void {
    this.status = status;
    if (!this.disposed) {
      this.changed.fire();
    }
  }
}
