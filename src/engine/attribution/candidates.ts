/**
 * Functions that a run may have started from, with the automata of what they launch: the forward of each class that no
 * other class of its file builds, and of the layers below it. A cheap filter by runs of three operators picks those worth aligning.
 */
import type { Parser } from 'web-tree-sitter';
import { lowerForm } from '../chains/patterns';
import type { TokenNames } from '../chains/kernelSequence';
import { canonicalOperator } from '../chains/kernelSequence';
import { FUSIONS } from '../fusions';
import type { Fusion } from '../fusions/fusion';
import { loweredForm, matchFusions, type LoweredForm } from '../fusions/matchGraph';
import { onCuda, TENSOR_FORM } from '../operators/kernelToken';
import type { ClassDefinition, FunctionDefinition } from '../python/ast';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph } from '../python/operatorGraph';
import type { ModuleScope, Program } from '../python/program';
import { automatonOf, operatorWeight, type Automaton, type AutomatonOptions } from './automaton';
import { importedFiles } from './importedFiles';
import { mayHoldForward, spelledGrams, trigrams } from './sourceGrams';

/** How a backend's kernel names blur operators together. */
export type BackendLook = Pick<AutomatonOptions, 'cuda' | 'typesOnly'>;

/** An operator as a backend's kernels show it. */
export const seenOn = (op: string, { cuda, typesOnly }: BackendLook): string => canonicalOperator(cuda ? onCuda(op) : typesOnly === true ? TENSOR_FORM[op] ?? op : op);

export interface Candidate {
  readonly scope: ModuleScope;
  readonly owner: ClassDefinition | undefined;
  readonly definition: FunctionDefinition;
  readonly graph: OperatorGraph;
  /** Runs of three operators that are not light, as text keys. */
  readonly grams: ReadonlySet<string>;
  /** Operators that are not light. */
  readonly weight: number;
  /** Text of an indexed file. */
  readonly sources: (file: string) => string | undefined;
}

/** Forward functions of a program's modules, lowered. Functions that launch fewer than `minimum` weighty operators are left out. */
export function candidatesOf(program: Program, scopes: readonly ModuleScope[], minimum = 4, sources: (file: string) => string | undefined = textOf(scopes)): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const scope of scopes) {
    for (const top of scope.names.values()) {
      if (top.kind !== 'class') {
        continue;
      }
      const forward = top.definition.body.find((statement): statement is FunctionDefinition => statement.kind === 'function' && (statement.name === 'forward' || statement.name === 'construct'));
      if (forward !== undefined) {
        const candidate = candidateOf(program, scope, forward, top.definition, sources);
        if (candidate.weight >= minimum) {
          candidates.push(candidate);
        }
      }
    }
  }
  return candidates;
}

function textOf(scopes: readonly ModuleScope[]): (file: string) => string | undefined {
  const texts = new Map(scopes.map((scope) => [scope.file, scope.text]));
  return (file) => texts.get(file);
}

function candidateOf(program: Program, scope: ModuleScope, definition: FunctionDefinition, owner: ClassDefinition | undefined, sources: (file: string) => string | undefined): Candidate {
  const graph = lowerFunction(program, scope, definition, owner, { anySizes: true });
  const tokens: string[] = [];
  // All branches in order of their nodes: the filter must not depend on which one ran.
  graph.nodes.forEach((node) => {
    if (operatorWeight(node.op) >= 0.4 && !['input', 'parameter', 'view', 'phi', 'shape', 'hole', 'hostRead'].includes(node.op)) {
      tokens.push(canonicalOperator(node.op));
    }
  });
  return { scope, owner, definition, graph, grams: trigrams(tokens), weight: tokens.length, sources };
}

/** Candidates by how much of the region's rare operator runs they hold, the best `limit` and all ties of the last. */
export function prefilter(candidates: readonly Candidate[], region: readonly string[], look: BackendLook, limit: number): readonly Candidate[] {
  const wanted = new Map<string, number>();
  const weighty = region.filter((op) => operatorWeight(op) >= 0.4);
  for (let i = 0; i + 2 < weighty.length; i++) {
    const gram = `${weighty[i]} ${weighty[i + 1]} ${weighty[i + 2]}`;
    wanted.set(gram, (wanted.get(gram) ?? 0) + 1);
  }
  const grams = candidates.map((candidate) => blurred(candidate.grams, look));
  return mostAlike(candidates, grams, (gram) => Math.log(1 + (wanted.get(gram) ?? 0)), { shared: limit, alike: Math.ceil(limit / 3) }, limit * 4);
}

/** Weight of runs that every file is taken to have: what holds two runs in all is not alike for sharing both. */
const FEW_RUNS = 20;

/**
 * The items that are most alike: so many by what they share for their size, so many by what they share at all, and ties, at
 * most `most` of each. Rare runs count more. Of files a text of many models shares something with each, so size counts; of
 * functions a whole model must not lose to one of its layers.
 */
