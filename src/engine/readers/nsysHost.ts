import type { SqlValue } from '../port';
import { hostBuilder, type TableBuilder } from '../profile/builders';
import { HostKind, type HostEvents, type ThreadInfo } from '../profile/columns';
import type { StringTable } from '../profile/strings';
import { ProcessKeys, SQL_PROCESS, SQL_THREAD } from './nsysKeys';
import { callChains, type DatabaseStrings, idOf, numberOf, type SqliteTables, textOf } from './sqliteTables';

export interface NsysHost {
  readonly events: TableBuilder<HostEvents>;
  readonly threads: readonly ThreadInfo[];
  /** Correlation key → row of the CUDA call. */
  readonly launches: ReadonlyMap<number, number>;
  /** From the thread name that MPI tracing writes (`MPI Rank 3`), when the report holds one rank. */
  readonly rank: number | undefined;
}

const CALLS = 'CUPTI_ACTIVITY_KIND_RUNTIME';
/** NVTX event types with a duration: push/pop and start/end ranges. */
const RANGES = '59, 60';

/** `emit_nvtx` of PyTorch writes operators as `aten::mul, seq = 12, op_id = 7, sizes = […]`. */
const OPERATOR = /^([A-Za-z_]\w*::[\w.]+)(?:, seq = (-?\d+))?/;

/** CUDA calls and NVTX ranges. Rows are in no order yet. */
export function readNsysHost(tables: SqliteTables, names: DatabaseStrings, strings: StringTable): NsysHost {
  const reader = new HostReader(tables, names, strings);
  reader.readCalls();
  reader.readRanges();
  return reader;
}

class HostReader implements NsysHost {
  readonly events = hostBuilder(4096);
  readonly threads: ThreadInfo[] = [];
  readonly launches = new Map<number, number>();
  readonly rank: number | undefined;
  private readonly threadIndex = new Map<number, number>();
  private readonly threadNames = new Map<number, string>();
  private readonly processNames = new Map<number, string>();

  constructor(private readonly tables: SqliteTables, private readonly names: DatabaseStrings, private readonly strings: StringTable) {
    if (tables.has('ThreadNames', 'nameId', 'globalTid')) {
      for (const [process, thread, name] of tables.rows('ThreadNames', `SELECT ${SQL_PROCESS.replace('$', 'globalTid')}, ${SQL_THREAD.replace('$', 'globalTid')}, nameId FROM ThreadNames`)) {
        this.threadNames.set(threadKey(process, thread), names.text(name));
      }
    }
    if (tables.has('PROCESSES', 'pid', 'name')) {
      for (const [pid, name] of tables.rows('PROCESSES', 'SELECT pid, name FROM PROCESSES')) {
        this.processNames.set(numberOf(pid), textOf(name));
      }
    }
    const ranks = new Set([...this.threadNames.values()].flatMap((name) => /^MPI Rank (\d+)$/.exec(name)?.[1] ?? []));
    this.rank = ranks.size === 1 ? Number([...ranks][0]) : undefined;
  }

  readCalls(): void {
    const { tables } = this;
    if (!tables.has(CALLS, 'start', 'end', 'nameId', 'globalTid')) {
      return;
    }
    const keys = new ProcessKeys();
    const stacks = callChains(this.tables, 'CUDA_CALLCHAINS', 'symbol', this.names, this.strings);
    const callNames = new Map<number, number>();
    const sql = `SELECT r.start, r."end" - r.start, ${SQL_PROCESS.replace('$', 'r.globalTid')}, ${SQL_THREAD.replace('$', 'r.globalTid')}, ${tables.select(CALLS, ['nameId', 'correlationId', 'callchainId'], 'r')} FROM ${CALLS} r`;
    for (const [start, duration, process, thread, name, correlation, chain] of tables.rows(CALLS, sql)) {
      const key = numberOf(name);
      // `cudaLaunchKernel_v7000`: the suffix is the version of the entry point, not part of the call's name.
      const nameId = callNames.get(key) ?? this.strings.intern(this.names.text(name).replace(/_v\d{4,5}(_ptsz|_ptds)?$/, ''));
      callNames.set(key, nameId);
      const row = this.add(start, duration, nameId, HostKind.Runtime, process, thread);
      this.events.columns.stack[row] = stacks.get(idOf(chain)) ?? 0;
      const launch = keys.key(numberOf(process), idOf(correlation));
      if (launch >= 0 && !this.launches.has(launch)) {
        this.launches.set(launch, row);
      }
    }
  }

  readRanges(): void {
    const { tables } = this;
    if (!tables.has('NVTX_EVENTS', 'start', 'end', 'eventType', 'globalTid')) {
      return;
    }
    const sql = `SELECT n.start, n."end" - n.start, ${SQL_PROCESS.replace('$', 'n.globalTid')}, ${SQL_THREAD.replace('$', 'n.globalTid')}, ${tables.select('NVTX_EVENTS', ['text', 'textId'], 'n')}
      FROM NVTX_EVENTS n WHERE n.eventType IN (${RANGES})`;
    for (const [start, duration, process, thread, text, textId] of tables.rows('NVTX_EVENTS', sql)) {
      const name = textOf(text) === '' ? this.names.text(textId) : textOf(text);
      const operator = OPERATOR.exec(name);
      const row = this.add(start, duration, this.strings.intern(operator?.[1] ?? name), operator === null ? HostKind.Annotation : HostKind.Operator, process, thread);
      if (operator?.[2] !== undefined) {
        this.events.columns.sequence[row] = Math.max(-1, Number(operator[2]));
      }
    }
  }

  private add(start: SqlValue, duration: SqlValue, name: number, kind: HostKind, process: SqlValue, thread: SqlValue): number {
    const row = this.events.add();
    const durationNs = numberOf(duration);
    this.events.columns.startNs[row] = numberOf(start);
    this.events.columns.durationNs[row] = durationNs >= 0 ? durationNs : NaN;
    this.events.columns.name[row] = name;
    this.events.columns.kind[row] = kind;
    this.events.columns.thread[row] = this.thread(process, thread);
    return row;
  }

  private thread(process: SqlValue, thread: SqlValue): number {
    const key = threadKey(process, thread);
    let index = this.threadIndex.get(key);
    if (index === undefined) {
      index = Math.min(this.threads.length, 0xffff);
      if (index === this.threads.length) {
        const name = this.threadNames.get(key) ?? '';
        const label = `Thread ${textOf(thread)}${name === '' ? '' : ` ${name}`}`;
        this.threads.push({ process: this.processNames.get(numberOf(process)) ?? textOf(process), thread: textOf(thread), label });
      }
      this.threadIndex.set(key, index);
    }
    return index;
  }
}

const threadKey = (process: SqlValue, thread: SqlValue): number => numberOf(process) * 0x100_0000 + numberOf(thread);
