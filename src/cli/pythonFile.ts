import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { MOST_SOURCE_BYTES } from '../engine/python/sourceIndex';
import { CommandFailure } from './io';
import { formatSize } from './output/numbers';

/** The text of a Python file, without its byte order mark. Fails with one sentence for what is no file, is not UTF-8, or is too large to be model code. */
export async function readPythonFile(file: string): Promise<string> {
  const entry = await stat(file).catch(() => undefined);
  // A pipe would be waited for without an end.
  if (entry?.isFile() !== true) {
    throw new CommandFailure('cli.failure.no-python', { file });
  }
  if (entry.size > MOST_SOURCE_BYTES) {
    throw new CommandFailure('cli.failure.python-too-large', { file, size: formatSize(entry.size), limit: formatSize(MOST_SOURCE_BYTES) });
  }
  const bytes = await readFile(file).catch(() => { throw new CommandFailure('cli.failure.no-python', { file }); });
  // A zero byte is valid UTF-8 and never Python: UTF-16, or no text at all.
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new CommandFailure('cli.failure.not-utf8', { file });
  }
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}
