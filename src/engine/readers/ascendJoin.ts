/**
 * The kernel table and the trace of one rank describe the same kernels: the table has types, cores, shapes and metrics, the
 * trace has streams at every level, launches and operators, and the copies. Both write the start in ns; collectives differ
 * by 1 ns (their writers round differently).
 */
import { EventKind, type DeviceEvents } from '../profile/columns';
import type { TableBuilder } from '../profile/builders';
import { startOrder } from '../profile/eventOrder';
import type { TraceDevice } from './ascendTraceDevice';

/** Starts this close, under one name, are the same event. */
const SAME_NS = 1000;

export interface Join {
  /** Row of the trace for each row of the table, -1 for none. */
  readonly traceRow: Int32Array;
  readonly matched: number;
  /** Kernels of the trace that the table does not have. */
  readonly onlyInTrace: number;
  /** Copies and sets that only the trace has. */
  readonly copies: readonly number[];
}

/** Both sides count from the same base. */
export function joinTrace(table: TableBuilder<DeviceEvents>, trace: TraceDevice): Join {
  const traceRow = new Int32Array(table.count).fill(-1);
  const { events } = trace;
  const byName = new Map<number, number[]>();
  const copies: number[] = [];
  for (let row = 0; row < events.count; row++) {
    if (events.kind[row] === EventKind.Copy || events.kind[row] === EventKind.Set) {
      copies.push(row);
      continue;
    }
    const rows = byName.get(events.name[row]);
    if (rows === undefined) {
      byName.set(events.name[row], [row]);
    } else {
      rows.push(row);
    }
  }
  const { startNs, name } = table.columns;
  const order = startOrder(startNs, table.count);
  const next = new Map<number, number>();
  let matched = 0;
  for (const row of order) {
    const candidates = byName.get(name[row]);
    const time = startNs[row];
    if (candidates === undefined || Number.isNaN(time)) {
      continue;
    }
    let at = next.get(name[row]) ?? 0;
    while (at < candidates.length && events.startNs[candidates[at]] < time - SAME_NS) {
      at++;
    }
    if (at < candidates.length && Math.abs(events.startNs[candidates[at]] - time) <= SAME_NS) {
      traceRow[row] = candidates[at++];
      matched++;
    }
    next.set(name[row], at);
  }
  return { traceRow, matched, onlyInTrace: events.count - copies.length - matched, copies };
}