function mostAlike<T>(items: readonly T[], grams: readonly ReadonlySet<string>[], weightOf: (gram: string) => number, by: { readonly alike: number; readonly shared: number }, most: number): readonly T[] {
  const holders = new Map<string, number>();
  grams.forEach((set) => set.forEach((gram) => holders.set(gram, (holders.get(gram) ?? 0) + 1)));
  const scored = items.map((item, i) => {
    let shared = 0;
    let all = FEW_RUNS;
    grams[i].forEach((gram) => {
      const rare = Math.log(1 + items.length / (holders.get(gram) ?? 1));
      all += rare;
      shared += rare * weightOf(gram);
    });
    return { item, shared, alike: shared / Math.sqrt(all) };
  }).filter(({ shared }) => shared > 0);
  const chosen = new Set<T>();
  for (const key of ['alike', 'shared'] as const) {
    const sorted = [...scored].sort((a, b) => b[key] - a[key]);
    const threshold = sorted[Math.min(by[key], sorted.length) - 1]?.[key] ?? 0;
    sorted.filter((entry, i) => i < by[key] || entry[key] >= threshold * 0.999).slice(0, most).forEach(({ item }) => chosen.add(item));
  }
  return [...chosen];
}

/** Up to this many files are lowered whole; of more only those whose text looks like the run. */
const LOWER_ALL = 80;
const BEST_FILES = 90;
const MOST_FILES = 110;
/** Of files taken with what they import. */
const BEST_TOGETHER = 30;

/** Candidates of an index, lowered when they are first wanted. */
export class CandidateIndex {
  private readonly imports = new Map<ModuleScope, readonly ModuleScope[]>();
  private readonly lowered = new Map<ModuleScope, readonly Candidate[]>();
  private readonly scopes: readonly ModuleScope[];

  constructor(private readonly program: Program, scopes: Iterable<ModuleScope>) {
    this.scopes = [...scopes];
  }

  /** All candidates where the index is small; undefined where lowering it whole would take too long. */
  all(): readonly Candidate[] | undefined {
    return this.scopes.length <= LOWER_ALL ? this.of(this.scopes) : undefined;
  }

  /** Candidates of the files that look most like the region. */
  like(region: readonly string[], look: BackendLook): readonly Candidate[] {
    return this.all() ?? this.of(this.filesLike(region, look));
  }

  private of(scopes: readonly ModuleScope[]): readonly Candidate[] {
    const missing = scopes.filter((scope) => !this.lowered.has(scope));
    if (missing.length > 0) {
      const texts = new Map(this.scopes.map((scope) => [scope.file, scope.text]));
      missing.forEach((scope) => this.lowered.set(scope, candidatesOf(this.program, [scope], 4, (file) => texts.get(file))));
    }
    return scopes.flatMap((scope) => this.lowered.get(scope) ?? []);
  }

  private filesLike(region: readonly string[], look: BackendLook): readonly ModuleScope[] {
    const wanted = trigrams(region.filter((op) => operatorWeight(op) >= 0.4));
    const grams = this.scopes.map((scope) => blurred(spelledGrams(scope), look));
    const weightOf = (gram: string): number => (wanted.has(gram) ? 1 : 0);
    const alone = mostAlike(this.scopes, grams, weightOf, { alike: BEST_FILES, shared: BEST_FILES / 5 }, MOST_FILES);
    // Models whose layers lie in other files: what they import counts as theirs.
    const gramsOf = new Map(this.scopes.map((scope, i) => [scope, grams[i]]));
    const together = this.scopes.map((scope) => new Set([scope, ...this.importsOf(scope)].flatMap((part) => [...(gramsOf.get(part) ?? [])])));
    return [...new Set([...alone, ...mostAlike(this.scopes, together, weightOf, { alike: BEST_TOGETHER, shared: BEST_TOGETHER / 5 }, BEST_TOGETHER)])];
  }

  private importsOf(scope: ModuleScope): readonly ModuleScope[] {
    let files = this.imports.get(scope);
    if (files === undefined) {
      files = mayHoldForward(scope) ? importedFiles(this.program, scope) : [];
      this.imports.set(scope, files);
    }
    return files;
  }
}

const blurred = (grams: ReadonlySet<string>, look: BackendLook): ReadonlySet<string> => (look.cuda || look.typesOnly === true ? new Set([...grams].map((gram) => gram.split(' ').map((op) => seenOn(op, look)).join(' '))) : grams);

/** The catalogue's forms, lowered once per parser. */
export function catalogueForms(parser: Parser, added: readonly Fusion[] = []): readonly LoweredForm[] {
  return [...added, ...FUSIONS].flatMap((fusion) => fusion.forms.map((form) => loweredForm(fusion, form.name, lowerForm(parser, form.python).graph)).filter((form): form is LoweredForm => form !== undefined));
}

export function automatonFor(candidate: Candidate, names: TokenNames, backend: BackendLook, forms: readonly LoweredForm[]): Automaton {
  return automatonOf(candidate.graph, names, { ...backend, matches: matchFusions(candidate.graph, forms) });
}
