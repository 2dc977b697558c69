/** `communication.json` and `communication_matrix.json`: what the profiler says of each collective, and of each link. */
import { readSmallText } from '../port';
import type { CommunicationLink, CommunicationSummary } from '../profile/columns';
import { object, parseObject } from './ascendInfo';
import type { ReaderContext } from './reader';

type Json = Readonly<Record<string, unknown>>;
type Kind = 'collective' | 'p2p';

/** Sums over all operations, which are no operation. */
export const TOTAL = 'Total Op Info';

/** Operations of a rank: step → kind → `<operation>@<group>`. */
export async function readCommunication(context: ReaderContext, path: string): Promise<readonly CommunicationSummary[]> {
  const found: CommunicationSummary[] = [];
  for (const [step, kind, operations] of stepsOf(await readJson(context, path))) {
    for (const [key, value] of Object.entries(operations)) {
      if (key !== TOTAL) {
        found.push(communicationOf(step, kind, key, object(value)));
      }
    }
  }
  return found;
}

export function communicationOf(step: string, kind: Kind, key: string, value: Json): CommunicationSummary {
  const time = object(value['Communication Time Info']);
  const { name, group } = splitKey(key);
  const bandwidth = Object.entries(object(value['Communication Bandwidth Info'])).map(([transport, figures]) => {
    const { 'Transit Size(MB)': size, 'Transit Time(ms)': transit, 'Bandwidth(GB/s)': rate } = object(figures);
    return [transport, { sizeMb: numberOf(size), timeMs: numberOf(transit), bandwidthGbs: numberOf(rate) }] as const;
  });
  return {
    step, kind, name, group, startUs: numberOf(time['Start Timestamp(us)']), elapseMs: numberOf(time['Elapse Time(ms)'] ?? time['Elapsed Time(ms)']), transitMs: numberOf(time['Transit Time(ms)']),
    waitMs: numberOf(time['Wait Time(ms)']), synchronizationMs: numberOf(time['Synchronization Time(ms)']), idleMs: numberOf(time['Idle Time(ms)']), bandwidth: Object.fromEntries(bandwidth),
  };
}

/** Links of a rank: step → kind → `<operation>@<group>` → `<source>-<destination>` (ranks within the group). */
export async function readCommunicationMatrix(context: ReaderContext, path: string): Promise<readonly CommunicationLink[]> {
  const found: CommunicationLink[] = [];
  for (const [step, kind, operations] of stepsOf(await readJson(context, path))) {
    for (const [key, links] of Object.entries(operations)) {
      if (key !== TOTAL) {
        found.push(...linksOf(step, kind, key, object(links)));
      }
    }
  }
  return found;
}

export function linksOf(step: string, kind: Kind, key: string, links: Json): readonly CommunicationLink[] {
  const { name, group } = splitKey(key);
  return Object.entries(links).flatMap(([pair, value]) => {
    const ends = /^(\d+)-(\d+)$/.exec(pair);
    if (ends === null) {
      return [];
    }
    const { 'Transport Type': transport, 'Transit Size(MB)': size, 'Transit Time(ms)': time, 'Bandwidth(GB/s)': rate } = object(value);
    return [{ step, kind, operation: name, group, source: Number(ends[1]), destination: Number(ends[2]), transport: typeof transport === 'string' ? transport : '', sizeMb: numberOf(size), timeMs: numberOf(time), bandwidthGbs: numberOf(rate) }];
  });
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : typeof value === 'string' && value.trim() !== '' ? Number(value) : NaN);

export async function readJson({ port, problems }: ReaderContext, path: string): Promise<Json> {
  const file = port.basename(path);
  const text = await readSmallText(port, path);
  const parsed = parseObject(text);
  if (parsed === undefined) {
    problems.add('ascend-json-damaged', file, { args: { file } });
  }
  return parsed ?? {};
}

function* stepsOf(content: Json): Iterable<readonly [string, Kind, Json]> {
  for (const [step, kinds] of Object.entries(content)) {
    for (const [kind, operations] of Object.entries(object(kinds))) {
      if (kind === 'p2p' || kind === 'collective') {
        yield [step, kind, object(operations)];
      }
    }
  }
}

function splitKey(key: string): { readonly name: string; readonly group: string } {
  const at = key.lastIndexOf('@');
  return at < 0 ? { name: key, group: '' } : { name: key.slice(0, at), group: key.slice(at + 1) };
}
