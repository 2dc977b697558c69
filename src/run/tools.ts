/**
 * The programs we call and how: machine-scope settings of the editor, or the command line's own. A workspace cannot set them,
 * since they decide what is executed here.
 */
export interface RunTools {
  /** Path of `ssh`; absent: from PATH. Likewise the others. */
  readonly ssh?: string;
  /** Further arguments of ssh (and of rsync through it), such as `['-F', 'FILE']`. */
  readonly sshArguments?: readonly string[];
  readonly rsync?: string;
  readonly git?: string;
  /** Node on the hosts, tried before those found there. */
  readonly nodeOnHost?: string;
  /** Where run folders lie on a host; absent: `~/.fuselens/runs`. */
  readonly runsFolder?: string;
  /** Seconds until a host that does not answer counts as unreachable; absent: 15. */
  readonly connectTimeout?: number;
  /** Asks the user what ssh wants to know (password, passphrase, one-time code, a new host key). Absent: ssh may not ask. */
  readonly prompt?: (prompt: SshPrompt) => Promise<string | undefined>;
  /** Path of our own `dist/cli.js`, sent to hosts that analyse there. */
  readonly cli?: string;
}

export interface SshPrompt {
  readonly host: string;
  /** ssh's own words, e.g. `me@cluster's password: `. */
  readonly text: string;
  /** `confirm` wants `yes` or `no`. Secrets must not be shown or kept. */
  readonly kind: 'secret' | 'confirm';
}
