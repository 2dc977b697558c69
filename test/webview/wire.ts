/** Engine results over HTTP for the harness: JSON with typed arrays kept as bytes behind it. Used on both ends. */
const ARRAYS = { Float64Array, Uint32Array, Int32Array, Uint16Array, Uint8Array, Float32Array } as const;
type ArrayName = keyof typeof ARRAYS;
interface Placed {
  readonly $array: ArrayName;
  readonly at: number;
  readonly length: number;
}

export function encode(value: unknown): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  const json = JSON.stringify(value, (_key, item: unknown) => {
    if (!ArrayBuffer.isView(item)) {
      return typeof item === 'number' && !Number.isFinite(item) ? { $number: String(item) } : item;
    }
    const bytes = new Uint8Array(item.buffer.slice(item.byteOffset, item.byteOffset + item.byteLength) as ArrayBuffer);
    const placed = { $array: item.constructor.name, at, length: (item as Uint8Array).length };
    parts.push(bytes);
    at += Math.ceil(bytes.length / 8) * 8;
    return placed;
  }) ?? 'null';
  const head = new TextEncoder().encode(json);
  const start = Math.ceil((8 + head.length) / 8) * 8;
  const out = new Uint8Array(start + at);
  new DataView(out.buffer).setUint32(0, head.length, true);
  out.set(head, 8);
  let offset = start;
  for (const part of parts) {
    out.set(part, offset);
    offset += Math.ceil(part.length / 8) * 8;
  }
  return out;
}

export function decode(buffer: ArrayBuffer): unknown {
  const length = new DataView(buffer).getUint32(0, true);
  const start = Math.ceil((8 + length) / 8) * 8;
  return JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)), (_key, item: unknown) => {
    if (typeof item === 'object' && item !== null && '$array' in item) {
      const { $array, at, length: count } = item as Placed;
      const type = ARRAYS[$array];
      return new type(buffer.slice(start + at, start + at + count * type.BYTES_PER_ELEMENT));
    }
    return typeof item === 'object' && item !== null && '$number' in item ? Number((item as { $number: string }).$number) : item;
  });
}
