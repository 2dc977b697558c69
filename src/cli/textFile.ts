import { open, realpath, writeFile, type FileHandle } from 'node:fs/promises';
import { writeRefusal } from '../node/writeRefusal';
import { CommandFailure } from './io';

/** A file written chunk by chunk; whatever the disk says becomes one sentence that names the file. */
export class TextFile {
  private constructor(private readonly path: string, private readonly handle: FileHandle) {}

  static async create(path: string): Promise<TextFile> {
    return new TextFile(path, await open(path, 'w').catch((error: unknown) => { throw cannotWrite(path, error); }));
  }

  async write(chunks: Iterable<string>): Promise<void> {
    try {
      for (const chunk of chunks) {
        await this.handle.writeFile(chunk);
      }
    } catch (error) {
      throw cannotWrite(this.path, error);
    }
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

/** Refuses to write over a file that is read: `--kernels trace.json` would empty the profile before it is opened. */
export async function keepProfile(outputs: readonly (string | undefined)[], inputs: readonly string[]): Promise<void> {
  const real = (file: string): Promise<string | undefined> => realpath(file).catch(() => undefined);
  const read = new Set(await Promise.all(inputs.map(real)));
  for (const output of outputs) {
    const target = output === undefined ? undefined : await real(output);
    if (output !== undefined && target !== undefined && read.has(target)) {
      throw new CommandFailure('cli.failure.overwrites-profile', { file: output });
    }
  }
}

export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((error: unknown) => { throw cannotWrite(path, error); });
}

/** What the disk said, as one sentence. */
export function cannotWrite(file: string, error: unknown): Error {
  const refusal = writeRefusal(file, error);
  return refusal === undefined ? error instanceof Error ? error : new Error(String(error)) : new CommandFailure(refusal.code, refusal.args);
}
