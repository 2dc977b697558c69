/**
 * What was odd about an input, and what that does to the figures. Readers never throw for content: they return columns and
 * problems. The engine speaks in codes; `protocol/text` turns a code into a sentence in the user's language.
 */

/** Arguments of a message: plain data only. */
export type MessageArguments = Readonly<Record<string, string | number>>;

export interface Message {
  /** Key of the sentence in `protocol/text`. */
  readonly code: string;
  readonly args?: MessageArguments;
}

export type Severity = 'info' | 'warning' | 'error';

export interface Problem {
  /** Short stable kind, e.g. `truncated`, `unknown-duration`; also the key of its sentence (`problem.<kind>`) and of its effect (`effect.<kind>`). */
  readonly kind: string;
  readonly severity: Severity;
  /** How many events, rows or files are affected. */
  readonly count: number;
  /** The file, and where in it: `trace.json`, `kernel_details.csv line 8`, `trace.json byte 1234`. */
  readonly where: string;
  readonly args?: MessageArguments;
}

/** Collects problems of one read and merges repeats of a kind in the same file: the first place is kept, counts add up. */
export class ProblemList {
  private readonly byKey = new Map<string, { problem: Problem; count: number }>();

  add(kind: string, where: string, options: { readonly severity?: Severity; readonly count?: number; readonly args?: MessageArguments; readonly mergeKey?: string } = {}): void {
    const key = `${kind}\0${options.mergeKey ?? where}`;
    const count = options.count ?? 1;
    const known = this.byKey.get(key);
    if (known !== undefined) {
      known.count += count;
      return;
    }
    const problem: Problem = { kind, severity: options.severity ?? 'warning', count, where, ...(options.args === undefined ? {} : { args: options.args }) };
    this.byKey.set(key, { problem, count });
  }

  addAll(problems: Iterable<Problem>): void {
    for (const p of problems) {
      this.add(p.kind, p.where, { severity: p.severity, count: p.count, ...(p.args === undefined ? {} : { args: p.args }) });
    }
  }

  toArray(): readonly Problem[] {
    return [...this.byKey.values()].map(({ problem, count }) => ({ ...problem, count }));
  }
}

/** An input that cannot be opened at all: one sentence that says what it is and what to do. */
export class UnreadableInput extends Error {
  constructor(readonly detail: Message) {
    super(detail.code);
    this.name = 'UnreadableInput';
  }
}

/** A message as the reason of a problem; what it gave as its own reason stays with it as its cause. */
export function asReason({ code, args }: Message): MessageArguments {
  return { ...args, ...(args?.reason === undefined ? {} : { cause: args.reason }), reason: code };
}

/** Thrown by readers when the caller's signal was aborted. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
    this.name = 'Cancelled';
  }
}
