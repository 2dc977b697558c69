import { FAMILIES } from '../../protocol/families';
import type { DigestRow, DigestStep, DigestTable, DigestTableId, RankDigest } from '../../protocol/compare';
import type { Explanation } from '../attribution/explain';
import type { Fingerprint } from '../chains/fingerprints';
import { canonicalOperator, kernelTokens } from '../chains/kernelSequence';
import { PHASES } from '../chains/phases';
import { durationDensity } from '../analysis/density';
import { eachRow } from '../analysis/groups';
import { kernelFigures, sortedDurations } from '../analysis/kernelFigures';
import { laneFigures } from '../analysis/laneFigures';
import { busyUnions, isKernel, selectEvents, selectSteps, type Selection } from '../analysis/selection';
import { microseconds } from '../analysis/units';
import { isFused } from '../operators/kernelToken';
import { EventKind, type RankData } from '../profile/columns';
import { DigestTableBuilder } from './digestTable';
import { eventPhases, fusedPhase } from './eventPhases';
import { memoryDigest } from './memoryDigest';
import { WeightUses } from './weightUses';

/** Rows kept of each table; the rest is one row. */
const LIMITS: Readonly<Record<DigestTableId, number>> = { families: 64, phases: 16, chains: 600, operators: 600, kernels: 1500, lines: 2000 };
/** Steps of a rank that are compared; of a longer recording so many are taken at equal distances. */
const MOST_STEPS = 100;
const REST: DigestRow = { key: '…', label: '…' };

export interface DigestSource {
  readonly id: string;
  readonly label: string;
  readonly rank: number | undefined;
  readonly group: string;
  readonly losses?: readonly string[];
}

/** Everything a comparison needs of one rank, in bounded size. `assignFamilies` must have run; without an explanation there are no chains and no lines. */
export function rankDigest(data: RankData, source: DigestSource, explanation?: Explanation): RankDigest {
  const whole = selectEvents(data.deviceEvents);
  const all = windowsOf(data, whole);
  const windows = all.length <= MOST_STEPS ? all : Array.from({ length: MOST_STEPS }, (_window, i) => all[Math.floor((i * all.length) / MOST_STEPS)]);
  const steps = windows.map(({ index, selection }) => stepDigest(data, index, selection));
  const weights = new WeightUses();
  const tables = tablesOf(data, windows.map(({ selection }) => selection), weights, explanation);
  const durations = windows.map(({ selection }) => sortedDurations(data.deviceEvents, selection));
  return {
    id: source.id, label: source.label, rank: data.rank ?? source.rank ?? null, group: source.group, backend: data.backend, chip: chipOf(data), facts: data.facts, stacks: stacksOf(data),
    worldSize: worldSizeOf(data.facts), tokensPerStep: positive(data.facts['tokens_per_step']), ranksPerCard: positive(data.facts['ranks_per_card']),
    steps, stepsLeftOut: all.length - windows.length, losses: source.losses ?? [], tables, density: durationDensity(merged(durations)), matmul: weights.finish(), memory: memoryDigest(data),
  };
}

interface Window {
  /** Index into `RankData.steps`; undefined for the whole recording. */
  readonly index: number | undefined;
  readonly selection: Selection;
}

/** Steps that hold a kernel; the whole recording where none was marked. */
function windowsOf(data: RankData, whole: Selection): readonly Window[] {
  if (data.steps.every(({ source }) => source === 'window')) {
    return [{ index: undefined, selection: whole }];
  }
  const selections = selectSteps(data.deviceEvents, data.steps.length, whole);
  const windows = selections.map((selection, index): Window => ({ index, selection }))
    .filter(({ index, selection }) => index !== undefined && data.steps[index].source !== 'window' && hasKernel(data, selection));
  return windows.length === 0 ? [{ index: undefined, selection: whole }] : windows;
}

