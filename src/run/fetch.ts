import type { RunTools } from './tools';
import type { Shell } from './shell';
import type { SyncProgress } from './push';

export interface FetchFile {
  /** Relative to `from`, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

export type FetchKind = 'analysis' | 'trace' | 'columns';

export interface FetchOptions {
  readonly shell: Shell;
  readonly tools?: RunTools;
  /** Folder on the host, absolute. */
  readonly from: string;
  /** Local folder; made when absent. Nothing in it is deleted. */
  readonly to: string;
  /** `analysis`: what analysis needs (tables, metadata, compressed traces when there are no tables); `trace`: everything a profiler wrote; `columns`: all there is. */
  readonly what: FetchKind;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: SyncProgress) => void;
}

export interface FetchResult {
  readonly files: readonly FetchFile[];
  /** Files that were here already, whole. */
  readonly kept: number;
  /** Bytes over the wire, as far as we know. */
  readonly receivedBytes: number;
  /** Left on the host because `what` did not ask for them. */
  readonly leftThere: readonly FetchFile[];
  readonly method: 'rsync' | 'stream';
}

export { fetchFiles, listProfileFiles } from './fetchFiles';
