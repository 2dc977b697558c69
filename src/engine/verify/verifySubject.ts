import type { Parser } from 'web-tree-sitter';
import type { VerifySubject } from '../../protocol/verify';
import type { FuseBackend, Fusion } from '../fusions/fusion';
import { functionsOf, traceFunction } from '../fuse/functionTrace';
import { applyEdits, type FusePlan } from '../fuse/plan';
import { planFusions } from '../fuse/planFusions';
import { LineIndex } from '../python/lineIndex';
import type { ModuleScope, Program } from '../python/program';

export interface VerifyQuestion {
  readonly backend: FuseBackend;
  /** From 1, in the fused text where one is given, else in the original. */
  readonly line: number;
  /** The module after the fuse, when it has been applied already; its scope under the same name. */
  readonly fused?: ModuleScope;
  /** Fusions of the workspace's own, beside the catalogue. */
  readonly fusions?: readonly Fusion[];
  /** Reasons that shall not hold an edit back. */
  readonly allow?: readonly string[];
}

/** What to run side by side; or why there is nothing (`verify.failure.<code>`). */
export type VerifyChoice = { readonly subject: VerifySubject } | { readonly code: 'nothing-here' | 'too-long-here' | 'several-here' | 'not-fusable' | 'no-function-here'; readonly reason: string | undefined; readonly place?: string; /** Where the function's forms begin, for `several-here`. */ readonly lines?: readonly number[] };

/**
 * `original` must be a module of `program`. Takes the plan of the line; of several there, the one that begins closest above.
 * A line beside the forms stands for its function, where that has one form.
 */
export function verifySubject(original: ModuleScope, program: Program, parser: Parser, { backend, line, fused, fusions = [], allow = [] }: VerifyQuestion): VerifyChoice {
  const plans = planFusions(original, program, backend, parser, { fusions, allow });
  if (fused !== undefined) {
    return appliedSubject(original, plans, fused, line, backend);
  }
  const at = plans.filter((plan) => plan.startLine <= line && line <= plan.endLine);
  const here = at.length > 0 ? at : inFunction(original, plans, line);
  const starts = [...new Set(here.map(({ startLine }) => startLine))];
  if (at.length === 0 && starts.length > 1) {
    return { code: 'several-here', reason: undefined, lines: starts };
  }
  const [plan] = here.filter((one) => changesOf(one).length > 0).sort((a, b) => b.startLine - a.startLine);
  if (plan === undefined) {
    return here.length === 0 ? { code: isCut(original, program, line) ? 'too-long-here' : 'nothing-here', reason: undefined } : { code: 'not-fusable', reason: here[0].reason, ...(here[0].reasonPlace === undefined ? {} : { place: here[0].reasonPlace }) };
  }
  return { subject: subjectOf(original, plan, applyEdits(original.text, changesOf(plan))) };
}

/** The function that a line lies in, its decorators and its `def` included. */
function functionAt(scope: ModuleScope, line: number): { readonly found: ReturnType<typeof functionsOf>[number]; readonly startLine: number; readonly endLine: number } | undefined {
  const lines = new LineIndex(scope.text);
  return functionsOf(scope).map((found) => ({ found, startLine: lines.line(found.definition.start), endLine: lines.line(Math.max(found.definition.start, found.definition.end - 1)) })).find(({ startLine, endLine }) => startLine <= line && line <= endLine);
}

function inFunction(scope: ModuleScope, plans: readonly FusePlan[], line: number): readonly FusePlan[] {
  const around = functionAt(scope, line);
  return around === undefined ? [] : plans.filter(({ startLine, endLine }) => around.startLine <= startLine && endLine <= around.endLine);
}

/** Whether the function at a line is so long that its end was not looked at. */
function isCut(scope: ModuleScope, program: Program, line: number): boolean {
  const around = functionAt(scope, line)?.found;
  return around !== undefined && traceFunction(program, scope, around.definition, around.owner).graph.cut;
}

/** Edits of the file, or those a patch module would make of an installed one. */
const changesOf = ({ edits, patch }: FusePlan): FusePlan['edits'] => (edits.length > 0 ? edits : patch);

function subjectOf({ file, text }: ModuleScope, plan: FusePlan, fused: string): VerifySubject {
  const { functionName, startLine, endLine, fusion, backend, promise, roles } = plan;
  return { file, function: functionName, startLine, endLine, fusion: fusion.id, backend, promise: promise ?? 'rounding', original: text, fused, roles };
}

/** A fuse that stands in the text: found again in the text before it, by the function and by what was written. */
function appliedSubject(original: ModuleScope, plans: readonly FusePlan[], fused: ModuleScope, line: number, backend: FuseBackend): VerifyChoice {
  const lines = new LineIndex(fused.text);
  const around = functionsOf(fused).find(({ definition }) => lines.line(definition.start) <= line && line <= lines.line(definition.end));
  if (around === undefined) {
    return { code: 'no-function-here', reason: undefined };
  }
  const name = around.owner === undefined ? around.definition.name : `${around.owner.name}.${around.definition.name}`;
  const body = fused.text.slice(around.definition.start, around.definition.end);
  const own = plans.filter((plan) => plan.functionName === name && changesOf(plan).length > 0);
  const plan = own.find(({ replacement }) => replacement !== undefined && body.includes(replacement)) ?? own[0];
  if (plan !== undefined) {
    return { subject: subjectOf(original, plan, fused.text) };
  }
  const changed = functionsOf(original).find(({ definition, owner }) => definition.name === around.definition.name && owner?.name === around.owner?.name);
  if (changed === undefined || original.text === fused.text) {
    return { code: 'nothing-here', reason: undefined };
  }
  // Changed by hand: what is promised of fused operators in general.
  const before = new LineIndex(original.text);
  return { subject: { file: original.file, function: name, startLine: before.line(changed.definition.start), endLine: before.line(changed.definition.end), fusion: 'none', backend, promise: 'rounding', original: original.text, fused: fused.text, roles: {} } };
}
