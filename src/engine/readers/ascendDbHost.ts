import type { SqlValue } from '../port';
import { hostBuilder, type TableBuilder } from '../profile/builders';
import { HostKind, type HostEvents, type ThreadInfo } from '../profile/columns';
import type { StringTable } from '../profile/strings';
import { asDouble, callChains, type DatabaseStrings, idOf, numberOf, type SqliteTables } from './sqliteTables';

export interface DatabaseHost {
  readonly events: TableBuilder<HostEvents>;
  readonly threads: readonly ThreadInfo[];
  /** Connection id → row of the launching call. */
  readonly launches: ReadonlyMap<number, number>;
  /** Connection id → row of the operator that caused it. */
  readonly operators: ReadonlyMap<number, number>;
  /** Row → the connection that an enqueue shares with its dequeue. */
  readonly queueIds: ReadonlyMap<number, number>;
}

/** `ENUM_API_TYPE`; the ids are the same in every schema seen, the table itself may be absent. */
const API = { operator: 50001, queue: 50002, python: 50003, mark: 50004 } as const;
/** CANN calls get the names they have in the text export's trace. */
const CANN_PREFIX: Readonly<Record<number, string>> = { 5000: 'Runtime@', 5500: 'Hccl@', 10000: 'Node@', 15000: 'Model@', 20000: 'AscendCL@' };
/** Threads are written as `process << 32 | thread`, which a double does not hold; taken apart in SQL. */
const THREAD = [{ column: 'globalTid', as: 'CAST($ >> 32 AS REAL)' }, { column: 'globalTid', as: 'CAST($ & 4294967295 AS REAL)' }] as const;
const ANNOTATION = /^(ProfilerStep|Optimizer\.|enumerate\(DataLoader\))/;

/** Host side of an Ascend database: framework calls, CANN calls, marks. Rows are in no order yet. */
export function readHostTables(tables: SqliteTables, names: DatabaseStrings, strings: StringTable, baseNs: bigint): DatabaseHost {
  const reader = new HostReader(tables, names, strings, baseNs);
  reader.readFramework();
  reader.readCann();
  reader.readMarks();
  reader.readCollections();
  return reader.finish();
}

class HostReader {
  private readonly events: TableBuilder<HostEvents>;
  private readonly threads: ThreadInfo[] = [];
  private readonly threadIndex = new Map<string, number>();
  private lastProcess = -1;
  private lastThread = -1;
  private lastIndex = -1;
  private readonly launches = new Map<number, number>();
  /** Operators by the id that `CONNECTION_IDS` spreads over several connections. */
  private readonly operatorsById = new Map<number, number>();
  /** Enqueues and dequeues by their own id; what they share is the connection behind it. */
  private readonly queueById = new Map<number, number>();
  private readonly stacks: ReadonlyMap<number, number>;

  constructor(
    private readonly tables: SqliteTables,
    private readonly names: DatabaseStrings,
    private readonly strings: StringTable,
    private readonly baseNs: bigint,
  ) {
    this.events = hostBuilder(['PYTORCH_API', 'CANN_API', 'MSTX_EVENTS', 'GC_RECORD'].reduce((sum, table) => sum + tables.count(table), 0));
    this.stacks = callChains(this.tables, 'PYTORCH_CALLCHAINS', 'stack', this.names, this.strings);
  }

  readFramework(): void {
    const { tables, events } = this;
    if (!tables.has('PYTORCH_API', 'startNs', 'endNs', 'name')) {
      return;
    }
    // Start and end are declared TEXT, whatever the documentation says.
    const sql = `SELECT CAST(CAST(p.startNs AS INTEGER) - ? AS REAL) AS start, CAST(CAST(p.endNs AS INTEGER) - CAST(p.startNs AS INTEGER) AS REAL) AS duration,
      ${tables.select('PYTORCH_API', [...THREAD, ...['type', 'name', 'connectionId', 'sequenceNumber', 'fwdThreadId', 'callchainId'].map(asDouble)], 'p')} FROM PYTORCH_API p`;
    for (const [start, duration, process, thread, type, name, connection, sequence, forwardThread, chain] of tables.rows('PYTORCH_API', sql, [this.baseNs])) {
      const nameId = this.names.intern(name);
      const kind = frameworkKind(numberOf(type), this.strings.get(nameId));
      const row = this.add(start, duration, nameId, kind, process, thread);
      events.columns.sequence[row] = idOf(sequence);
      events.columns.forwardThread[row] = idOf(forwardThread);
      events.columns.stack[row] = this.stacks.get(idOf(chain)) ?? 0;
      const id = idOf(connection);
      if (id >= 0 && kind === HostKind.Operator) {
        this.operatorsById.set(id, row);
      } else if (id >= 0 && (kind === HostKind.Enqueue || kind === HostKind.Dequeue)) {
        this.queueById.set(id, row);
      }
    }
  }

