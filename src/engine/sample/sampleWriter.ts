/** Where the sample goes. Node, a test or a remote host each give one of these; the engine itself never touches a disk. */
export interface SampleWriter {
  /** Makes a folder and its parents; no error when it is there. */
  mkdir(folder: string): Promise<void>;
  /** Creates or replaces a text file from chunks of about 64 KB, so that no file ever is one string. */
  write(file: string, chunks: Iterable<string>): Promise<void>;
  join(...parts: readonly string[]): string;
}

export interface SampleOptions {
  /** Folder to write into. */
  readonly folder: string;
  /** How many of the 16 simulated ranks are written, from rank 0; all of them take part in the simulation. Default 16. */
  readonly ranks?: number;
  /** Called before each rank folder is written. */
  readonly onProgress?: (done: number, total: number, what: string) => void;
  /** Asked between files; true stops early and leaves what was written. */
  readonly isCancelled?: () => boolean;
}
