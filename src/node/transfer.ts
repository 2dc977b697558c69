/**
 * Makes a result ready to leave its thread. Every typed array is copied into a buffer of its own, which is then moved, not
 * cloned: cloning a view would clone the whole column it looks into, and moving the session's own buffer would empty it.
 */
export function packForTransfer(value: unknown): { readonly value: unknown; readonly transfer: readonly ArrayBuffer[] } {
  const transfer: ArrayBuffer[] = [];
  return { value: pack(value, transfer), transfer };
}

/** Results are plain data a few levels deep; arrays of primitives are passed on as they are. */
function pack(value: unknown, transfer: ArrayBuffer[]): unknown {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (ArrayBuffer.isView(value)) {
    const copy = copyOf(value);
    transfer.push(copy.buffer as ArrayBuffer);
    return copy;
  }
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.some((item) => typeof item === 'object' && item !== null) ? items.map((item) => pack(item, transfer)) : items;
  }
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    out[key] = pack(item, transfer);
  }
  return out;
}

function copyOf(view: ArrayBufferView): ArrayBufferView {
  const bytes = new Uint8Array(view.byteLength);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  if (view instanceof DataView) {
    return new DataView(bytes.buffer);
  }
  const { BYTES_PER_ELEMENT, constructor } = view as Uint8Array;
  return new (constructor as new (buffer: ArrayBuffer, offset: number, length: number) => ArrayBufferView)(bytes.buffer, 0, view.byteLength / BYTES_PER_ELEMENT);
}
