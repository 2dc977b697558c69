/**
 * Launch flows (`ac2g`; `async` in 2020-21): an arrow from the start of a runtime call to the start of what it launched.
 * They repeat the correlation ids, so they are kept only while a recording has device events without one.
 */
import { HostKind } from '../profile/columns';
import { ThreadRegistry } from './kinetoRows';
import type { TraceEvent } from './traceScanner';

/** A recording that has given so many device events their correlation gives it to all. */
const CERTAIN = 512;

interface FlowEnd {
  readonly id: number;
  readonly timeNs: number;
}

export interface LaunchColumns {
  readonly device: { readonly startNs: Float64Array; readonly correlation: Int32Array };
  readonly host: { readonly count: number; readonly startNs: Float64Array; readonly kind: Uint8Array; readonly thread: Uint16Array };
  /** Correlation of a runtime row, -1 without one. */
  readonly correlationOf: (row: number) => number;
  /** Gives a runtime row a correlation that no event has, and returns it. */
  readonly newCorrelation: (row: number) => number;
}

export class LaunchFlows {
  /** Lanes of device events and of flow ends, apart from the host's threads: a lane no host event lies on is no thread. */
  private readonly lanes = new ThreadRegistry();
  private readonly orphans: { readonly row: number; readonly lane: number }[] = [];
  private starts: (FlowEnd & { readonly thread: number })[] = [];
  private ends: (FlowEnd & { readonly lane: number })[] = [];
  private correlated = 0;

  /** Whether flows are still of use. */
  get wanted(): boolean {
    return this.orphans.length > 0 || this.correlated < CERTAIN;
  }

  /** To be called for each device event. */
  deviceEvent(event: TraceEvent, row: number, correlation: number): void {
    if (correlation === -1 || correlation === 0) {
      this.orphans.push({ row, lane: this.lanes.indexOf(event) });
    } else if (++this.correlated === CERTAIN && this.orphans.length === 0) {
      this.starts = [];
      this.ends = [];
    }
  }

  start(id: number, timeNs: number, thread: number): void {
    this.starts.push({ id, timeNs, thread });
  }

  end(event: TraceEvent, id: number, timeNs: number): void {
    this.ends.push({ id, timeNs, lane: this.lanes.indexOf(event) });
  }

  /** Gives device events without a correlation the one of the call their flow starts at. Returns how many. */
  apply({ device, host, correlationOf, newCorrelation }: LaunchColumns): number {
    if (this.orphans.length === 0 || this.starts.length === 0) {
      return 0;
    }
    const place = (lane: number, timeNs: number): string => `${lane} ${timeNs}`;
    const idAt = new Map(this.ends.map(({ lane, timeNs, id }) => [place(lane, timeNs), id]));
    const startsOf = new Map<number, (FlowEnd & { readonly thread: number })[]>();
    const callAt = new Map<string, number>();
    for (const start of this.starts) {
      startsOf.set(start.id, [...(startsOf.get(start.id) ?? []), start]);
      callAt.set(place(start.thread, start.timeNs), -1);
    }
    for (let row = 0; row < host.count; row++) {
      const at = host.kind[row] === HostKind.Runtime ? place(host.thread[row], host.startNs[row]) : '';
      // A runtime call that calls the driver at once starts where it does: the outer one comes first.
      if (callAt.get(at) === -1) {
        callAt.set(at, row);
      }
    }
    let linked = 0;
    for (const { row, lane } of this.orphans) {
      const id = idAt.get(place(lane, device.startNs[row]));
      // An id that starts twice names no call.
      const [start, another] = id === undefined ? [] : startsOf.get(id) ?? [];
      const call = start === undefined || another !== undefined ? -1 : callAt.get(place(start.thread, start.timeNs)) ?? -1;
      if (call >= 0) {
        const known = correlationOf(call);
        device.correlation[row] = known === -1 || known === 0 ? newCorrelation(call) : known;
        linked++;
      }
    }
    return linked;
  }
}
