import type { CommunicationLink, CommunicationSummary, SideTable } from '../profile/columns';
import { UnreadableInput } from '../profile/problems';
import type { ReaderContext } from './reader';
import { numberOf, openDatabase, SqliteTables, textOf } from './sqliteTables';

export interface AnalysisTables {
  readonly tables: readonly SideTable[];
  readonly communication: readonly CommunicationSummary[];
  readonly links: readonly CommunicationLink[];
}

/** `analysis.db`: the profiler's own step times and communication summaries. */
export async function readAnalysis(context: ReaderContext, path: string): Promise<AnalysisTables> {
  const file = context.port.basename(path);
  let database;
  try {
    database = await openDatabase(context, path);
  } catch (error) {
    if (!(error instanceof UnreadableInput)) {
      throw error;
    }
    context.problems.add('database-passed-over', file, { args: { reason: error.detail.code } });
    return { tables: [], communication: [], links: [] };
  }
  try {
    const tables = new SqliteTables(database, context, context.problems, file);
    return { tables: stepTrace(tables), communication: communicationTimes(tables), links: communicationLinks(tables) };
  } finally {
    database.close();
  }
}

/** Column of `StepTraceTime` → its name in `step_trace_time.csv`. */
const STEP_COLUMNS: readonly (readonly [string, string])[] = [
  ['deviceId', 'Device_id'], ['step', 'Step'], ['computing', 'Computing'], ['communication_not_overlapped', 'Communication(Not Overlapped)'], ['overlapped', 'Overlapped'],
  ['communication', 'Communication'], ['free', 'Free'], ['stage', 'Stage'], ['bubble', 'Bubble'],
  ['communication_not_overlapped_and_exclude_receive', 'Communication(Not Overlapped and Exclude Receive)'], ['preparing', 'Preparing'],
];

function stepTrace(tables: SqliteTables): readonly SideTable[] {
  const present = STEP_COLUMNS.filter(([column]) => tables.has('StepTraceTime', column));
  if (present.length === 0) {
    return [];
  }
  const rows = [...tables.rows('StepTraceTime', `SELECT ${present.map(([column], i) => `"${column}" AS s${i}`).join(', ')} FROM StepTraceTime`)].map((row) => row.map(textOf));
  return [{ file: 'step_trace_time.csv', columns: present.map(([, name]) => name), rows }];
}

const TOTAL = 'Total Op Info';

function communicationTimes(tables: SqliteTables): readonly CommunicationSummary[] {
  if (!tables.has('CommAnalyzerTime', 'hccl_op_name')) {
    return [];
  }
  const bandwidths = new Map<string, Record<string, { readonly sizeMb: number; readonly timeMs: number; readonly bandwidthGbs: number }>>();
  if (tables.has('CommAnalyzerBandwidth', 'hccl_op_name', 'transport_type')) {
    // One row per packet size, all with the sums of their transport.
    const columns = tables.select('CommAnalyzerBandwidth', ['step', 'hccl_op_name', 'group_name', 'transport_type', 'transit_size', 'transit_time', 'bandwidth'], 'b');
    for (const [step, name, group, transport, size, time, bandwidth] of tables.rows('CommAnalyzerBandwidth', `SELECT ${columns} FROM CommAnalyzerBandwidth b`)) {
      const key = [step, name, group].map(textOf).join('\0');
      const known = bandwidths.get(key) ?? {};
      known[textOf(transport)] ??= { sizeMb: numberOf(size), timeMs: numberOf(time), bandwidthGbs: numberOf(bandwidth) };
      bandwidths.set(key, known);
    }
  }
  const columns = tables.select('CommAnalyzerTime', ['step', 'type', 'hccl_op_name', 'group_name', 'start_timestamp', 'elapse_time', 'transit_time', 'wait_time', 'synchronization_time', 'idle_time'], 't');
  const found: CommunicationSummary[] = [];
  for (const [step, type, name, group, start, elapse, transit, wait, synchronization, idle] of tables.rows('CommAnalyzerTime', `SELECT ${columns} FROM CommAnalyzerTime t`)) {
    if (textOf(name) !== TOTAL) {
      found.push({
        step: textOf(step), kind: kindOf(textOf(type)), name: textOf(name), group: textOf(group), startUs: numberOf(start), elapseMs: numberOf(elapse), transitMs: numberOf(transit),
        waitMs: numberOf(wait), synchronizationMs: numberOf(synchronization), idleMs: numberOf(idle), bandwidth: bandwidths.get([step, name, group].map(textOf).join('\0')) ?? {},
      });
    }
  }
  return found;
}

function communicationLinks(tables: SqliteTables): readonly CommunicationLink[] {
  if (!tables.has('CommAnalyzerMatrix', 'src_rank', 'dst_rank')) {
    return [];
  }
  const columns = tables.select('CommAnalyzerMatrix', ['step', 'type', 'hccl_op_name', 'group_name', 'src_rank', 'dst_rank', 'transport_type', 'transit_size', 'transit_time', 'bandwidth'], 'm');
  return [...tables.rows('CommAnalyzerMatrix', `SELECT ${columns} FROM CommAnalyzerMatrix m`)].map(([step, type, operation, group, source, destination, transport, size, time, bandwidth]) => ({
    step: textOf(step), kind: kindOf(textOf(type)), operation: textOf(operation), group: textOf(group), source: Number(source), destination: Number(destination),
    transport: textOf(transport), sizeMb: numberOf(size), timeMs: numberOf(time), bandwidthGbs: numberOf(bandwidth),
  }));
}

const kindOf = (type: string): 'collective' | 'p2p' => (type === 'p2p' ? 'p2p' : 'collective');
