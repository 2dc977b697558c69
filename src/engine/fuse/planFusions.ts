/**
 * Plans the replacement of every eager form in a file: an edit where all conditions were read from the source, otherwise
 * the reason. It knows no fusion by name; those say what to write.
 */
import type { Parser } from 'web-tree-sitter';
import { lowerForm } from '../chains/patterns';
import { catalogueForms } from '../attribution/candidates';
import { FUSIONS } from '../fusions';
import type { FuseBackend, Fusion, Replacement } from '../fusions/fusion';
import { followsAnother } from '../fusions/notAfter';
import { grouped } from '../fusions/write';
import { loweredForm, matchFusions, type FusionMatch, type LoweredForm } from '../fusions/matchGraph';
import type { Expression, Statement } from '../python/ast';
import { LineIndex } from '../python/lineIndex';
import { parsePython } from '../python/parsePython';
import type { ModuleScope, Program } from '../python/program';
import { assignedNames, deadStatements, readsOnly, removals, statementsHolding } from './deadCode';
import { functionsOf, statementAt, traceFunction, type FunctionTrace } from './functionTrace';
import { GENERAL_CAUTIONS, surroundings } from './cautions';
import { functionalName, importEdit, runsElsewhere } from './imports';
import { isMet, NOTHING_KNOWN, type Installed } from './installed';
import { innerViewsOf, matchFacts, sitesOf, type MatchFacts } from './matchFacts';
import { localNames, nameUses, within } from './names';
import { applyEdits, type FusePlan, type TextEdit } from './plan';
import { refusal, WAIVABLE } from './refusals';
import { RoleTexts } from './roleTexts';
import type { FrameworkSwitch } from './switches';

export interface PlanOptions {
  /** Whether the file may be edited at all; false for installed packages. Default: by its path. */
  readonly inWorkspace?: boolean;
  /** What the chosen interpreter has; versions that are not known become conditions. */
  readonly installed?: Installed;
  /** Switches of the file's framework, by fusion. */
  readonly switches?: ReadonlyMap<string, readonly FrameworkSwitch[]>;
  /** Fusions of the workspace's own, beside the catalogue. */
  readonly fusions?: readonly Fusion[];
  /** Reasons of `WAIVABLE` that shall not hold an edit back. */
  readonly allow?: readonly string[];
}

interface Context {
  readonly backend: FuseBackend;
  readonly parser: Parser;
  readonly options: PlanOptions;
  readonly around: ReadonlySet<string>;
}

interface Forms {
  readonly known: readonly LoweredForm[];
  readonly near: readonly LoweredForm[];
}

const lowered = new WeakMap<Parser, WeakMap<readonly Fusion[], Forms>>();
const NO_FUSIONS: readonly Fusion[] = [];

/** All plans for one file, in source order. `scope` must be a module of `program`. */
export function planFusions(scope: ModuleScope, program: Program, backend: FuseBackend, parser: Parser, options: PlanOptions = {}): readonly FusePlan[] {
  const forms = formsOf(parser, options.fusions ?? NO_FUSIONS);
  const inWorkspace = options.inWorkspace ?? !/[\\/](site|dist)-packages[\\/]/.test(scope.file);
  const context: Context = { backend, parser, options, around: surroundings(program, scope) };
  const found: { readonly plan: FusePlan; readonly covers: readonly string[]; readonly size: number }[] = [];
  for (const { definition, owner } of functionsOf(scope)) {
    if (isUnused(scope, definition.name)) {
      continue;
    }
    const trace = traceFunction(program, scope, definition, owner);
    const matches = matchFusions(trace.graph, forms.known);
    const near = matchFusions(trace.graph, forms.near).filter((match) => !matches.some((other) => other.operators.some((node) => match.operators.includes(node))));
    for (const match of [...matches.filter((one) => !followsAnother(trace.graph, one, near)), ...near]) {
      const facts = matchFacts(trace.graph, match);
      // Where the result is computed in a helper, the helper is the place of the edit.
      if (facts.inner.call === -1 && facts.inner.place.file === scope.file && !alreadyFused(trace, facts)) {
        const covers = match.operators.map((node) => `${trace.graph.nodes[node].place.file}:${trace.graph.nodes[node].place.start}:${trace.graph.nodes[node].place.end}`);
        const plan = planOf(trace, match, facts, context);
        found.push({ plan: inWorkspace ? plan : outsideWorkspace(plan), covers, size: match.operators.length });
      }
    }
  }
  // A helper that a larger form takes in is no place of its own, unless only the helper can be fused.
  const covers = (outer: (typeof found)[number], inner: (typeof found)[number]): boolean => outer !== inner && outer.size > inner.size && inner.covers.every((place) => outer.covers.includes(place));
  const better = (one: (typeof found)[number], other: (typeof found)[number]): boolean => isEdit(one.plan) && other.plan.status === 'refused' && !isEdit(other.plan);
  const kept = found.filter((one) => !found.some((other) => (covers(other, one) && !better(one, other)) || (covers(one, other) && better(other, one))));
  return distinct(kept.map(({ plan }) => plan)).sort((a, b) => a.startLine - b.startLine || a.endLine - b.endLine);
}

