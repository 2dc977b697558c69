import { createGunzip, createInflateRaw } from 'node:zlib';

/** Compressed bytes per step. Deflate grows data at most 1032 times, so one step never yields more than 66 MB. */
const STEP = 64 * 1024;
const OUTPUT_CHUNK = 512 * 1024;
/** Compressed bytes kept to inflate again after damage; behind them up to one output chunk before the damage is lost. */
const KEPT = 4 * 1024 * 1024;

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
    const failure = inflater.damaged ? yield* inflateUpToDamage(kind, inflater.kept, inflater.delivered) : inflater.failure;
    if (failure !== undefined) {
      onCut(failure);
    }
  } finally {
    inflater.close();
  }
}

/**
 * zlib gives nothing of a call that fails, so a small file damaged in its last bytes would look empty. The damaged step is
 * inflated again in small pieces, then byte by byte, which gives everything before the damage. Returns why it ends, if that
 * is a loss: bytes behind the last gzip member are none.
 */
async function* inflateUpToDamage(kind: 'gzip' | 'deflate-raw', kept: readonly Uint8Array[], delivered: number): AsyncGenerator<Uint8Array, string | undefined, undefined> {
  let steps = kept;
  let failure: string | undefined;
  let given = delivered;
  for (const size of [1024, 1]) {
    const inflater = new Inflater(kind);
    try {
      const whole = steps.slice(0, -1);
      const last = steps[steps.length - 1];
      let at = 0;
      let skip = given;
      for (let turn = 0; !inflater.ended && (turn < whole.length || at < last.length); turn++) {
        const piece = turn < whole.length ? whole[turn] : last.subarray(at, at + size);
        at += turn < whole.length ? 0 : size;
        for (const bytes of await inflater.feed(piece)) {
          if (skip < bytes.length) {
            yield bytes.subarray(skip);
            given += bytes.length - skip;
          }
          skip = Math.max(0, skip - bytes.length);
        }
      }
      steps = [...whole, last.subarray(0, at - size), last.subarray(at - size, at)];
      failure = kind === 'gzip' && inflater.atHeader && given > 0 ? undefined : inflater.failure;
    } finally {
      inflater.close();
    }
  }
  return failure;
}

/** Drives one zlib stream step by step, keeping what it produced before an error (a piped stream would throw that away). */
class Inflater {
  failure: string | undefined;
  /** It failed where a gzip member should begin. */
  atHeader = false;
  /** The data make no sense, and all that was fed is kept: what the failing step gave can be had again. */
  damaged = false;
  ended = false;
  /** Bytes handed out. */
  delivered = 0;
  private readonly fed: Uint8Array[] = [];
  private fedBytes = 0;
  private outputs: Uint8Array[] = [];
  private settle: (() => void) | undefined;
  private readonly stream;

  constructor(kind: 'gzip' | 'deflate-raw') {
    const options = { chunkSize: OUTPUT_CHUNK };
    this.stream = kind === 'gzip' ? createGunzip(options) : createInflateRaw(options);
    this.stream.on('data', (bytes: Buffer) => this.outputs.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)));
    this.stream.on('error', (error: NodeJS.ErrnoException) => this.fail(error));
    this.stream.on('end', () => this.end());
  }

  /** Inflates one step; resolves with everything it gave, also when it failed half-way. */
  feed(step: Uint8Array): Promise<readonly Uint8Array[]> {
    if (!this.ended) {
      this.fedBytes += step.length;
      if (this.fedBytes <= KEPT) {
        this.fed.push(step);
      } else {
        this.fed.length = 0;
      }
    }
    return this.run((done) => this.stream.write(step, done));
  }

  /** Everything fed, the failing step last; empty when it was too much to keep. */
  get kept(): readonly Uint8Array[] {
    return this.fed;
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
    this.delivered += ready.reduce((sum, { length }) => sum + length, 0);
    return ready;
  }

  private fail({ code, message }: NodeJS.ErrnoException): void {
    this.failure ??= code ?? message;
    this.damaged ||= code === 'Z_DATA_ERROR' && this.fed.length > 0;
    this.atHeader ||= message === 'incorrect header check';
    this.end();
  }

  private end(): void {
    this.ended = true;
    this.settle?.();
  }
}
