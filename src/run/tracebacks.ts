/**
 * Python tracebacks out of lines: plain, chained, of exception groups, of syntax errors, and the ones torchrun indents under
 * `traceback :` of its summary. Grammar: https://docs.python.org/3/library/traceback.html (what `print_exception` writes).
 */
export interface Frame {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly function: string;
}

export interface Traceback {
  /** Exception with its message, one line: `ValueError: no such shape`. */
  readonly message: string;
  /** Outermost call first, as Python prints them. */
  readonly frames: readonly Frame[];
  /** The exceptions this one came from, the first first. */
  readonly causes: readonly { readonly message: string; readonly frames: readonly Frame[] }[];
}

/** Frames kept of one traceback: recursion prints thousands, of which the ends tell the story. */
const MAX_FRAMES = 200;
const MAX_CAUSES = 20;

const HEADER = /Traceback \(most recent call last\):\s*$/;
const FRAME = /^\s*File "([^"]{1,4096})", line (\d{1,9})(?:, in (.{1,500}))?\s*$/;
const EXCEPTION = /^([A-Za-z_][\w.]{0,200})(?:: ?(.*))?$/;
const CHAINED = /^(?:During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:)\s*$/;
/** Branches of an exception group: `  | `, `  +-+---------------- 1 ----------------`, `    +------------------------------------`. */
const GROUP_BRANCH = /^\s*\+[-+]+(?: \d+ -+)?\s*$/;
const GROUP_MARGIN = /^\s*\| ?|^\s*\+ (?=Exception Group Traceback)/;

/** Follows the lines of one source. One call per line, with a constant amount of work. */
export class TracebackReader {
  private open: { readonly indent: number; readonly frames: Frame[]; readonly headed: boolean } | undefined;
  private causes: { readonly message: string; readonly frames: readonly Frame[] }[] = [];
  /** Complete, but the next lines may tell that it was only the cause of another. */
  private held: { readonly message: string; readonly frames: readonly Frame[] } | undefined;

  get busy(): boolean {
    return this.open !== undefined || this.held !== undefined || this.causes.length > 0;
  }

  push(line: string): Traceback | undefined {
    const text = this.busy || line.includes('| ') || line.includes('+ ') ? line.replace(GROUP_MARGIN, '') : line;
    if (this.open !== undefined) {
      return this.continue(text);
    }
    if (this.busy) {
      return this.afterException(text);
    }
    this.begin(text);
    return undefined;
  }

  /** Nothing more is coming, for now or at all: what is complete is given; a traceback without its exception is not one. */
  flush(): Traceback | undefined {
    return this.open === undefined ? this.release() : undefined;
  }

  private begin(text: string): void {
    const header = HEADER.exec(text);
    if (header !== null) {
      // A logger may have put words before it; torchrun's summary puts `traceback : ` before it, and indents what follows.
      const indent = /^\s*traceback\s*:\s/.test(text) ? leading(text) : text.startsWith(' ') && header.index <= leading(text) ? header.index : 0;
      this.open = { indent, frames: [], headed: true };
      return;
    }
    const frame = FRAME.exec(text);
    if (frame !== null && frame[3] === undefined && text.startsWith('  File')) {
      // Syntax errors are printed without a header.
      this.open = { indent: 0, frames: [frameOf(frame)], headed: false };
    }
  }

  private continue(text: string): Traceback | undefined {
    const { open } = this;
    if (open === undefined) {
      return undefined;
    }
    const frame = FRAME.exec(text);
    if (frame !== null) {
      keepFrame(open.frames, frameOf(frame));
      return undefined;
    }
    if (text.trim() === '') {
      return undefined;
    }
    if (leading(text) > open.indent) {
      // Source, carets, `[Previous line repeated 996 more times]`.
      return undefined;
    }
    this.open = undefined;
    if (HEADER.test(text)) {
      // Cut off by another one: two processes wrote at once.
      const done = this.release();
      this.begin(text);
      return done;
    }
    const exception = EXCEPTION.exec(text.trim());
    if (exception === null || open.frames.length === 0 || (!open.headed && !/(?:Syntax|Indentation|Tab)Error$/.test(exception[1]))) {
      return this.release();
    }
    this.held = { message: text.trim().slice(0, 2000), frames: open.frames };
    return undefined;
  }

  private afterException(text: string): Traceback | undefined {
    if (text.trim() === '' || GROUP_BRANCH.test(text)) {
      return undefined;
    }
    if (CHAINED.test(text.trim())) {
      if (this.held !== undefined) {
        this.causes = [...this.causes, this.held].slice(-MAX_CAUSES);
        this.held = undefined;
      }
      return undefined;
    }
    if (this.held === undefined && HEADER.test(text)) {
      this.begin(text);
      return undefined;
    }
    const done = this.release();
    this.begin(text);
    return done;
  }

  /** Where the exception that was announced never came, its cause is what is known. */
  private release(): Traceback | undefined {
    const { held, causes } = this;
    this.held = undefined;
    this.causes = [];
    const last = held ?? causes.at(-1);
    return last === undefined ? undefined : { ...last, causes: held === undefined ? causes.slice(0, -1) : causes };
  }
}

/** Keeps the first and the last frames of a deep recursion. */
function keepFrame(frames: Frame[], frame: Frame): void {
  if (frames.length >= MAX_FRAMES) {
    frames.splice(MAX_FRAMES / 2, 1);
  }
  frames.push(frame);
}

const frameOf = ([, file, line, name]: RegExpExecArray): Frame => ({ file, line: Number(line), function: name ?? '' });

const leading = (text: string): number => text.length - text.trimStart().length;