const isEdit = ({ status, patch }: FusePlan): boolean => status === 'fixable' || patch.length > 0;

/** Installed packages are never edited: what the edit would have been goes into a patch module. */
const outsideWorkspace = (plan: FusePlan): FusePlan => (plan.status === 'fixable' ? { ...plan, status: 'refused', reason: 'outside-workspace', patch: plan.edits, edits: [] } : plan);

function formsOf(parser: Parser, added: readonly Fusion[]): Forms {
  const known = lowered.get(parser) ?? new WeakMap<readonly Fusion[], Forms>();
  lowered.set(parser, known);
  let forms = known.get(added);
  if (forms === undefined) {
    const near = FUSIONS.flatMap((fusion) => (fusion.nearMisses ?? []).map((miss) => loweredForm(fusion, miss.name, lowerForm(parser, miss.python).graph)));
    const loops = FUSIONS.flatMap((fusion) => (fusion.loops ?? []).map((loop) => loweredForm(fusion, loop.name, lowerForm(parser, loop.python).graph)));
    forms = { known: [...catalogueForms(parser, added), ...loops.filter((form): form is LoweredForm => form !== undefined)], near: near.filter((form): form is LoweredForm => form !== undefined) };
    known.set(added, forms);
  }
  return forms;
}

/** A private helper that nothing in its file names any more: what an earlier edit left. */
const isUnused = ({ text }: ModuleScope, name: string): boolean => /^_[a-z]/.test(name) && text.split(new RegExp(`\\b${name}\\b`)).length <= 2;

/** The eager form kept as the other branch of `fused if on this device else eager`. */
function alreadyFused(trace: FunctionTrace, { inner }: MatchFacts): boolean {
  return [...trace.nodes.keys()].some((expression) => expression.kind === 'conditional' && within(inner.place, expression) && /torch_npu\./.test(trace.scope.text.slice(expression.start, expression.end)));
}

/** The same place reached twice (both sides of a branch) is one plan. */
function distinct(plans: readonly FusePlan[]): FusePlan[] {
  const seen = new Set<string>();
  return plans.filter((plan) => {
    const key = `${plan.fusion.id}:${plan.startLine}:${plan.endLine}:${plan.edits.map((edit) => `${edit.start}-${edit.end}`).join()}`;
    const fresh = !seen.has(key);
    seen.add(key);
    return fresh;
  });
}

