/** What the output of a run says: how far it is, which exceptions it ended with, and what torchrun reports of its ranks. */
import { LineSplitter, readLine, type LogLine } from './logLines';
import { progressOf, type LineProgress } from './progressLine';
import { TracebackReader, type Traceback } from './tracebacks';

/** One entry of torchrun's summary of failures. */
export interface RankFailure {
  readonly rank: number;
  readonly host?: string;
  /** Negative: the number of the signal that ended it. */
  readonly exit?: number;
  /** The one that torchrun saw first. */
  readonly first: boolean;
}

export type LogEvent =
  | ({ readonly kind: 'progress'; readonly rank: number | undefined } & LineProgress)
  | { readonly kind: 'traceback'; readonly rank: number | undefined; readonly traceback: Traceback }
  | { readonly kind: 'rankFailure'; readonly failure: RankFailure };

/** Sources followed at once; a prefix of free text could otherwise make any number of them. */
const MAX_SOURCES = 4096;

/**
 * Feed it the output as it comes, decoded; cut anywhere. Work per character is constant, memory is bounded whatever is fed.
 * Ranks that share a stream without prefixes may tear each other's lines apart: such tracebacks are lost, never made up.
 */
export class LogParser {
  private readonly splitter = new LineSplitter();
  private readonly readers = new Map<string, TracebackReader>();
  private readonly summary = new SummaryReader();

  push(piece: string): readonly LogEvent[] {
    return this.splitter.push(piece).flatMap((line) => this.line(line));
  }

  /** No output for a while: gives exceptions that only waited to see whether another follows from them. */
  flush(): readonly LogEvent[] {
    return [...this.readers].flatMap(([source, reader]): readonly LogEvent[] => {
      const traceback = reader.flush();
      return traceback === undefined ? [] : [{ kind: 'traceback', rank: rankOf(source), traceback }];
    });
  }

  /** The output has ended. */
  end(): readonly LogEvent[] {
    const events = [...this.splitter.end().flatMap((line) => this.line(line)), ...this.flush()];
    this.readers.clear();
    return [...events, ...this.summary.end()];
  }

  private line(raw: string): LogEvent[] {
    const line = readLine(raw);
    const events: LogEvent[] = [...this.summary.push(line.text)];
    const reader = this.reader(line);
    const traceback = reader?.push(line.text);
    if (traceback !== undefined) {
      events.push({ kind: 'traceback', rank: line.rank, traceback });
    }
    if (reader?.busy !== true) {
      const progress = progressOf(line.text);
      if (progress !== undefined) {
        events.push({ kind: 'progress', rank: line.rank ?? xtunerRank(line.text), ...progress });
      }
      this.readers.delete(line.source);
    }
    return events;
  }

  private reader({ source }: LogLine): TracebackReader | undefined {
    const known = this.readers.get(source);
    if (known !== undefined || this.readers.size >= MAX_SOURCES) {
      return known;
    }
    const reader = new TracebackReader();
    this.readers.set(source, reader);
    return reader;
  }
}

const rankOf = (source: string): number | undefined => (source.startsWith('#') ? Number(source.slice(1)) : undefined);

/** XTuner's logger names its rank inside the line: `[XTuner][RANK 3][2026-01-01 00:00:00][INFO] Epoch 1 Step 3/100 …`. */
function xtunerRank(text: string): number | undefined {
  const found = /^\[[^\]]{1,40}\]\[RANK (\d{1,6})\]/.exec(text);
  return found === null ? undefined : Number(found[1]);
}

/**
 * torchrun's summary after a failure: fields under `[0]:`, the first one below `Root Cause (first observed failure):`.
 * Format: torch/distributed/elastic/multiprocessing/errors/__init__.py.
 */
class SummaryReader {
  private rootCause = false;
  private current: { host?: string; rank?: number; exit?: number } | undefined;

  push(text: string): readonly LogEvent[] {
    if (/^Root Cause \(first observed failure\):/.test(text)) {
      const events = this.end();
      this.rootCause = true;
      return events;
    }
    if (/^\[\d{1,6}\]:\s*$/.test(text)) {
      const events = this.finish();
      this.current = {};
      return events;
    }
    if (this.current === undefined) {
      return [];
    }
    const field = /^\s{1,4}(host|rank|exitcode)\s{1,12}:\s(\S{1,400})/.exec(text);
    switch (field?.[1]) {
      case 'host': this.current.host = field[2]; return [];
      case 'rank': this.current.rank = Number(field[2]); return [];
      case 'exitcode': this.current.exit = Number(field[2]); return [];
      default: return /^[=-]{10,}\s*$/.test(text) ? this.end() : [];
    }
  }

  end(): readonly LogEvent[] {
    const events = this.finish();
    this.rootCause = false;
    return events;
  }

  private finish(): readonly LogEvent[] {
    const { current, rootCause } = this;
    this.current = undefined;
    if (current?.rank === undefined || !Number.isSafeInteger(current.rank)) {
      return [];
    }
    return [{ kind: 'rankFailure', failure: { rank: current.rank, first: rootCause, ...(current.host === undefined ? {} : { host: current.host }), ...(current.exit === undefined || !Number.isSafeInteger(current.exit) ? {} : { exit: current.exit }) } }];
  }
}
