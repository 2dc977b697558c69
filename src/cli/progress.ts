import type { EngineProgress } from '../protocol/engine';
import { fill } from '../protocol/text';
import { MESSAGES } from '../protocol/text';
import type { CommandContext } from './io';

const TERMINAL_EVERY_MS = 100;
const PLAIN_EVERY_MS = 5000;

export interface ProgressLine {
  readonly report: (progress: EngineProgress) => void;
  /** Removes the line; call before anything else is written to stderr. */
  readonly clear: () => void;
}

/** One line that rewrites itself on a terminal; elsewhere a plain line every few seconds, so that short reads stay silent. */
export function progressLine({ io, translate }: CommandContext, now: () => number = Date.now): ProgressLine {
  const began = now();
  let earlierFiles = 0;
  let before = 0;
  let last = io.errIsTerminal ? 0 : began;
  let shown = false;
  return {
    report: ({ bytes, totalBytes, file }) => {
      const time = now();
      if (bytes < before) {
        earlierFiles += before;
      }
      before = bytes;
      if (time - last < (io.errIsTerminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS)) {
        return;
      }
      last = time;
      const megabytes = bytes / 1e6;
      const rate = (earlierFiles + bytes) / 1e6 / Math.max(0.001, (time - began) / 1000);
      const share = totalBytes > 0 ? ` ${Math.min(100, Math.floor((bytes / totalBytes) * 100))}%` : '';
      const line = fill(translate(MESSAGES['cli.progress.reading']), { file: fileName(file), share, megabytes: megabytes.toFixed(0), rate: rate.toFixed(rate < 10 ? 1 : 0) });
      io.err(io.errIsTerminal ? `\r\x1b[K${line}` : `${line}\n`);
      shown = io.errIsTerminal;
    },
    clear: () => {
      if (shown) {
        io.err('\r\x1b[K');
        shown = false;
      }
    },
  };
}

function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
