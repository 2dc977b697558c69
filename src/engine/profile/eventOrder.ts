/**
 * Rows of a table in the store's order: by start, rows without a start last; ties by longer duration first where durations
 * are given (host events: the outer range comes before what it encloses), then in file order.
 */
export function startOrder(startNs: Float64Array, count: number, durationNs?: Float64Array): Uint32Array {
  const order = new Uint32Array(count);
  let sorted = true;
  for (let i = 0; i < count; i++) {
    order[i] = i;
    sorted &&= i === 0 || compare(startNs, durationNs, i - 1, i) <= 0;
  }
  return sorted ? order : order.sort((a, b) => compare(startNs, durationNs, a, b) || a - b);
}

/** Where each row went: `positions[order[i]] = i`. For columns that hold row numbers. */
export function positionsOf(order: Uint32Array): Int32Array {
  const positions = new Int32Array(order.length);
  for (let i = 0; i < order.length; i++) {
    positions[order[i]] = i;
  }
  return positions;
}

/** How many rows start before one that stands before them on their lane; unknown starts do not count. */
export function countOutOfOrder(startNs: Float64Array, lane: Uint16Array, rows: number): number {
  const latest = new Float64Array(65_536).fill(-Infinity);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    if (startNs[row] < latest[lane[row]]) {
      count++;
    } else if (startNs[row] > latest[lane[row]]) {
      latest[lane[row]] = startNs[row];
    }
  }
  return count;
}

function compare(startNs: Float64Array, durationNs: Float64Array | undefined, a: number, b: number): number {
  const left = startNs[a];
  const right = startNs[b];
  if (left < right) {
    return -1;
  }
  if (left > right) {
    return 1;
  }
  if (left !== right) {
    const unknown = (Number.isNaN(left) ? 1 : 0) - (Number.isNaN(right) ? 1 : 0);
    if (unknown !== 0) {
      return unknown;
    }
  }
  return durationNs === undefined ? 0 : (durationNs[b] || 0) - (durationNs[a] || 0);
}
