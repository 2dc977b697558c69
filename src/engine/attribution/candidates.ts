/**
 * Functions that a run may have started from, with the automata of what they launch: the forward of each class that no
 * other class of its file builds, and of the layers below it. Of many files those are lowered whose text looks like the run.
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
import { automatonOf, type Automaton, type AutomatonOptions } from './automaton';
import { importedFiles } from './importedFiles';
import { followedGrams, isWeighty, spelledGrams, trigrams } from './sourceGrams';

/** How a backend's kernel names blur operators together. */
export type BackendLook = Pick<AutomatonOptions, 'cuda' | 'typesOnly'>;

/** An operator as a backend's kernels show it. */
export const seenOn = (op: string, { cuda, typesOnly }: BackendLook): string => canonicalOperator(cuda ? onCuda(op) : typesOnly === true ? TENSOR_FORM[op] ?? op : op);

export interface Candidate {
  readonly scope: ModuleScope;
  readonly owner: ClassDefinition | undefined;
  readonly definition: FunctionDefinition;
  readonly graph: OperatorGraph;
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
  const weight = graph.nodes.filter(({ op }) => isWeighty(op) && !['input', 'parameter', 'view', 'phi', 'shape', 'hole', 'hostRead'].includes(op)).length;
  return { scope, owner, definition, graph, weight, sources };
}

/** Weight of runs that every file is taken to have: what holds two runs in all is not alike for sharing both. */
const FEW_RUNS = 20;

interface Best {
  readonly alike: number;
  readonly shared: number;
}

/**
 * The files that are most alike, by their grams: so many by what they share for their size, so many by what they share at all,
 * and ties. Rare runs count more. A text of many models shares something with each, so size counts.
 */
function mostAlike(files: readonly ModuleScope[], gramsOf: (file: ModuleScope) => ReadonlySet<string>, wanted: ReadonlySet<string>, best: Best): readonly ModuleScope[] {
  const grams = files.map(gramsOf);
  const holders = new Map<string, number>();
  grams.forEach((set) => set.forEach((gram) => holders.set(gram, (holders.get(gram) ?? 0) + 1)));
  const scored = files.map((file, i) => {
    let shared = 0;
    let all = FEW_RUNS;
    grams[i].forEach((gram) => {
      const rare = Math.log(1 + files.length / (holders.get(gram) ?? 1));
      all += rare;
      shared += wanted.has(gram) ? rare : 0;
    });
    return { file, shared, alike: shared / Math.sqrt(all) };
  }).filter(({ shared }) => shared > 0);
  const chosen = new Set<ModuleScope>();
  for (const key of ['alike', 'shared'] as const) {
    const sorted = [...scored].sort((a, b) => b[key] - a[key]);
    const threshold = sorted[Math.min(best[key], sorted.length) - 1]?.[key] ?? 0;
    sorted.filter((entry, i) => i < best[key] || entry[key] >= threshold * 0.999).slice(0, MOST_FILES).forEach(({ file }) => chosen.add(file));
  }
  return [...chosen];
}

/** Up to this many files are lowered whole; of more only those whose text looks like the run. */
const LOWER_ALL = 80;
/** Of files by their own text, and by what their forwards launch with all they call. */
const BEST_ALONE: Best = { alike: 70, shared: 15 };
const BEST_FOLLOWED: Best = { alike: 60, shared: 40 };
/** With ties, of each. */
const MOST_FILES = 90;

/** Candidates of an index, lowered when they are first wanted. */
export class CandidateIndex {
  private readonly imports = new Map<ModuleScope, readonly ModuleScope[]>();
  private readonly followed = new Map<ModuleScope, ReadonlySet<string>>();
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
    const wanted = trigrams(region.filter(isWeighty));
    return [...new Set([
      ...mostAlike(this.scopes, (scope) => blurred(spelledGrams(scope), look), wanted, BEST_ALONE),
      ...mostAlike(this.scopes, (scope) => blurred(this.followedIn(scope), look), wanted, BEST_FOLLOWED),
    ])];
  }

  private followedIn(scope: ModuleScope): ReadonlySet<string> {
    let grams = this.followed.get(scope);
    if (grams === undefined) {
      grams = followedGrams(scope, (from) => this.importsOf(from));
      this.followed.set(scope, grams);
    }
    return grams;
  }

  private importsOf(scope: ModuleScope): readonly ModuleScope[] {
    let files = this.imports.get(scope);
    if (files === undefined) {
      files = importedFiles(this.program, scope);
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
