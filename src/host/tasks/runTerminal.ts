import * as vscode from 'vscode';

/** What a job may do with its terminal. */
export interface TerminalIo {
  /** Output of a program or a line of our own; line ends become the terminal's. */
  readonly write: (text: string) => void;
  readonly rename: (name: string) => void;
  /** Aborted when the terminal goes away: the job must only let go, not stop anything. */
  readonly signal: AbortSignal;
}

export interface TerminalJob {
  /** Resolves with the exit code of what ran; rejects only for programming errors. */
  readonly run: (io: TerminalIo) => Promise<number>;
  /** Ctrl+C. */
  readonly interrupt: () => void;
}

/**
 * The terminal of a task. It follows; it owns nothing: closing it, "Terminate", and a reload of the window only let go. Ctrl+C is
 * the one way to stop what runs from here.
 */
export class RunTerminal implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  private readonly renamed = new vscode.EventEmitter<string>();
  private readonly closed = new vscode.EventEmitter<number>();
  private readonly gone = new AbortController();
  readonly onDidWrite = this.written.event;
  readonly onDidChangeName = this.renamed.event;
  readonly onDidClose = this.closed.event;

  constructor(private readonly job: TerminalJob) {}

  open(): void {
    const io: TerminalIo = {
      write: (text) => this.written.fire(text.replace(/\r?\n/g, '\r\n')),
      rename: (name) => this.renamed.fire(name),
      signal: this.gone.signal,
    };
    this.job.run(io).then((code) => this.closed.fire(code), (error: unknown) => {
      io.write(`\r\n${error instanceof Error ? error.message : String(error)}\r\n`);
      this.closed.fire(1);
    });
  }

  close(): void {
    this.gone.abort();
  }

  handleInput(data: string): void {
    if (data.includes('\u0003')) {
      this.job.interrupt();
    }
  }
}
