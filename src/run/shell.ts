import type { RunTools } from './tools';
import { LocalShell } from './localShell';
import { RemoteShell } from './remoteShell';

/** What a script left behind. Output is decoded as UTF-8; `stdout` is empty where `onStdout` took it. */
export interface ShellResult {
  /** The script's own exit code (128 + n for a signal), never ssh's. */
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ShellOptions {
  /** Written to the script's stdin, which is then closed; absent: an empty stdin. */
  readonly input?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Aborted: the call rejects with `Cancelled`. What runs on the host may go on: stop a run through its folder. */
  readonly signal?: AbortSignal;
  /** Takes stdout as it comes instead of collecting it. A promise holds the sender back. */
  readonly onStdout?: (chunk: Uint8Array) => void | Promise<void>;
  readonly onStderr?: (text: string) => void;
  /** Asks nothing: a host that wants a password fails at once. For polls. */
  readonly quiet?: boolean;
}

/**
 * A POSIX shell here or on a host. Calls reject with `RunFailure` when the script could not be run to its end (no connection, no
 * shell, connection lost), with `Cancelled` after an abort; a script's own failure is a result.
 */
export interface Shell {
  /** The name given to ssh; undefined is this machine. */
  readonly host: string | undefined;
  /** Runs a POSIX `sh` script of any size. */
  readonly run: (script: string, options?: ShellOptions) => Promise<ShellResult>;
  /** Runs one program; every argument arrives as it is. */
  readonly exec: (argv: readonly string[], options?: ShellOptions) => Promise<ShellResult>;
  /** Ends what was kept open (connection sharing, the prompt helper). */
  readonly dispose: () => Promise<void>;
}

/** A shell on a host, or here when there is none. Nothing is connected before the first call. */
export function openShell(host: string | undefined, tools: RunTools = {}): Shell {
  return host === undefined || host === '' ? new LocalShell() : new RemoteShell(host, tools);
}
