import * as vscode from 'vscode';
import { LogParser, type LogEvent } from '../../run/logParser';
import { attachRun, Hosts, listRuns, type FollowOptions, type Run, type RunState, type RunSummary } from '../../run/run';
import type { RunTools } from '../../run/tools';
import { isCancelled, sentenceOf } from '../sentences';
import { isLive, keyOf, type RunEntry } from './runEntry';

/** What outlives the window of this workspace's runs: where they are, whether they were done, and where fetched profiles lie. */
interface Remembered {
  readonly host?: string;
  readonly id: string;
  readonly name: string;
  readonly folder: string;
  readonly unfinished: boolean;
  readonly profile?: string;
}

const KEY = 'fuselens.runs';
const MOST_REMEMBERED = 50;
/** Runs a list shows of one host; older ones are still there for "Attach". */
const MOST_LISTED = 30;
const POLL_MS = 4000;
/** A host is asked less often: each look may be a login. One that did not answer is left alone for longer. */
const POLL_HOST_MS = 15_000;
const POLL_LOST_HOST_MS = 60_000;
const TAIL_BYTES = 4096;

/** Runs of this workspace and of the hosts it knows. Nothing is connected before somebody looks. */
export class Runs implements vscode.Disposable {
  private readonly entries = new Map<string, RunEntry>();
  private readonly changed = new vscode.EventEmitter<RunEntry | undefined>();
  readonly onDidChange = this.changed.event;
  private hosts: Hosts;
  private poll: NodeJS.Timeout | undefined;
  private polling = false;
  /** When a host is asked again by itself. */
  private readonly due = new Map<string, number>();
  private readonly settings: vscode.Disposable;

