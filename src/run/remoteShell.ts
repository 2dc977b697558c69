import { mkdtempSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import { Cancelled } from '../engine/profile/problems';
import { openAskpass, type Askpass } from './askpass';
import { runChild } from './childProcess';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { envelope, LARGEST_ARGUMENT, quoteWords } from './posix';
import { HOST_PATTERN } from './runSchema';
import { endMark } from './scriptEnd';
import type { Shell, ShellOptions, ShellResult } from './shell';
import { shortTemporaryFolder } from './temporaryFolder';
import type { RunTools } from './tools';

/** ssh's own chatter that is no failure: it goes on over a connection of its own. */
const NOISE = /^(mux_client_request_session: .*|ControlSocket .* already exists, disabling multiplexing|Warning: Permanently added .*|.*post-quantum.*)\r?\n/gm;

/**
 * A host through the system's ssh, as the user has set it up: its config, keys, agents, jump hosts and prompts. Connections are
 * shared where the user has not arranged that already (not on Windows, whose ssh cannot).
 */
export class RemoteShell implements Shell {
  private readonly file: string;
  private prepared: Promise<{ readonly options: readonly string[]; readonly config: ReadonlyMap<string, string> }> | undefined;
  private askpass: Promise<Askpass> | undefined;
  private controlFolder: string | undefined;

  constructor(readonly host: string, private readonly tools: RunTools = {}) {
    // ssh is told where its options end; programs that start it for us (rsync) are not.
    if (!isHostName(host)) {
      throw runFailure('error.run-host-name', { host });
    }
    this.file = tools.ssh ?? 'ssh';
  }

  async run(script: string, options: ShellOptions = {}): Promise<ShellResult> {
    const mark = endMark();
    const whole = mark.wrap(script);
    const bytes = Buffer.from(whole);
    // base64 adds a third.
    const small = bytes.length * 1.4 < LARGEST_ARGUMENT;
    const command = envelope(small ? whole : `eval "$(head -c ${bytes.length})"`);
    const args = [...await this.connectionArguments(options.quiet === true), '--', this.host, command];
    const result = await this.child(args, { ...options, ...(small ? {} : { preamble: bytes }) });
    const ended = mark.read(result);
    if (ended === undefined) {
      const words = await this.proxysWords(result.stderr, options.quiet === true);
      throw new RunFailure(explainRunFailure((words ?? result.stderr).replace(NOISE, ''), result.exit, { host: this.host, transport: true }));
    }
    return { ...ended, stderr: ended.stderr.replace(NOISE, '').replace(/\r\n/g, '\n') };
  }

  exec(argv: readonly string[], options: ShellOptions = {}): Promise<ShellResult> {
    return this.run(`exec ${quoteWords(argv)}`, options);
  }

  /** Arguments for ssh (or a program that starts it) up to the `--`: the user's first, since ssh takes the first value of an option. */
  async connectionArguments(quiet = false): Promise<readonly string[]> {
    const { options } = await this.prepare();
    return [...(this.tools.sshArguments ?? []), '-T', ...options, ...(quiet ? ['-o', 'BatchMode=yes'] : [])];
  }

  /** The environment ssh needs so that its questions reach the user. */
  async environment(): Promise<NodeJS.ProcessEnv> {
    const { prompt } = this.tools;
    if (prompt === undefined) {
      return process.env;
    }
    this.askpass ??= openAskpass(this.host, prompt);
    return { ...process.env, ...(await this.askpass).environment };
  }

  /** What ssh makes of the host's name (`ssh -G`): `hostname`, `user`, `port`, … */
  async config(): Promise<ReadonlyMap<string, string>> {
    return (await this.prepare()).config;
  }

  async dispose(): Promise<void> {
    const folder = this.controlFolder;
    this.controlFolder = undefined;
    this.prepared = undefined;
    if (folder !== undefined) {
      await runChild(this.file, [...(this.tools.sshArguments ?? []), '-o', `ControlPath=${folder}/c`, '-O', 'exit', '--', this.host]).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    }
    (await this.askpass?.catch(() => undefined))?.close();
    this.askpass = undefined;
  }

  private async child(args: readonly string[], options: ShellOptions & { readonly preamble?: Uint8Array }): Promise<ShellResult> {
    try {
      return await runChild(this.file, args, { ...options, environment: await this.environment() });
    } catch (error) {
      throw error instanceof RunFailure && error.explanation.code === 'error.run-no-program' ? runFailure('error.run-no-ssh', { file: this.file }, error.explanation.raw) : error;
    }
  }

  /** While it shares connections, ssh throws away what a jump host or proxy command says; asked once more without sharing, it tells. */
  private async proxysWords(stderr: string, quiet: boolean): Promise<string | undefined> {
    if (this.controlFolder === undefined || !/UNKNOWN port \d+/.test(stderr)) {
      return undefined;
    }
    const args = [...(this.tools.sshArguments ?? []), '-o', 'ControlMaster=no', '-o', 'ControlPath=none', ...await this.connectionArguments(quiet), '--', this.host, envelope(':')];
    return this.child(args, {}).then((result) => (result.exit === 0 ? undefined : result.stderr), () => undefined);
  }

  private prepare(): NonNullable<typeof this.prepared> {
    const preparing = this.prepared ?? this.readConfig();
    this.prepared = preparing;
    // A failure (config being edited) is asked again next time.
    preparing.catch(() => { this.prepared = undefined; });
    return preparing;
  }

  /** Adds only what the user has not decided: options on the command line would win over their config. */
  private async readConfig(): Promise<{ options: readonly string[]; config: ReadonlyMap<string, string> }> {
    const { exit, stdout, stderr } = await this.child([...(this.tools.sshArguments ?? []), '-G', '--', this.host], {});
    if (exit !== 0) {
      throw new RunFailure(explainRunFailure(stderr, exit, { host: this.host, transport: true }));
    }
    const config = new Map(stdout.split('\n').map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1).trim()] as const));
    const unset = (key: string, none: readonly string[]): boolean => none.includes(config.get(key) ?? none[0]);
    // Forwardings and a RemoteCommand belong to the user's own sessions.
    const options = ['-o', 'ClearAllForwardings=yes', '-o', 'RemoteCommand=none'];
    if (unset('connecttimeout', ['none', '0'])) {
      options.push('-o', `ConnectTimeout=${this.tools.connectTimeout ?? 15}`);
    }
    if (unset('serveraliveinterval', ['0'])) {
      options.push('-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3');
    }
    if (process.platform !== 'win32' && unset('controlmaster', ['false', 'no']) && unset('controlpath', ['none'])) {
      this.controlFolder ??= mkdtempSync(path.join(shortTemporaryFolder(), 'fl-'));
      options.push('-o', 'ControlMaster=auto', '-o', 'ControlPersist=60', '-o', `ControlPath=${this.controlFolder}/c`);
    }
    return { options, config };
  }
}

/** What ssh may be given as a destination: no option, no blanks. */
export const isHostName = (host: string): boolean => new RegExp(HOST_PATTERN).test(host);

/** True for failures after which trying again makes sense: the network, not a refusal. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof Cancelled || !(error instanceof RunFailure)) {
    return false;
  }
  return ['error.run-connection-ended', 'error.run-timeout', 'error.run-unreachable', 'error.run-network-down', 'error.run-refused', 'error.run-connection-closed', 'error.run-no-such-host', 'error.run-not-ssh'].includes(error.explanation.code);
}