function hasKernel(data: RankData, selection: Selection): boolean {
  const kernel = (row: number): boolean => isKernel(data.deviceEvents.kind[row]);
  return selection.rows.some(kernel) || selection.unplaced.some(kernel);
}

function stepDigest(data: RankData, index: number | undefined, selection: Selection): DigestStep {
  const step = index === undefined ? undefined : data.steps[index];
  const unions = busyUnions(data.deviceEvents, selection);
  return {
    name: step?.name ?? '', number: step?.number ?? null, source: step?.source ?? 'window', index: index ?? null, durationUs: step === undefined ? null : microseconds(step.durationNs),
    kernels: kernelFigures(data.deviceEvents, selection, unions, sortedDurations(data.deviceEvents, selection)), lanes: laneFigures(data, selection, unions),
  };
}

/** One pass over the kernels of each step fills all tables. */
function tablesOf(data: RankData, selections: readonly Selection[], weights: WeightUses, explanation: Explanation | undefined): RankDigest['tables'] {
  const { deviceEvents: events, strings } = data;
  const made = Object.fromEntries((Object.keys(LIMITS) as DigestTableId[]).map((id) => [id, new DigestTableBuilder(selections.length)])) as Record<DigestTableId, DigestTableBuilder>;
  const { families, phases, chains, operators, kernels, lines } = made;
  const tokenOf = kernelTokens(data);
  const phaseOf = eventPhases(data, explanation);
  // A chain is counted once an occurrence, at its first kernel.
  const starts = new Set((explanation?.fingerprints ?? []).flatMap(({ fingerprint }) => fingerprint.events.map((events) => events[0])));
  const kernelRows = new Map<number, { readonly kernel: number; readonly operator: number; readonly token: string }>();
  selections.forEach((selection, step) => eachRow(selection, (row) => {
    if (!isKernel(events.kind[row])) {
      return;
    }
    const duration = events.durationNs[row];
    const family = FAMILIES[events.family[row]] ?? 'other';
    // A kernel of one name can be in two families: a `Mul` of a decomposed norm is norm.
    const id = (events.name[row] * 65536 + events.type[row]) * 16 + events.family[row];
    let known = kernelRows.get(id);
    if (known === undefined) {
      const name = strings.get(events.name[row]);
      const type = strings.get(events.type[row]);
      const communication = events.kind[row] === EventKind.Communication;
      const token = communication ? '' : canonicalOperator(tokenOf(row).op);
      const operator = communication ? collectiveOf(name) : token !== '' ? token : type !== '' && type !== 'N/A' ? type : name;
      // Collectives of one kind carry a counter in their names. A name tells a kernel; types are missing at lower profiler levels.
      const label = communication && type !== '' && type !== 'N/A' ? type : communication ? name.replace(/_{1,2}\d+(_\d+)*$/, '') : name;
      known = {
        kernel: kernels.row(label, () => ({ key: label, label, type, family })),
        operator: operators.row(operator, () => ({ key: operator, label: operator, family })), token,
      };
      kernelRows.set(id, known);
    }
    kernels.add(step, known.kernel, duration);
    operators.add(step, known.operator, duration);
    families.add(step, families.row(family, () => ({ key: family, label: family, family })), duration);
    if (events.kind[row] === EventKind.Compute) {
      const phase = PHASES[phaseOf[row]];
      phases.add(step, phases.row(phase, () => ({ key: phase, label: phase, phase })), duration);
      if (family === 'matmul') {
        weights.add(strings.get(events.shapes[row]));
      }
      addToChain(chains, explanation, starts, row, step, duration, known.token, phase);
    }
    const origin = explanation?.origins[explanation.originOf[row]];
    if (origin !== undefined) {
      const key = `${origin.file}\0${origin.startLine}\0${origin.function}`;
      lines.add(step, lines.row(key, () => ({ key, label: `${fileName(origin.file)}:${origin.startLine}`, file: origin.file, line: origin.startLine, function: origin.function })), duration);
    }
  }));
  return Object.fromEntries((Object.keys(LIMITS) as DigestTableId[]).map((id): [DigestTableId, DigestTable] => [id, made[id].finish(LIMITS[id], REST)])) as Record<DigestTableId, DigestTable>;
}