function planOf(trace: FunctionTrace, match: FusionMatch, facts: MatchFacts, { backend, parser, options, around }: Context): FusePlan {
  const { scope, owner, definition, graph } = trace;
  const { fusion } = match;
  const lines = new LineIndex(scope.text);
  const sites = sitesOf(graph, [...match.operators, facts.inner.id]).filter((place) => place.file === scope.file);
  const base = {
    fusion, backend, file: scope.file, functionName: owner === undefined ? definition.name : `${owner.name}.${definition.name}`,
    startLine: Math.min(...sites.map((place) => lines.line(place.start))), endLine: Math.max(...sites.map((place) => lines.line(Math.max(place.start, place.end - 1)))),
    roles: {}, reasonPlace: undefined, remedy: undefined, promise: undefined, requires: undefined, requirementMet: undefined, replacement: undefined, edits: [], patch: [],
    cautions: (fusion.cautions ?? []).filter((caution) => around.has(caution)), switches: options.switches?.get(fusion.id) ?? [],
  };
  // The workspace's own fusions have their advice in `note`.
  const remedy = fusion.note === undefined ? fusion.id : undefined;
  const refused = (reason: string): FusePlan => ({ ...base, status: 'refused', reason, remedy });
  const near = fusion.nearMisses?.find((miss) => miss.name === match.form && !fusion.forms.some((form) => form.name === match.form));
  if (near !== undefined) {
    const unread = match.operators.some((node) => graph.nodes[node].attributes.dims?.some((dim) => Number.isNaN(dim)) === true);
    return { ...refused(unread ? 'dimension-unknown' : near.reason), remedy: undefined };
  }
  const replacement = fusion.replacements?.[backend];
  if (replacement === undefined) {
    return { ...base, status: 'advice', reason: 'no-replacement', remedy };
  }
  const snippet = fusion.forms.find((form) => form.name === match.form);
  const reshaped = snippet !== undefined && facts.innerViews > innerViewsOf(lowerForm(parser, snippet.python).graph);
  const { refusal: refusing, waived } = refusal(trace, match, facts, new Set(options.allow));
  // A view between operators also looks like a value that someone else uses.
  if (reshaped && (refusing === undefined || refusing.reason === 'shared')) {
    return refused('reshaped');
  }
  if (refusing !== undefined) {
    return { ...refused(refusing.reason), reasonPlace: refusing.place };
  }
  const written = writeEdits(trace, match, facts, replacement);
  if ('reason' in written) {
    return ADVICE.has(written.reason) ? { ...base, status: 'advice', reason: written.reason, remedy } : refused(written.reason);
  }
  if (parsePython(parser, applyEdits(scope.text, written.edits)).errors.length > scope.module.errors.length) {
    return refused('would-not-parse');
  }
  const requirementMet = isMet(replacement.requires, options.installed ?? NOTHING_KNOWN);
  if (requirementMet === false) {
    return { ...refused('version-too-old'), requires: replacement.requires, requirementMet };
  }
  const told = replacement.promise === 'exact' ? GENERAL_CAUTIONS : ['rollout', ...GENERAL_CAUTIONS];
  const against = waived.map((code) => WAIVABLE.get(code));
  const cautions = [...base.cautions, ...replacement.cautions ?? [], ...told.filter((caution) => around.has(caution) || against.includes(caution))];
  return { ...base, status: 'fixable', reason: undefined, promise: replacement.promise, requires: replacement.requires, requirementMet, cautions, ...written };
}

/** Not the code's fault: there is nothing better to write for this form on this backend. */
const ADVICE: ReadonlySet<string> = new Set(['needs-cat', 'no-operator', 'no-weight', 'halves-swapped']);

type Edits = Pick<FusePlan, 'edits' | 'roles' | 'replacement'>;

function writeEdits(trace: FunctionTrace, match: FusionMatch, facts: MatchFacts, replacement: Replacement): Edits | { readonly reason: string } {
  const { scope, definition } = trace;
  const replaced = (trace.expressions.get(facts.inner.id) ?? []).find((expression) => expression.start === facts.inner.place.start && expression.end === facts.inner.place.end);
  const at = replaced === undefined ? undefined : statementAt(definition, replaced);
  if (replaced === undefined || at === undefined) {
    return { reason: 'in-place' };
  }
  const root = at.block[at.index];
  const holding = statementsHolding(at.block, sitesOf(trace.graph, facts.own));
  const touched = new Set(holding);
  if (holding === undefined || [...touched].some((statement) => statement.start > root.start || (statement !== root && assignedNames(statement) === undefined))) {
    return { reason: 'control-flow' };
  }
  const own = localNames(definition);
  const functional = functionalName(scope, own);
  if (functional === undefined) {
    return { reason: 'no-torch-import' };
  }
  if (replacement.module !== undefined && own.has(replacement.module.split('.')[0])) {
    return { reason: 'name-taken' };
  }
  // First as if everything the form computes were gone, then with what really goes.
  let gone: ReadonlySet<Statement> = new Set([...touched].filter((statement) => statement !== root));
  let texts = new RoleTexts(trace, match, facts, functional, replaced, gone);
  const { split } = texts;
  const splitting = split === undefined ? undefined : at.block.find((statement) => within(split.place, statement));
  if (splitting !== undefined && splitting !== root && assignedNames(splitting) !== undefined) {
    touched.add(splitting);
    gone = new Set([...gone, splitting]);
    texts = new RoleTexts(trace, match, facts, functional, replaced, gone);
  }
  const mayGo = removable(trace, [...match.nodes, ...(split?.nodes ?? [])], touched);
  let python = expressionOf(trace, match, texts, replacement, replaced, gone.size === 0);
  for (let round = 0; round < 2 && texts.failure === undefined && typeof python === 'string'; round++) {
    gone = deadStatements(trace, at, replaced, texts.reads, { mayGo, touched });
    texts = new RoleTexts(trace, match, facts, functional, replaced, gone);
    python = expressionOf(trace, match, texts, replacement, replaced, [...touched].every((statement) => statement === root));
  }
  if (texts.failure !== undefined) {
    return { reason: texts.failure };
  }
  if (typeof python !== 'string') {
    return python;
  }
  if ([...touched].some((statement) => statement !== root && !gone.has(statement) && holdsOperators(trace, match, statement))) {
    return { reason: 'shared' };
  }
  const edits: TextEdit[] = [...removals(scope.text, at.block, gone), replacing(scope.text, replaced, python)];
  const added = replacement.module === undefined ? undefined : importEdit(scope, replacement.module, runsElsewhere(scope.text));
  return { edits: [...(added === undefined ? [] : [added]), ...edits].sort((a, b) => a.start - b.start), roles: texts.texts, replacement: python };
}

