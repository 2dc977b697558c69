/**
 * Who a rank is and how it was recorded: `profiler_info[_<rank>].json`, `profiler_metadata.json` and, failing both, the
 * folder's name. Small files; they never decide whether a profile opens.
 */
import { readSmallText, type FilePort, type FolderEntry } from '../port';

type Json = Readonly<Record<string, unknown>>;

export interface RankInfo {
  /** Undefined when nothing says it; never guessed. A device id is no rank id. */
  readonly rank: number | undefined;
  readonly facts: Readonly<Record<string, string>>;
  /** Files that were read. */
  readonly files: readonly string[];
  /** `profiler_info` has a start but no end: the run did not stop cleanly. */
  readonly stoppedEarly: boolean;
  /** Names of files that are no JSON. */
  readonly damaged: readonly string[];
}

/** No metadata file is larger; group lists of thousands of ranks reach some hundred KB. */
const LIMIT = 16 * 1024 * 1024;

export const INFO_NAME = /^profiler_info(?:_(\d+))?\.json$/;
const METADATA_NAME = 'profiler_metadata.json';

/** Reads what stands in a rank's folder, whose entries the caller has listed. */
export async function readRankInfo(port: FilePort, folder: string, entries: readonly FolderEntry[]): Promise<RankInfo> {
  const names = entries.filter((entry) => entry.kind === 'file').map((entry) => entry.name);
  const infoName = names.find((name) => INFO_NAME.test(name));
  const damaged: string[] = [];
  const files: string[] = [];
  const read = async (name: string | undefined): Promise<Json> => {
    if (name === undefined) {
      return {};
    }
    files.push(port.join(folder, name));
    const parsed = parseObject(await readSmallText(port, port.join(folder, name), LIMIT));
    if (parsed === undefined) {
      damaged.push(name);
    }
    return parsed ?? {};
  };
  const info = await read(infoName);
  const metadata = await read(names.find((name) => name === METADATA_NAME));
  const distributed = { ...object(metadata['distributed_info']), ...object(metadata['distributed_args']) };
  const rank = wholeNumber(info['rank_id']) ?? wholeNumber(INFO_NAME.exec(infoName ?? '')?.[1]) ?? wholeNumber(distributed['rank']) ?? rankFromName(port.basename(folder));
  return { rank, facts: { ...infoFacts(info), ...metadataFacts(metadata) }, files, damaged, stoppedEarly: 'start_info' in info && 'config' in info && !('end_info' in info) };
}

/** `rank_0_ascend_pt`, `rank0_…`, `test_rank_12`, `…-rank-3`: the number after the word rank; undefined without it. */
export function rankFromName(name: string): number | undefined {
  return wholeNumber(/(?:^|[^a-z])rank[_\-. ]?(\d{1,6})(?!\d)/i.exec(name)?.[1]);
}

/** The JSON object in a text; undefined when it is none. */
export function parseObject(text: string | undefined): Json | undefined {
  try {
    const value: unknown = JSON.parse((text ?? '').replace(/^\ufeff/, ''));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

export const object = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});

function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'number' ? value : typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : NaN;
  return Number.isInteger(number) && number >= 0 ? number : undefined;
}

function infoFacts(info: Json): Record<string, string> {
  const config = object(info['config']);
  const common = object(config['common_config']);
  const experimental = object(config['experimental_config']);
  const facts: Record<string, unknown> = {
    level: experimental['_profiler_level'], aic_metrics: experimental['_aic_metrics'], export_type: experimental['_export_type'], l2_cache: experimental['_l2_cache'],
    torch_npu: info['torch_npu_version'], mindspore: info['mindspore_version'] ?? info['ms_version'], cann: info['cann_version'],
    record_shapes: common['record_shapes'], with_stack: common['with_stack'], with_modules: common['with_modules'], profile_memory: common['profile_memory'],
    activities: common['activities'], schedule: common['schedule'],
  };
  return texts(facts);
}

function metadataFacts(metadata: Json): Record<string, string> {
  // Old files name the settings of the job `distributed_info`.
  // A run may say how many tokens a step of the whole job has: at the top (`add_metadata`), the sample in its own section.
  const own = { ...object(metadata['sample']), ...metadata };
  return texts({ tokens_per_step: own['tokens_per_step'], ranks_per_card: own['ranks_per_card'], ENV_VARIABLES: metadata['ENV_VARIABLES'], distributed_args: metadata['distributed_args'] ?? metadata['distributed_info'], parallel_group_info: metadata['parallel_group_info'] });
}

/** Facts are text: plain values as they are, everything else as JSON. */
function texts(facts: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(facts).flatMap(([key, value]) => (value === undefined || value === null ? [] : [[key, typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)]])));
}