/** Kernels of a chain under its id; fused kernels by token, so that what took a chain's place stands beside it. */
function addToChain(chains: DigestTableBuilder, explanation: Explanation | undefined, starts: ReadonlySet<number>, row: number, step: number, duration: number, token: string, phase: string): void {
  if (explanation === undefined) {
    return;
  }
  const chain = explanation.fingerprints[explanation.chainOf[row]]?.fingerprint;
  if (chain !== undefined) {
    // Spellings of one fusion are one row: another compiler's kernels, or one cast more, make another chain of the same thing.
    const key = chain.fusion === undefined ? chain.id : `${chain.fusion.id} ${chain.phase}`;
    chains.add(step, chains.row(key, () => ({
      key, label: chain.fusion?.title ?? chain.chain, phase: chain.phase, chains: idsOf(explanation, chain), chainLength: chain.kernels.length, periodUs: microseconds(chain.periodNs),
      ...(chain.fusion === undefined ? {} : { fusion: chain.fusion.id, family: chain.fusion.family, fused: chain.fusion.fused ?? [] }),
    })), duration, starts.has(row));
  } else if (isFused(token)) {
    const own = fusedPhase(token, phase);
    const key = `fused ${token} ${own}`;
    chains.add(step, chains.row(key, () => ({ key, label: token, type: token, phase: own, chainLength: 1 })), duration);
  }
}

/** Ids of all spellings of a chain's fusion in its phase; of an unknown chain its own. */
function idsOf({ fingerprints }: Explanation, chain: Fingerprint): readonly string[] {
  return chain.fusion === undefined ? [chain.id] : fingerprints.filter(({ fingerprint }) => fingerprint.fusion === chain.fusion && fingerprint.phase === chain.phase).map(({ fingerprint }) => fingerprint.id);
}

const fileName = (file: string): string => file.split(/[\\/]/).pop() ?? file;

/** `hcom_allReduce__303_0_1`, `ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)` → `allReduce`: the same collective on every backend. */
export function collectiveOf(name: string): string {
  const found = /(all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|send_?recv|send|receive|recv|barrier|scatter|gather|reduce)/i.exec(name)?.[1];
  const plain = found?.toLowerCase().replace(/_/g, '');
  const names: Readonly<Record<string, string>> = { allreduce: 'allReduce', allgather: 'allGather', reducescatter: 'reduceScatter', alltoall: 'allToAll', sendrecv: 'sendRecv', recv: 'receive' };
  return plain === undefined ? name : `comm.${names[plain] ?? plain}`;
}

function merged(parts: readonly Float64Array[]): Float64Array {
  if (parts.length === 1) {
    return parts[0];
  }
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

function chipOf({ facts, device }: RankData): string | null {
  return facts['device name'] ?? facts['chip'] ?? facts['chipName'] ?? (device !== undefined && !/^\d*$/.test(device) ? device : null);
}

/** Without operators of the host there is nothing a stack could hang on: their absence says nothing then. */
function stacksOf({ coverage }: RankData): boolean | null {
  return coverage.pythonFrames || coverage.callStacks ? true : coverage.hostOperators ? false : null;
}

/** Ranks of the job as the profile's own metadata say it. */
function worldSizeOf(facts: Readonly<Record<string, string>>): number | null {
  const direct = positive(facts['distributed world_size']) ?? positive(facts['world_size']);
  if (direct !== null) {
    return direct;
  }
  const found = /"world_size"\s*:\s*"?(\d+)/.exec(facts['distributed_args'] ?? '')?.[1];
  return positive(found);
}

function positive(text: string | undefined): number | null {
  const value = text === undefined || !/^\d{1,15}$/.test(text.trim()) ? NaN : Number(text);
  return value > 0 ? value : null;
}