/** The new expression; on a device only, with the portable form for every other, where the file also runs elsewhere. */
function expressionOf(trace: FunctionTrace, match: FusionMatch, texts: RoleTexts, replacement: Replacement, replaced: Expression, alone: boolean): string | { readonly reason: string } {
  const written = replacement.write(texts);
  if ('reason' in written) {
    return written;
  }
  if (replacement.module !== 'torch_npu' || !runsElsewhere(trace.scope.text)) {
    return written.python;
  }
  const portable = match.fusion.replacements?.torch?.write(texts);
  const otherwise = portable !== undefined && 'python' in portable ? portable.python : alone ? trace.scope.text.slice(replaced.start, replaced.end) : undefined;
  return otherwise === undefined ? { reason: 'runs-elsewhere' } : `(${written.python} if ${grouped(texts.text(match.roles.has('x') ? 'x' : 'whole'))}.device.type == "npu" else ${otherwise})`;
}

/** Replaces an expression, brackets around it included when they are no longer needed, added when they are. */
function replacing(text: string, replaced: Expression, python: string): TextEdit {
  const atom = isAtom(python);
  const bracketed = text[replaced.start - 1] === '(' && text[replaced.end] === ')' && !/[\w)\]]/.test(text[replaced.start - 2] ?? '');
  if (atom && bracketed) {
    return { start: replaced.start - 1, end: replaced.end + 1, text: python };
  }
  // Brackets of `(a * b).to(…)` belong to the product's span.
  const spansBrackets = text[replaced.start] === '(' && replaced.kind === 'binary' && replaced.left.start > replaced.start;
  const needed = !atom && (spansBrackets || (replaced.kind !== 'binary' && !bracketed));
  return { start: replaced.start, end: replaced.end, text: needed ? `(${python})` : python };
}

/** No operator outside brackets: an attribute or a call may follow. */
function isAtom(python: string): boolean {
  let depth = 0;
  for (const character of python.startsWith('(') && python.endsWith(')') ? '' : python) {
    depth += '(['.includes(character) ? 1 : ')]'.includes(character) ? -1 : 0;
    if (depth === 0 && character === ' ') {
      return false;
    }
  }
  return true;
}

/** A statement may go when all it does is part of the form, or it reads a dtype or shape into a name. */
function removable(trace: FunctionTrace, own: readonly number[], touched: ReadonlySet<Statement>): (statement: Statement) => boolean {
  const members = new Set(own);
  const { nodes } = trace.graph;
  const wanted = new Set([...touched].flatMap((statement) => nameUses(statement)).map(({ name }) => name));
  const harmless = (node: number): boolean => members.has(node) || ['view', 'shape', 'input', 'parameter'].includes(nodes[node].op);
  const helpers = new Set(own.map((node) => nodes[node].call).filter((call) => call >= 0).map((call) => trace.graph.calls[call].definition).filter(({ file }) => file === trace.scope.file).map(({ start }) => start));
  return (statement) => {
    if (statement.kind === 'function') {
      return helpers.has(statement.start) && statement.decorators.length === 0;
    }
    if (statement.kind !== 'assign') {
      return false;
    }
    if (!touched.has(statement)) {
      return readsOnly(statement.value) && assignedNames(statement)?.every((name) => wanted.has(name)) === true;
    }
    return [...trace.nodes].every(([expression, carried]) => expression.kind !== 'call' || !within(expression, statement) || [...carried].every(harmless));
  };
}

function holdsOperators(trace: FunctionTrace, match: FusionMatch, statement: Statement): boolean {
  return sitesOf(trace.graph, match.operators).some((place) => within(place, statement));
}
