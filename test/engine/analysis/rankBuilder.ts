import { deviceBuilder, noHostEvents } from '../../../src/engine/profile/builders';
import { EventKind, type Backend, type RankData, type StepInfo } from '../../../src/engine/profile/columns';
import { StringTable } from '../../../src/engine/profile/strings';

/** A device event as a test writes it; times in ns, undefined = not known. */
export interface EventSpec {
  readonly start: number | undefined;
  readonly duration: number | undefined;
  readonly kind?: EventKind;
  readonly stream?: number;
  readonly step?: number;
  readonly name?: string;
  readonly type?: string;
  readonly core?: string;
}

export interface RankSpec {
  readonly events: readonly EventSpec[];
  readonly steps?: readonly StepInfo[];
  readonly backend?: Backend;
  readonly baseNs?: bigint;
  readonly streams?: number;
  readonly knownStreams?: boolean;
}

/** A rank made of those events, in the order given (readers deliver them sorted; tests may not). */
export function rankOf({ events, steps = [], backend = 'cuda', baseNs = 0n, streams = 4, knownStreams = true }: RankSpec): RankData {
  const strings = new StringTable();
  const table = deviceBuilder(events.length);
  for (const event of events) {
    const row = table.add();
    table.columns.startNs[row] = event.start ?? NaN;
    table.columns.durationNs[row] = event.duration ?? NaN;
    table.columns.kind[row] = event.kind ?? EventKind.Compute;
    table.columns.stream[row] = event.stream ?? 0;
    table.columns.step[row] = event.step ?? -1;
    table.columns.name[row] = strings.intern(event.name ?? 'kernel');
    table.columns.type[row] = strings.intern(event.type ?? '');
    table.columns.core[row] = strings.intern(event.core ?? '');
  }
  return {
    backend, rank: 0, device: '0', host: undefined, baseNs, strings, deviceEvents: table.finish(), hostEvents: noHostEvents(),
    streams: Array.from({ length: streams }, (_, i) => ({ device: 0, stream: knownStreams ? String(i) : undefined, label: `stream ${i}` })),
    threads: [], steps,
    coverage: { kernels: true, stepIds: steps.length > 0, streams: knownStreams, shapes: false, types: false, hostOperators: false, launches: false, pythonFrames: false, callStacks: false },
    detailSource: { kind: 'none' }, deviceDetailSource: { kind: 'none' }, tables: [], memory: [], communication: [], links: [], facts: {},
  };
}
