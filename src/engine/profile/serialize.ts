/**
 * A rank as bytes, for the column cache. Layout, all little parts aligned to 8 bytes so that columns can be used in place:
 *
 *     magic, version, bytes of header and strings, byte order mark (five doubles) · header JSON · strings JSON · columns · checksum (8 bytes)
 *
 * The header holds everything that is not a column, and for each column its type and place. A file that is not whole, of
 * another version or byte order, or whose checksum differs, reads as `undefined`; it never throws.
 */
import type { CommunicationTasks, CounterSeries, DeviceEvents, HostEvents, MemorySeries, RankData, StringTableLike } from './columns';
import type { Problem } from './problems';

/** Goes up whenever a reader's result or this layout changes: old cache files are then ignored. */
export const RANK_FORMAT_VERSION = 6;

/** "FLRANK" as a number. */
const MAGIC = 0x4b4e_4152_4c46;
const BYTE_ORDER = 0x0102_0304_0506;
const HEAD_BYTES = 40;

const ARRAYS = { Float64Array, Uint32Array, Int32Array, Uint16Array, Int16Array, Uint8Array } as const;
type Column = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

interface ColumnPlace {
  readonly type: keyof typeof ARRAYS;
  readonly length: number;
  /** From the start of the columns. */
  readonly at: number;
}

interface Header {
  readonly rest: unknown;
  readonly problems: readonly Problem[];
  readonly columns: Readonly<Record<string, ColumnPlace>>;
  readonly columnBytes: number;
}

/** What of the header is not taken over as it is: the names of what is in columns. */
interface StoredParts {
  readonly baseNs: string;
  readonly memory: readonly Pick<MemorySeries, 'component' | 'device'>[];
  readonly counters: readonly Pick<CounterSeries, 'group' | 'name' | 'unit'>[];
  readonly counts: readonly [number, number, number];
}

export interface StoredRank {
  readonly data: RankData;
  readonly problems: readonly Problem[];
}

/** The bytes of a rank, in pieces to be written one after the other. Columns are not copied: write before they change. */
export function serializeRank({ data, problems }: StoredRank): readonly Uint8Array[] {
  const columns: Record<string, ColumnPlace> = {};
  const parts: Uint8Array[] = [];
  let at = 0;
  const put = (name: string, column: Column): void => {
    columns[name] = { type: column.constructor.name as keyof typeof ARRAYS, length: column.length, at };
    const whole = column.byteLength - (column.byteLength % 8);
    const tail = new Uint8Array(column.byteLength === whole ? 0 : 8);
    tail.set(new Uint8Array(column.buffer, column.byteOffset + whole, column.byteLength - whole));
    parts.push(new Uint8Array(column.buffer, column.byteOffset, whole), tail);
    at += whole + tail.length;
  };
  const { strings, deviceEvents, hostEvents, memory, counters, baseNs, communicationTasks, ...rest } = data;
  putTable('device', deviceEvents, put);
  putTable('host', hostEvents, put);
  memory.forEach((series, i) => putTable(`memory${i}`, series, put));
  counters?.forEach((series, i) => putTable(`counter${i}`, series, put));
  if (communicationTasks !== undefined) {
    putTable('tasks', communicationTasks, put);
  }

  const header = encodeJson({
    rest: { ...rest, baseNs: baseNs.toString(), memory: memory.map(({ component, device }) => ({ component, device })), counters: counters?.map(({ group, name, unit }) => ({ group, name, unit })) ?? [], counts: [deviceEvents.count, hostEvents.count, communicationTasks?.count ?? 0] },
    problems, columns, columnBytes: at,
  });
  const text = encodeJson(strings.toArray());
  const head = Float64Array.of(MAGIC, RANK_FORMAT_VERSION, header.length, text.length, BYTE_ORDER);
  const body = [new Uint8Array(head.buffer), header, text, ...parts].filter((part) => part.length > 0);
  const sum = new Checksum();
  body.forEach((part) => sum.add(part));
  return [...body, sum.bytes()];
}

/** The rank in `bytes`, which must start at a multiple of 8; its columns look into `bytes`, which must not change. */
export function deserializeRank(bytes: Uint8Array): StoredRank | undefined {
  try {
    return read(bytes);
  } catch {
    // Whatever a damaged file makes fail, it is only a cache.
    return undefined;
  }
}