  readCann(): void {
    const { tables } = this;
    if (!tables.has('CANN_API', 'startNs', 'endNs', 'name')) {
      return;
    }
    const prefixed = new Map<number, number>();
    const sql = `SELECT CAST(c.startNs - ? AS REAL) AS start, CAST(c.endNs - c.startNs AS REAL) AS duration, ${tables.select('CANN_API', [...THREAD, ...['type', 'name', 'connectionId'].map(asDouble)], 'c')} FROM CANN_API c`;
    for (const [start, duration, process, thread, type, name, connection] of tables.rows('CANN_API', sql, [this.baseNs])) {
      // Types stay below 2^16 and names below 2^32.
      const key = numberOf(type) * 2 ** 32 + numberOf(name);
      const nameId = prefixed.get(key) ?? this.strings.intern(`${CANN_PREFIX[numberOf(type)] ?? ''}${this.names.text(name)}`);
      prefixed.set(key, nameId);
      const row = this.add(start, duration, nameId, HostKind.Runtime, process, thread);
      const id = idOf(connection);
      if (id >= 0 && !this.launches.has(id)) {
        this.launches.set(id, row);
      }
    }
  }

  readMarks(): void {
    const { tables } = this;
    if (!tables.has('MSTX_EVENTS', 'startNs', 'endNs', 'message')) {
      return;
    }
    const sql = `SELECT m.startNs - ?, m.endNs - m.startNs, ${tables.select('MSTX_EVENTS', ['message', ...THREAD], 'm')} FROM MSTX_EVENTS m`;
    for (const [start, duration, message, process, thread] of tables.rows('MSTX_EVENTS', sql, [this.baseNs])) {
      this.add(start, duration, this.names.intern(message), HostKind.Annotation, process, thread);
    }
  }

  /** Python's garbage collections, when they were long enough to be recorded. */
  readCollections(): void {
    const { tables } = this;
    if (!tables.has('GC_RECORD', 'startNs', 'endNs')) {
      return;
    }
    const name = this.strings.intern('GC');
    const sql = `SELECT g.startNs - ?, g.endNs - g.startNs, ${tables.select('GC_RECORD', [...THREAD], 'g')} FROM GC_RECORD g`;
    for (const [start, duration, process, thread] of tables.rows('GC_RECORD', sql, [this.baseNs])) {
      this.add(start, duration, name, HostKind.Other, process, thread);
    }
  }

  finish(): DatabaseHost {
    const operators = new Map<number, number>();
    const queueIds = new Map<number, number>();
    if (this.tables.has('CONNECTION_IDS', 'id', 'connectionId')) {
      for (const [id, connection] of this.tables.rows('CONNECTION_IDS', 'SELECT CAST(id AS REAL) AS id, CAST(connectionId AS REAL) AS connection FROM CONNECTION_IDS')) {
        const row = this.operatorsById.get(idOf(id));
        const key = idOf(connection);
        const queued = this.queueById.get(idOf(id));
        if (queued !== undefined && key >= 0) {
          queueIds.set(queued, key);
        }
        // Forward and backward operator share one more connection; kernels never carry that one.
        if (row !== undefined && key >= 0 && !operators.has(key)) {
          operators.set(key, row);
        }
      }
    }
    return { events: this.events, threads: this.threads, launches: this.launches, operators, queueIds };
  }

  private add(start: SqlValue, duration: SqlValue, name: number, kind: HostKind, process: SqlValue, thread: SqlValue): number {
    const row = this.events.add();
    const { columns } = this.events;
    const startNs = numberOf(start);
    const durationNs = numberOf(duration);
    columns.startNs[row] = startNs >= 0 ? startNs : NaN;
    columns.durationNs[row] = durationNs >= 0 ? durationNs : NaN;
    columns.name[row] = name;
    columns.kind[row] = kind;
    columns.thread[row] = this.thread(numberOf(process), numberOf(thread));
    return row;
  }

  private thread(process: number, thread: number): number {
    if (process === this.lastProcess && thread === this.lastThread) {
      return this.lastIndex;
    }
    const key = `${process}\0${thread}`;
    let index = this.threadIndex.get(key);
    if (index === undefined) {
      index = Math.min(this.threads.length, 0xffff);
      if (index === this.threads.length) {
        const known = !Number.isNaN(thread);
        this.threads.push({ process: known ? String(process) : '', thread: known ? String(thread) : '', label: known ? `Thread ${thread}` : 'Thread' });
      }
      this.threadIndex.set(key, index);
    }
    [this.lastProcess, this.lastThread, this.lastIndex] = [process, thread, index];
    return index;
  }
}

function frameworkKind(type: number, name: string): HostKind {
  switch (type) {
    case API.queue:
      return name.startsWith('Dequeue') ? HostKind.Dequeue : HostKind.Enqueue;
    case API.python:
      return HostKind.Python;
    case API.mark:
      return HostKind.Annotation;
    case API.operator:
      return ANNOTATION.test(name) ? HostKind.Annotation : HostKind.Operator;
    default:
      return HostKind.Other;
  }
}
