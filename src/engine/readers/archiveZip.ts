/** The central directory of a zip file: names, sizes and places, without touching the data (APPNOTE 6.3, zip64 included). */
import type { FilePort } from '../port';
import { UnreadableInput } from '../profile/problems';

export interface ZipMember {
  readonly name: string;
  readonly size: number;
  readonly compressedSize: number;
  /** 0 stored, 8 deflated. */
  readonly method: number;
  /** Offset of the local header. */
  readonly headerAt: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const LARGEST_DIRECTORY = 64 * 1024 * 1024;

/** Files (no folders) of the archive. A zip without its directory (cut short) is refused: its members cannot be told apart safely. */
export async function readZipDirectory(port: FilePort, path: string): Promise<readonly ZipMember[]> {
  const size = (await port.stat(path))?.size ?? 0;
  const tailAt = Math.max(0, size - 65_557);
  const tail = viewOf(await port.read(path, tailAt, size - tailAt));
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== END_OF_DIRECTORY) {
    at--;
  }
  if (at < 0) {
    throw new UnreadableInput({ code: 'error.zip-cut', args: { file: path } });
  }
  let directorySize = tail.getUint32(at + 12, true);
  let directoryAt = tail.getUint32(at + 16, true);
  if ((directorySize === 0xffffffff || directoryAt === 0xffffffff) && at >= 20 && tail.getUint32(at - 20, true) === LOCATOR_64) {
    const end64 = viewOf(await port.read(path, Number(tail.getBigUint64(at - 12, true)), 56));
    if (end64.byteLength === 56 && end64.getUint32(0, true) === END_OF_DIRECTORY_64) {
      directorySize = Number(end64.getBigUint64(40, true));
      directoryAt = Number(end64.getBigUint64(48, true));
    }
  }
  if (directorySize > LARGEST_DIRECTORY || directoryAt + directorySize > size) {
    throw new UnreadableInput({ code: 'error.zip-cut', args: { file: path } });
  }
  const { members, entries } = parseDirectory(await port.read(path, directoryAt, directorySize));
  // The end record counts the entries in 16 bits. Fewer in the table itself: it is damaged, and what follows the damage would be lost unsaid.
  if ((entries & 0xffff) !== tail.getUint16(at + 10, true) && tail.getUint16(at + 10, true) !== 0xffff) {
    throw new UnreadableInput({ code: 'error.zip-cut', args: { file: path } });
  }
  return members;
}

function parseDirectory(bytes: Uint8Array): { readonly members: readonly ZipMember[]; readonly entries: number } {
  const view = viewOf(bytes);
  // A name that stands twice means its last member, as every unpacking tool takes it.
  const members = new Map<string, ZipMember>();
  let entries = 0;
  const decoder = new TextDecoder('utf-8');
  let at = 0;
  while (at + 46 <= view.byteLength && view.getUint32(at, true) === DIRECTORY_ENTRY) {
    const nameLength = view.getUint16(at + 28, true);
    const extraLength = view.getUint16(at + 30, true);
    const name = decoder.decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const sizes = wideSizes(view, at + 46 + nameLength, extraLength, {
      size: view.getUint32(at + 24, true), compressedSize: view.getUint32(at + 20, true), headerAt: view.getUint32(at + 42, true),
    });
    if (!name.endsWith('/')) {
      members.set(name, { name, method: view.getUint16(at + 10, true), ...sizes });
    }
    at += 46 + nameLength + extraLength + view.getUint16(at + 32, true);
    entries++;
  }
  return { members: [...members.values()], entries };
}

interface Sizes {
  readonly size: number;
  readonly compressedSize: number;
  readonly headerAt: number;
}

/** Zip64: a field that does not fit 32 bits is all ones there and 64 bits wide in extra field 1, in this order. */
function wideSizes(view: DataView, from: number, length: number, narrow: Sizes): Sizes {
  const result = { ...narrow };
  for (let at = from; at + 4 <= from + length && at + 4 <= view.byteLength;) {
    const fieldLength = view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === 1) {
      let p = at + 4;
      for (const key of ['size', 'compressedSize', 'headerAt'] as const) {
        if (narrow[key] === 0xffffffff && p + 8 <= Math.min(at + 4 + fieldLength, view.byteLength)) {
          result[key] = Number(view.getBigUint64(p, true));
          p += 8;
        }
      }
    }
    at += 4 + fieldLength;
  }
  return result;
}

/** Where a member's data starts: the local header repeats name and extra field, with lengths of its own. */
export async function zipDataStart(port: FilePort, path: string, member: ZipMember): Promise<number> {
  const header = viewOf(await port.read(path, member.headerAt, 30));
  if (header.byteLength < 30 || header.getUint32(0, true) !== LOCAL_HEADER) {
    throw new UnreadableInput({ code: 'error.zip-cut', args: { file: path } });
  }
  return member.headerAt + 30 + header.getUint16(26, true) + header.getUint16(28, true);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
