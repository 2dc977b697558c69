/** Lines out of a stream of output: bounded, in one pass, without colours, and with the prefixes of launchers taken off. */

/** What is looked at of one line; the rest of a longer one is passed over. */
const MAX_LINE = 8192;

/** Cuts a stream into lines at LF, CR (progress bars) and CR LF. Every byte is looked at once. */
export class LineSplitter {
  private pending = '';

  /** Lines that ended in this piece. */
  push(piece: string): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (const { index } of piece.matchAll(/[\r\n]/g)) {
      this.keep(piece, from, index);
      lines.push(this.pending);
      this.pending = '';
      // CR LF ends one line: the LF would give an empty one, which means something in a traceback.
      from = index + 1;
    }
    this.keep(piece, from, piece.length);
    return lines;
  }

  /** What stood after the last line end. */
  end(): readonly string[] {
    const last = this.pending;
    this.pending = '';
    return last === '' ? [] : [last];
  }

  private keep(piece: string, from: number, to: number): void {
    const room = MAX_LINE - this.pending.length;
    if (room > 0 && to > from) {
      this.pending += piece.slice(from, Math.min(to, from + room));
    }
  }
}

/** One line, and whose it is where a prefix tells. */
export interface LogLine {
  /** Who wrote it, as far as the prefix tells; lines of one source belong together. */
  readonly source: string;
  readonly rank: number | undefined;
  readonly text: string;
}

const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/**
 * Prefixes that stand before every line: torch (`[rank0]:`), torchrun with redirected output (`[default0]:`, `[trainer0]:`),
 * `srun --label` (` 3: `), Ray (`(train pid=12, ip=10.0.0.1) `), pdsh and docker compose (`node1: `, `web | ` are left alone: too
 * much other text looks like them).
 */
const RANK = /^\s*\[(?:rank|default|trainer)(\d{1,6})\]:(?: |$)/;
const LABEL = /^\s{0,6}(\d{1,6}): /;
const RAY = /^(\([\w.:-]{1,80}(?: \w+)? pid=\d+(?:, ip=[\w.:]+)?\)) /;

/** Takes colours and launcher prefixes off a line. Several may stand one after the other. */
export function readLine(raw: string): LogLine {
  let text = raw.includes('\u001b') ? raw.replace(ESCAPES, '') : raw;
  let rank: number | undefined;
  let source = '';
  for (let left = 3; left > 0; left--) {
    const ranked = RANK.exec(text) ?? (source === '' || !source.startsWith('#') ? LABEL.exec(text) : null);
    const ray = ranked === null ? RAY.exec(text) : null;
    if (ranked !== null) {
      rank = Number(ranked[1]);
      source = `#${rank}`;
      text = text.slice(ranked[0].length);
    } else if (ray !== null) {
      source ||= ray[1];
      text = text.slice(ray[0].length);
    } else {
      break;
    }
  }
  return { source, rank, text };
}
