/**
 * What every reader is given and gives back. A reader turns one rank's files into columns; it never throws for content
 * (see `ProblemList`), only `Cancelled` when asked to stop and `UnreadableInput` when there is nothing to open.
 */
import type { FilePort, SpillStore } from '../port';
import { Cancelled, type ProblemList } from '../profile/problems';
import type { RankData } from '../profile/columns';

export interface ReadProgress {
  /** Bytes of input read so far and in all (compressed size where compressed); total 0 = not known. */
  readonly bytes: number;
  readonly totalBytes: number;
  readonly file: string;
}

export interface ReaderContext {
  readonly port: FilePort;
  readonly problems: ProblemList;
  /** Aborted when the user cancels; long loops call `checkCancelled` at least every 4 MB of input. */
  readonly signal?: AbortSignal;
  readonly progress?: (progress: ReadProgress) => void;
  /** Bytes per chunk; tests make it tiny so that every border is crossed. Default 1 MiB. */
  readonly chunkSize?: number;
  /** Set while reading compressed traces, when the cache can be written. The key goes into `RankData.detailSource`. */
  readonly spill?: { readonly key: string; readonly store: SpillStore };
}

export function checkCancelled(context: Pick<ReaderContext, 'signal'>): void {
  if (context.signal?.aborted === true) {
    throw new Cancelled();
  }
}

export type FormatId = 'ascend-text' | 'ascend-db' | 'msprof-db' | 'ascend-op-summary' | 'ascend-raw' | 'ascend-cluster' | 'kineto' | 'nsys-sqlite';

/**
 * One rank found by detection, not read yet. `id` is unique in the profile and stable over sessions: the path relative to
 * the profile (plus the member's name inside an archive).
 */
export interface RankSource {
  readonly id: string;
  readonly label: string;
  readonly format: FormatId;
  /** File or folder. */
  readonly path: string;
  /** Rank as far as detection can tell (metadata, then folder or file name); reading may find it. */
  readonly rank: number | undefined;
  /** Run / step folder the rank belongs to (`step-5`), '' when there is none. */
  readonly group: string;
  readonly bytes: number;
  /** Files whose size, mtime, head and tail key the cache. */
  readonly files: readonly string[];
  /** Set where only sums of the profiler are left, and no kernels. */
  readonly withoutKernels?: true;
  /** Undefined for a rank that cannot be read (not analysed, incomplete); its problem says why. */
  readonly read?: (context: ReaderContext) => Promise<RankData>;
}
