/** What `fuselens` exits with; scripts rely on these numbers. */
export const ExitCode = {
  Done: 0,
  /** Findings or problems at least as severe as `--fail-on`. */
  Failed: 1,
  /** Not a profile, or unreadable; one sentence on stderr. */
  Unreadable: 2,
  Usage: 3,
  /** `--fail-over` could not be decided: the profiles are not comparable, or a single sample has no spread. */
  NotComparable: 4,
  /** Stopped by the user, as shells count signal 2. */
  Interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
