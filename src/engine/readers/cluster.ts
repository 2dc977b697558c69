/**
 * `cluster_analysis_output`: step table of all ranks, communication, links and groups, in both generations of each file
 * (`communication_group.json` with and without `comm_group_parallel_info`; communication keyed by `p2p` / `collective` or by
 * a tuple of ranks). Every file is optional.
 */
import type { FilePort } from '../port';
import { noDeviceEvents, noHostEvents } from '../profile/builders';
import type { ClusterCommunication, ClusterData, ClusterLink, ClusterStep, CommunicationGroup } from '../profile/cluster';
import type { RankData } from '../profile/columns';
import { StringTable } from '../profile/strings';
import { communicationOf, linksOf, readJson, TOTAL } from './ascendCommunication';
import { findColumn } from './ascendColumns';
import { object } from './ascendInfo';
import { readSideTable } from './csvTables';
import type { ReaderContext } from './reader';

const STEPS = 'cluster_step_trace_time.csv';
const COMMUNICATION = 'cluster_communication.json';
const MATRIX = 'cluster_communication_matrix.json';
const GROUPS = 'communication_group.json';

export async function readClusterFolder(context: ReaderContext, folder: string): Promise<ClusterData> {
  const { port } = context;
  const present = new Set((await port.list(folder)).filter((entry) => entry.kind === 'file').map((entry) => entry.name));
  const steps = await ifPresent(context, folder, present, STEPS, (path) => readSteps(context, path), []);
  return {
    folder, steps,
    communication: await ifPresent(context, folder, present, COMMUNICATION, async (path) => communicationIn(await readJson(context, path)), []),
    links: await ifPresent(context, folder, present, MATRIX, async (path) => linksIn(await readJson(context, path)), []),
    groups: await ifPresent(context, folder, present, GROUPS, async (path) => groupsIn(await readJson(context, path)), []),
  };
}

/**
 * The analysis in the shape of a rank, for opening such a folder alone: no events, since it holds none, but its step table,
 * communication and links (over all ranks).
 */
export async function readClusterAsRank(context: ReaderContext, folder: string): Promise<RankData> {
  const { communication, links, groups, steps } = await readClusterFolder(context, folder);
  const table = (await context.port.stat(context.port.join(folder, STEPS))) === undefined ? undefined : await readSideTable(context, context.port.join(folder, STEPS));
  const ranks = new Set([...steps.flatMap((step) => step.ranks), ...communication.map(({ rank }) => rank), ...groups.flatMap((group) => group.ranks)]);
  context.problems.add('cluster-without-kernels', folder, { args: { folder: context.port.basename(folder), ranks: ranks.size } });
  const none = { kind: 'none' } as const;
  return {
    backend: 'ascend', rank: undefined, device: undefined, host: undefined, baseNs: 0n, strings: new StringTable(), deviceEvents: noDeviceEvents(), hostEvents: noHostEvents(),
    streams: [], threads: [], steps: [], coverage: { kernels: false, stepIds: false, streams: false, shapes: false, types: false, hostOperators: false, launches: false, pythonFrames: false, callStacks: false },
    detailSource: none, deviceDetailSource: none, tables: table === undefined ? [] : [table], memory: [], communication, links,
    facts: { ranks: String(ranks.size), groups: JSON.stringify(groups) },
  };
}

async function ifPresent<T>(context: ReaderContext, folder: string, present: ReadonlySet<string>, file: string, read: (path: string) => Promise<T>, otherwise: T): Promise<T> {
  if (present.has(file)) {
    return read(context.port.join(folder, file));
  }
  context.problems.add('cluster-file-missing', file, { severity: 'info', args: { folder: baseName(context.port, folder), file } });
  return otherwise;
}

const baseName = (port: FilePort, folder: string): string => port.basename(folder);