function read(bytes: Uint8Array): StoredRank | undefined {
  if (bytes.length < HEAD_BYTES + 8 || bytes.length % 8 !== 0 || bytes.byteOffset % 8 !== 0) {
    return undefined;
  }
  const [magic, version, headerBytes, textBytes, order] = new Float64Array(bytes.buffer, bytes.byteOffset, 5);
  if (magic !== MAGIC || version !== RANK_FORMAT_VERSION || order !== BYTE_ORDER || !(headerBytes + textBytes <= bytes.length - HEAD_BYTES - 8)) {
    return undefined;
  }
  const sum = new Checksum();
  sum.add(bytes.subarray(0, bytes.length - 8));
  if (sum.bytes().some((byte, i) => byte !== bytes[bytes.length - 8 + i])) {
    return undefined;
  }
  const header = decodeJson(bytes.subarray(HEAD_BYTES, HEAD_BYTES + headerBytes)) as Header;
  const values = decodeJson(bytes.subarray(HEAD_BYTES + headerBytes, HEAD_BYTES + headerBytes + textBytes)) as readonly string[];
  const start = HEAD_BYTES + headerBytes + textBytes;
  if (start + header.columnBytes !== bytes.length - 8) {
    return undefined;
  }
  const tables: Record<string, Record<string, unknown>> = {};
  for (const [name, { type, length, at }] of Object.entries(header.columns)) {
    const [table, column] = name.split('.');
    (tables[table] ??= {})[column] = new ARRAYS[type](bytes.buffer as ArrayBuffer, bytes.byteOffset + start + at, length);
  }
  const { baseNs, memory, counters, counts, ...rest } = header.rest as StoredParts;
  const data = {
    ...(rest as Omit<RankData, 'baseNs' | 'strings' | 'deviceEvents' | 'hostEvents' | 'memory' | 'counters'>),
    baseNs: BigInt(baseNs), strings: stringsOf(values),
    deviceEvents: { ...tables['device'], count: counts[0] } as unknown as DeviceEvents,
    hostEvents: { ...tables['host'], count: counts[1] } as unknown as HostEvents,
    memory: memory.map((series, i) => ({ ...series, ...tables[`memory${i}`] }) as MemorySeries),
    ...(counters.length === 0 ? {} : { counters: counters.map((series, i) => ({ ...series, ...tables[`counter${i}`] }) as CounterSeries) }),
    ...('tasks' in tables ? { communicationTasks: { ...tables['tasks'], count: counts[2] } as unknown as CommunicationTasks } : {}),
  };
  return { data, problems: header.problems };
}

function putTable(prefix: string, table: object, put: (name: string, column: Column) => void): void {
  for (const [name, column] of Object.entries(table) as [string, unknown][]) {
    if (ArrayBuffer.isView(column)) {
      put(`${prefix}.${name}`, column as Column);
    }
  }
}

const stringsOf = (values: readonly string[]): StringTableLike => ({ size: values.length, get: (id) => values[id] ?? '', toArray: () => values });


/** JSON has no NaN, infinity or undefined: they travel as strings behind a NUL, and so do strings that start with one. */
function encodeJson(value: unknown): Uint8Array {
  const text = JSON.stringify(value, (_key, item: unknown) => {
    const special = item === undefined || (typeof item === 'number' && !Number.isFinite(item)) || (typeof item === 'string' && item.startsWith('\0'));
    return special ? `\0${typeof item === 'string' ? `=${item}` : String(item)}` : item;
  });
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8).fill(0x20);
  padded.set(bytes);
  return padded;
}

function decodeJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  // The reviver costs more than the parsing, and most tables of strings do not need it.
  return text.includes('\\u0000') ? revive(JSON.parse(text)) : (JSON.parse(text) as unknown);
}

function revive(value: unknown): unknown {
  if (typeof value === 'string') {
    return !value.startsWith('\0') ? value : value.startsWith('\0=') ? value.slice(2) : value === '\0undefined' ? undefined : Number(value.slice(1));
  }
  if (Array.isArray(value)) {
    return value.map(revive);
  }
  return value === null || typeof value !== 'object' ? value : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revive(item)]));
}

/** A sum of 32-bit words and a sum of those sums: sees changed, lost and swapped words, at memory speed. */
class Checksum {
  private sum = 1;
  private sums = 0;

  /** `part` is a multiple of 4 bytes long and starts at one, as all our parts do. */
  add(part: Uint8Array): void {
    const words = part.byteOffset % 4 === 0 ? new Uint32Array(part.buffer, part.byteOffset, part.length >> 2) : new Uint32Array(part.slice().buffer);
    let { sum, sums } = this;
    for (let i = 0; i < words.length; i++) {
      sum = (sum + words[i]) | 0;
      sums = (sums + sum) | 0;
    }
    this.sum = sum;
    this.sums = sums;
  }

  bytes(): Uint8Array {
    return new Uint8Array(Int32Array.of(this.sum, this.sums).buffer);
  }
}
