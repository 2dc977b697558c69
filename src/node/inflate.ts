import { createGunzip, createInflateRaw } from 'node:zlib';

/** Compressed bytes per step. Deflate grows data at most 1032 times, so one step never yields more than 66 MB. */
const STEP = 64 * 1024;
const OUTPUT_CHUNK = 512 * 1024;

/**
 * Inflates a stream: gzip with any number of members and header fields, or raw deflate. While the caller works on one
 * step's output the next step is already being inflated on a pool thread.
 *
 * A cut or damaged input ends the stream early instead of failing: what could be inflated has been delivered, then
 * `onCut` is called with a short reason. Bytes after the last gzip member are ignored, as gzip itself does.
 */
export async function* inflateStream(
  source: AsyncIterable<Uint8Array>,
  kind: 'gzip' | 'deflate-raw',
  onCut: (reason: string) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const inflater = new Inflater(kind);
  try {
    let pending: Promise<readonly Uint8Array[]> | undefined;
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length && !inflater.ended; at += STEP) {
        // The port may reuse the chunk while the step is still being inflated: the step owns its bytes.
        const step = chunk.slice(at, at + STEP);
        const ready = await pending;
        pending = inflater.feed(step);
        if (ready !== undefined) {
          yield* ready;
        }
      }
      if (inflater.ended) {
        break;
      }
    }
    yield* (await pending) ?? [];
    yield* await inflater.finish();
    if (inflater.failure !== undefined) {
      onCut(inflater.failure);
    }
  } finally {
    inflater.close();
  }
}

/** Drives one zlib stream step by step, keeping what it produced before an error (a piped stream would throw that away). */
class Inflater {
  failure: string | undefined;
  ended = false;
  private outputs: Uint8Array[] = [];
  private settle: (() => void) | undefined;
  private readonly stream;

  constructor(kind: 'gzip' | 'deflate-raw') {
    const options = { chunkSize: OUTPUT_CHUNK };
    this.stream = kind === 'gzip' ? createGunzip(options) : createInflateRaw(options);
    this.stream.on('data', (bytes: Buffer) => this.outputs.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
    this.stream.on('error', (error: NodeJS.ErrnoException) => this.fail(error.code ?? error.message));
    this.stream.on('end', () => this.end());
  }

  /** Inflates one step; resolves with everything it gave, also when it failed half-way. */
  feed(step: Uint8Array): Promise<readonly Uint8Array[]> {
    return this.run((done) => this.stream.write(step, done));
  }

  finish(): Promise<readonly Uint8Array[]> {
    // 'end' (or 'error') settles this one: 'finish' may come before the last output.
    return this.run(() => this.stream.end());
  }

  close(): void {
    this.ended = true;
    this.stream.destroy();
  }

  private async run(start: (done: () => void) => void): Promise<readonly Uint8Array[]> {
    if (!this.ended) {
      await new Promise<void>((resolve) => {
        this.settle = resolve;
        start(resolve);
      });
    }
    const ready = this.outputs;
    this.outputs = [];
    return ready;
  }

  private fail(reason: string): void {
    this.failure ??= reason;
    this.end();
  }

  private end(): void {
    this.ended = true;
    this.settle?.();
  }
}