async function readSteps(context: ReaderContext, path: string): Promise<readonly ClusterStep[]> {
  const { problems, port } = context;
  const file = port.basename(path);
  const table = await readSideTable(context, path);
  if (table === undefined) {
    return [];
  }
  const column = (...names: readonly string[]): ((row: readonly string[]) => string) => {
    const index = findColumn(table.columns, ...names);
    return (row) => row[index] ?? '';
  };
  const [step, type, index] = [column('Step'), column('Type'), column('Index')];
  const figures = {
    computingUs: column('Computing'), exposedCommunicationUs: column('Communication(Not Overlapped)'), overlappedUs: column('Overlapped'), communicationUs: column('Communication'),
    freeUs: column('Free'), stageUs: column('Stage'), bubbleUs: column('Bubble'), exposedCommunicationWithoutReceiveUs: column('Communication(Not Overlapped and Exclude Receive)'), preparingUs: column('Preparing'),
  };
  const steps: ClusterStep[] = [];
  for (const row of table.rows) {
    const kind = type(row);
    const ranks = ranksIn(index(row));
    if ((kind !== 'rank' && kind !== 'stage') || ranks.length === 0) {
      problems.add('cluster-row-odd', file, { args: { file } });
      continue;
    }
    const number = (of: (row: readonly string[]) => string): number => (of(row) === '' ? NaN : Number(of(row)));
    steps.push({
      step: step(row), kind, ranks, computingUs: number(figures.computingUs), exposedCommunicationUs: number(figures.exposedCommunicationUs), overlappedUs: number(figures.overlappedUs),
      communicationUs: number(figures.communicationUs), freeUs: number(figures.freeUs), stageUs: number(figures.stageUs), bubbleUs: number(figures.bubbleUs),
      exposedCommunicationWithoutReceiveUs: number(figures.exposedCommunicationWithoutReceiveUs), preparingUs: number(figures.preparingUs),
    });
  }
  if (steps.length > 0 && steps.every((one) => one.step === '')) {
    problems.add('cluster-no-step', file, { severity: 'info', args: { file } });
  }
  return steps;
}

/** All whole numbers of `3`, `(0, 1, 2)` or `[0, 1]`. */
function ranksIn(text: string): readonly number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

/** `collective` / `p2p` or a tuple of ranks → what it says of kind and members. */
function groupOfKey(key: string): { readonly kind: 'collective' | 'p2p'; readonly ranks: readonly number[] } {
  return { kind: key === 'p2p' ? 'p2p' : 'collective', ranks: ranksIn(key.replace('p2p', '')) };
}

/** group → step → operation → rank → figures. */
function communicationIn(content: Readonly<Record<string, unknown>>): readonly ClusterCommunication[] {
  const found: ClusterCommunication[] = [];
  for (const [key, steps] of Object.entries(content)) {
    const { kind, ranks } = groupOfKey(key);
    for (const [step, operations] of Object.entries(object(steps))) {
      for (const [operation, byRank] of Object.entries(object(operations))) {
        if (operation === TOTAL) {
          continue;
        }
        for (const [rank, figures] of Object.entries(object(byRank))) {
          if (/^\d+$/.test(rank)) {
            found.push({ ...communicationOf(step, kindOfOperation(operation, kind), operation, object(figures)), rank: Number(rank), ranks });
          }
        }
      }
    }
  }
  return found;
}

/** group → step → operation → `source-destination` → figures; ranks are those of the job. */
function linksIn(content: Readonly<Record<string, unknown>>): readonly ClusterLink[] {
  const found: ClusterLink[] = [];
  for (const [key, steps] of Object.entries(content)) {
    const { kind, ranks } = groupOfKey(key);
    for (const [step, operations] of Object.entries(object(steps))) {
      for (const [operation, links] of Object.entries(object(operations))) {
        if (operation !== TOTAL) {
          found.push(...linksOf(step, kindOfOperation(operation, kind), operation, object(links)).map((link) => ({ ...link, ranks })));
        }
      }
    }
  }
  return found;
}

/** Files keyed by ranks put sends and receives among the collectives. */
function kindOfOperation(operation: string, kind: 'collective' | 'p2p'): 'collective' | 'p2p' {
  return /^hcom_(send|receive|batchsendrecv)/i.test(operation) ? 'p2p' : kind;
}

function groupsIn(content: Readonly<Record<string, unknown>>): readonly CommunicationGroup[] {
  const named = content['comm_group_parallel_info'];
  if (Array.isArray(named) && named.length > 0) {
    return named.map((entry: unknown) => {
      const { type, rank_set: ranks, group_name: hash, pg_name: parallelism } = object(entry);
      return { kind: type === 'p2p' ? 'p2p' : 'collective', ranks: numbers(ranks), hash: text(hash), parallelism: text(parallelism) };
    });
  }
  return (['collective', 'p2p'] as const).flatMap((kind) => {
    const groups = content[kind];
    return Array.isArray(groups) ? groups.map((ranks: unknown) => ({ kind, ranks: numbers(ranks), hash: '', parallelism: '' })) : [];
  });
}

const numbers = (value: unknown): readonly number[] => (Array.isArray(value) ? value.filter((one): one is number => typeof one === 'number') : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
