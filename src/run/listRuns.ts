import { explainRunFailure, runFailure, RunFailure } from './failure';
import { listScript } from './folderScripts';
import { absoluteThere, hostFacts } from './hostFacts';
import type { Hosts } from './hosts';
import type { Run, RunRecord, RunSummary } from './run';
import { runHandle } from './runHandle';
import { parseState } from './runState';

/** Runs read at most; the newest come first. */
const LIMIT = 200;

/** The runs on a host (undefined: here), newest first, whoever started them from wherever. */
export async function listRuns(hosts: Hosts, host: string | undefined, options: { readonly signal?: AbortSignal; readonly quiet?: boolean; readonly limit?: number } = {}): Promise<readonly RunSummary[]> {
  const shell = hosts.shell(host);
  const { home } = await hostFacts(shell, options.signal);
  const root = absoluteThere(home, hosts.tools.runsFolder ?? '.fuselens/runs');
  const { exit, stdout, stderr } = await shell.run(listScript(root, options.limit ?? LIMIT), { quiet: options.quiet === true, ...(options.signal === undefined ? {} : { signal: options.signal }) });
  if (exit !== 0) {
    throw new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(host === undefined ? {} : { host }) }));
  }
  return stdout.split(/^run=/m).slice(1).map((part) => summaryOf(part, host)).sort((a, b) => (began(a) === began(b) ? 0 : began(a) < began(b) ? 1 : -1));
}

/** When a run was started, as its id begins, but to the millisecond: of two in one second the later one is the newer. */
const began = ({ id, record }: RunSummary): string => (record === undefined || record.startedAt === '' ? id : record.startedAt.replace(/[-:]/g, '').replace('T', '-'));

function summaryOf(part: string, host: string | undefined): RunSummary {
  const [id, ...lines] = part.split('\n');
  const value = (key: string): string | undefined => lines.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  return { id, folder: value('folder') ?? '', host, record: readRecord(value('record') ?? ''), state: parseState(lines.join('\n')) };
}

/** Undefined for a record that is damaged or of a later version: the run is listed all the same. */
function readRecord(encoded: string): RunRecord | undefined {
  try {
    const record = JSON.parse(Buffer.from(encoded, 'base64').toString()) as Partial<RunRecord>;
    return record.schema === 'fuselens-run/1' && typeof record.id === 'string' && typeof record.settings === 'object' ? record as RunRecord : undefined;
  } catch {
    return undefined;
  }
}

/** A handle on a run by its id, its beginning or end, or its name; the newest of a name. */
export async function attachRun(hosts: Hosts, host: string | undefined, id: string, options: { readonly signal?: AbortSignal } = {}): Promise<Run> {
  const all = await listRuns(hosts, host, options);
  const exact = all.filter((run) => run.id === id);
  const fits = exact.length > 0 ? exact : all.filter((run) => run.id.startsWith(id) || run.id.endsWith(id));
  const [found, second] = fits.length > 0 ? fits : all.filter((run) => run.record?.name === id).slice(0, 1);
  if (found === undefined) {
    throw runFailure(host === undefined ? 'error.run-not-found-here' : 'error.run-not-found', { id, host: host ?? '' });
  }
  if (second !== undefined) {
    throw runFailure('error.run-ambiguous', { id, found: fits.map((run) => run.id).join(', ') });
  }
  return handleOf(hosts, found);
}

/** A handle on a listed run. The host is the one it was listed on: the record may name it otherwise, or be unreadable. */
export function handleOf(hosts: Hosts, { id, folder, host, record }: RunSummary): Run {
  const known: RunRecord = record ?? { schema: 'fuselens-run/1', id, name: id, settings: { launcher: 'command', command: '' }, startedAt: '' };
  const { host: _, ...settings } = known.settings;
  return runHandle(hosts, { ...known, settings: host === undefined ? settings : { ...settings, host } }, folder);
}
