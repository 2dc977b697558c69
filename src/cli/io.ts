import type { Translate } from '../protocol/text';

/** The outside of a command, so that tests can run one without a process. */
export interface CliIo {
  /** Resolves when the text was taken: a slow reader of a pipe holds the writer back. */
  readonly out: (text: string) => Promise<void>;
  readonly err: (text: string) => void;
  /** Characters per line of the terminal; undefined when stdout is no terminal. */
  readonly columns: number | undefined;
  readonly errIsTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** A mistake on the command line: one sentence, then how to get help. */
export class UsageError extends Error {
  constructor(readonly code: string, readonly args: Readonly<Record<string, string | number>> = {}) {
    super(code);
    this.name = 'UsageError';
  }
}

/** A failure that ends the command with one sentence. */
export class CommandFailure extends Error {
  constructor(readonly code: string, readonly args: Readonly<Record<string, string | number>> = {}) {
    super(code);
    this.name = 'CommandFailure';
  }
}

export interface CommandContext {
  readonly io: CliIo;
  readonly translate: Translate;
  readonly language: Language;
}

export const LANGUAGES = ['en', 'zh-cn'] as const;
export type Language = (typeof LANGUAGES)[number];
