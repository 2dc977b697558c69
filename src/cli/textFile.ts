import { open, writeFile, type FileHandle } from 'node:fs/promises';
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

export async function writeTextFile(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((error: unknown) => { throw cannotWrite(path, error); });
}

function cannotWrite(file: string, error: unknown): Error {
  if (!(error instanceof Error) || !('code' in error)) {
    return error instanceof Error ? error : new Error(String(error));
  }
  return new CommandFailure('cli.failure.write', { file, reason: String(error.code) });
}