  constructor(private readonly memory: vscode.Memento, tools: () => RunTools) {
    this.hosts = new Hosts(tools());
    this.settings = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('fuselens.run')) {
        void this.hosts.dispose();
        this.hosts = new Hosts(tools());
      }
    });
    for (const { host, id, name, folder, profile } of memory.get<readonly Remembered[]>(KEY, [])) {
      this.entries.set(keyOf({ host, id }), { id, host, name, folder, record: undefined, state: undefined, seenAt: 0, progress: {}, mine: true, followed: false, profile, failure: undefined });
    }
  }

  /** This workspace's runs that were not known to be done when its last window went away. */
  leftBehind(): readonly RunEntry[] {
    return this.memory.get<readonly Remembered[]>(KEY, []).filter(({ unfinished }) => unfinished).flatMap(({ host, id }) => this.get({ host, id }) ?? []);
  }

  /** Shells of this session; another object after a change of settings. */
  get connections(): Hosts {
    return this.hosts;
  }

  /** Newest first. */
  all(): readonly RunEntry[] {
    return [...this.entries.values()].sort((a, b) => startOf(b).localeCompare(startOf(a)) || b.id.localeCompare(a.id));
  }

  get(key: Pick<RunEntry, 'host' | 'id'>): RunEntry | undefined {
    return this.entries.get(keyOf(key));
  }

  /** A run that was just started or attached to. */
  add(run: Run): RunEntry {
    const [host] = run.hosts;
    const known = this.get({ host, id: run.id });
    const entry: RunEntry = { profile: undefined, progress: {}, state: undefined, seenAt: Date.now(), ...known, id: run.id, host, name: run.record.name, folder: run.folder, record: run.record, mine: true, followed: known?.followed ?? false, failure: undefined };
    this.put(entry);
    return entry;
  }

  forget(key: Pick<RunEntry, 'host' | 'id'>): void {
    this.entries.delete(keyOf(key));
    this.save();
    this.changed.fire(undefined);
  }

  setProfile(key: Pick<RunEntry, 'host' | 'id'>, profile: string): void {
    this.update(key, { profile });
  }

  async handle({ host, id }: Pick<RunEntry, 'host' | 'id'>): Promise<Run> {
    return attachRun(this.hosts, host, id);
  }

  /**
   * Streams a run into `onText` and keeps its entry up to date, until it has ended or `signal` lets go. Events of the log go to
   * `onEvents` as they are found.
   */
  async follow(run: Run, { onText, onEvents, onConnection, onState, signal }: { readonly onText: (text: string) => void; readonly onEvents: (events: readonly LogEvent[]) => void; readonly onConnection: NonNullable<FollowOptions['onConnection']>; readonly onState?: (state: RunState) => void; readonly signal: AbortSignal }): Promise<RunState> {
    const key = { host: run.hosts[0], id: run.id };
    this.update(key, { followed: true });
    const streams = new Map<string, { readonly decoder: InstanceType<typeof TextDecoder>; readonly parser: LogParser }>();
    const take = (events: readonly LogEvent[]): void => {
      if (events.length > 0) {
        this.progress(key, events);
        onEvents(events);
      }
    };
    // An exception that nothing follows must not wait for the next line.
    const pause = setInterval(() => [...streams.values()].forEach(({ parser }) => take(parser.flush())), 1500);
    try {
      const state = await run.follow({
        signal, onConnection,
        onState: (seen) => {
          this.update(key, { state: seen, seenAt: Date.now(), failure: undefined });
          onState?.(seen);
        },
        onOutput: ({ host, bytes }) => {
          const name = host ?? '';
          const stream = streams.get(name) ?? { decoder: new TextDecoder(), parser: new LogParser() };
          streams.set(name, stream);
          const text = stream.decoder.decode(bytes, { stream: true });
          onText(text);
          take(stream.parser.push(text));
        },
      });
      this.update(key, { state, seenAt: Date.now() });
      return state;
    } finally {
      clearInterval(pause);
      [...streams.values()].forEach(({ parser }) => take(parser.end()));
      this.update(key, { followed: false });
    }
  }

  /** Reads the runs of every known host anew. Hosts that want a password are not asked: `quiet`. */
  async refresh({ quiet = true, hosts = this.knownHosts() }: { readonly quiet?: boolean; readonly hosts?: readonly (string | undefined)[] } = {}): Promise<void> {
    await Promise.all(hosts.map(async (host) => {
      try {
        const found = await listRuns(this.hosts, host, { quiet, limit: MOST_LISTED });
        this.due.set(host ?? '', host === undefined ? 0 : Date.now() + POLL_HOST_MS);
        await Promise.all(found.map((summary) => this.merge(summary, quiet)));
        for (const entry of this.all().filter((one) => one.host === host && !one.followed && !found.some(({ id }) => id === one.id))) {
          // Its folder was removed there; a fetched profile is still worth a row.
          if (entry.profile === undefined) {
            this.entries.delete(keyOf(entry));
          }
        }
      } catch (error) {
        if (isCancelled(error)) {
          return;
        }
        this.due.set(host ?? '', Date.now() + POLL_LOST_HOST_MS);
        this.all().filter((entry) => entry.host === host && !entry.followed).forEach((entry) => this.entries.set(keyOf(entry), { ...entry, failure: sentenceOf(error) }));
        if (!quiet) {
          throw error;
        }
      }
    }));
    this.changed.fire(undefined);
  }

  /** Keeps the list fresh while somebody looks at it. */
  watch(looking: boolean): void {
    clearInterval(this.poll);
    this.poll = undefined;
    if (looking) {
      void this.pollOnce();
      this.poll = setInterval(() => void this.pollOnce(), POLL_MS);
    }
  }

  dispose(): void {
    clearInterval(this.poll);
    this.settings.dispose();
    this.changed.dispose();
    void this.hosts.dispose();
  }

  private async pollOnce(): Promise<void> {
    if (this.polling) {
      return;
    }
    this.polling = true;
    try {
      await this.refresh({ hosts: this.knownHosts().filter((host) => (this.due.get(host ?? '') ?? 0) <= Date.now()) });
    } finally {
      this.polling = false;
    }
  }

  private knownHosts(): readonly (string | undefined)[] {
    const named = vscode.workspace.getConfiguration('fuselens.run').get<readonly string[]>('hosts', []);
    return [...new Set<string | undefined>([undefined, ...named, ...this.all().map(({ host }) => host)])];
  }

  private async merge({ id, folder, host, record, state }: RunSummary, quiet: boolean): Promise<void> {
    const known = this.get({ host, id });
    const entry: RunEntry = { profile: undefined, progress: {}, mine: false, followed: false, ...known, id, host, folder, name: record?.name ?? known?.name ?? id, record: record ?? known?.record, state, seenAt: Date.now(), failure: undefined };
    const fresh = state.logBytes !== known?.state?.logBytes && !entry.followed && (isLive(entry) || known?.progress.step === undefined);
    this.entries.set(keyOf(entry), fresh ? { ...entry, progress: await this.tailProgress(entry, quiet) } : entry);
  }

  /** Step and loss of a run that nobody follows, from the end of its log. */
  private async tailProgress({ host, folder, progress }: RunEntry, quiet: boolean): Promise<RunEntry['progress']> {
    const { stdout } = await this.hosts.shell(host).exec(['tail', '-c', String(TAIL_BYTES), `${folder}/log`], { quiet }).catch(() => ({ stdout: '' }));
    const parser = new LogParser();
    return joined(progress, [...parser.push(stdout), ...parser.end()]);
  }

  private progress(key: Pick<RunEntry, 'host' | 'id'>, events: readonly LogEvent[]): void {
    const entry = this.get(key);
    if (entry !== undefined) {
      this.update(key, { progress: joined(entry.progress, events) });
    }
  }

  private update(key: Pick<RunEntry, 'host' | 'id'>, change: Partial<RunEntry>): void {
    const entry = this.get(key);
    if (entry !== undefined) {
      this.put({ ...entry, ...change });
    }
  }

  private put(entry: RunEntry): void {
    const known = this.entries.get(keyOf(entry));
    this.entries.set(keyOf(entry), entry);
    if (entry.mine && (known === undefined || known.profile !== entry.profile || isUnfinished(known) !== isUnfinished(entry))) {
      this.save();
    }
    this.changed.fire(entry);
  }

  private save(): void {
    const mine = this.all().filter((entry) => entry.mine).slice(0, MOST_REMEMBERED);
    void this.memory.update(KEY, mine.map((entry): Remembered => {
      const { host, id, name, folder, profile } = entry;
      return { id, name, folder, unfinished: isUnfinished(entry), ...(host === undefined ? {} : { host }), ...(profile === undefined ? {} : { profile }) };
    }));
  }
}

/** Followed, or running when last seen. */
const isUnfinished = (entry: RunEntry): boolean => entry.followed || isLive(entry);

const startOf = ({ record, id }: RunEntry): string => record?.startedAt ?? id;

/** The newest of each figure; a bar may print steps and a logger the loss. */
function joined(progress: RunEntry['progress'], events: readonly LogEvent[]): RunEntry['progress'] {
  return events.reduce<RunEntry['progress']>((sum, event) => {
    if (event.kind !== 'progress') {
      return sum;
    }
    const { step, totalSteps, loss } = event;
    return { ...sum, ...(step === undefined ? {} : { step }), ...(totalSteps === undefined ? {} : { totalSteps }), ...(loss === undefined ? {} : { loss }) };
  }, progress);
}
