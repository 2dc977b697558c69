import type { Expression, Statement } from '../python/ast';
import type { FusionMatch, NumberRole } from '../fusions/matchGraph';
import type { Place } from '../python/operatorGraph';
import type { BoundForm } from '../fusions/fusion';
import { assignedNames } from './deadCode';
import { statementAt, type FunctionTrace } from './functionTrace';
import type { MatchFacts } from './matchFacts';
import { findExpression, nameUses, within, type NameUse } from './names';

/** Roles of a match as Python text that means the same where the replaced expression stands. */
export class RoleTexts implements BoundForm {
  readonly form: string;
  readonly fp32Result: boolean;
  readonly roundedAfter: boolean;
  readonly mode: string | undefined;
  /** `fuse.reason.<failure>` of the first role that cannot be quoted. */
  failure: string | undefined;
  /** Names the texts read. */
  readonly reads: NameUse[] = [];
  private readonly known = new Map<string, string>();

  constructor(
    private readonly trace: FunctionTrace, private readonly match: FusionMatch, private readonly facts: MatchFacts, readonly functional: string,
    private readonly replaced: Expression, private readonly gone: ReadonlySet<Statement>,
  ) {
    this.form = match.form;
    this.fp32Result = facts.fp32Result;
    this.roundedAfter = facts.roundedAfter;
    this.mode = match.operators.map((node) => trace.graph.nodes[node].attributes.mode).find((mode) => mode !== undefined);
  }

  text(role: string): string {
    let text = this.known.get(role);
    if (text === undefined) {
      const node = role === 'whole' ? this.wholeOf() : this.facts.values.get(role);
      text = node === undefined ? this.fail(this.facts.ambiguous.includes(role) ? 'role-ambiguous' : 'value-not-named') : this.textOf(node);
      this.known.set(role, text);
    }
    return text;
  }

  eps(): string {
    const numbers = [...this.match.roles.values()].filter((role): role is NumberRole => role.kind === 'number');
    return numbers.length === 1 ? this.numberText(numbers[0]) : this.fail('number-not-named');
  }

  get gateHalf(): 0 | 1 | undefined {
    const { nodes } = this.trace.graph;
    const halves = this.halves();
    const gate = halves.find(({ part }) => nodes.some((node) => this.match.nodes.includes(node.id) && ACTIVATIONS.has(node.op) && node.inputs.includes(part)));
    return halves.length === 2 && halves[0].whole === halves[1].whole && halves[0].index !== halves[1].index ? gate?.index : undefined;
  }

  untransposed(role: string): string {
    const node = this.facts.values.get(role);
    const view = node === undefined ? undefined : this.trace.graph.nodes[node];
    if (view?.op !== 'view' || !/\.(transpose\(\s*(2,\s*3|3,\s*2|-1,\s*-2|-2,\s*-1)\s*\)|mT)$/.test(this.sourceOf(view.id))) {
      return this.fail('not-transposed');
    }
    return this.textOf(view.inputs[0]);
  }

  sources(op: string, operand = 0): readonly string[] {
    const { nodes } = this.trace.graph;
    return this.match.nodes.filter((node) => nodes[node].op === op).flatMap((node) => nodes[node].inputs.slice(operand, operand + 1)).map((input) => {
      const part = /^(?:chunk|split|unbind|tensor_split) (\d+)$/.exec(nodes[input].attributes.name ?? '')?.[1];
      return part === undefined ? this.anywhere(input) : `${this.anywhere(input)}#${part}`;
    });
  }

  /** Texts found so far, for people. */
  get texts(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.known].filter(([, text]) => text !== ''));
  }

  /** Nodes and place of the split whose halves the form reads. */
  get split(): { readonly nodes: readonly number[]; readonly place: Place } | undefined {
    const halves = this.gateHalf === undefined ? [] : this.halves();
    return halves.length === 0 ? undefined : { nodes: [halves[0].whole, ...halves.map(({ part }) => part)], place: this.trace.graph.nodes[halves[0].part].place };
  }

  /** The tensor whose halves the two tensor roles are. */
  private wholeOf(): number | undefined {
    return this.gateHalf === undefined ? undefined : this.halves()[0].whole;
  }

  /** Parts of a split in two that the form reads. */
  private halves(): readonly { readonly part: number; readonly whole: number; readonly index: 0 | 1 }[] {
    const { nodes } = this.trace.graph;
    const parts = new Set(this.match.nodes.flatMap((node) => nodes[node].inputs).filter((input) => nodes[input].op === 'view'));
    return [...parts].flatMap((part) => {
      const index = /^chunk ?([01])$/.exec(nodes[part].attributes.name ?? '')?.[1];
      const split = nodes[part].inputs[0];
      return index !== undefined && /\bchunk\((\w+,\s*)?2,\s*(dim\s*=\s*)?-1\)$/.test(this.sourceOf(part)) ? [{ part, whole: split, index: index === '0' ? 0 as const : 1 as const }] : [];
    });
  }

  private sourceOf(node: number): string {
    const { place } = this.trace.graph.nodes[node];
    return place.file === this.trace.scope.file ? this.trace.scope.text.slice(place.start, place.end) : '';
  }

  /** Text of what makes a node, in a helper of another file too: to be read, not to be written here. */
  private anywhere(node: number): string {
    const { place } = this.trace.graph.nodes[node];
    const { scope, program } = this.trace;
    const text = place.file === scope.file ? scope.text : [...(program.modules?.() ?? [])].find(({ file }) => file === place.file)?.text;
    return text?.slice(place.start, place.end) ?? '';
  }

  private textOf(node: number): string {
    const candidates = this.trace.expressions.get(node) ?? [];
    const named = candidates.filter(isPath).find((expression) => this.stillMeans(expression));
    // A longer expression may move only within the expression it stands in, or past code that goes.
    const chosen = named ?? candidates.find((expression) => expression !== this.replaced && (within(expression, this.replaced) || this.passesOnlyGone(expression)) && this.stillMeans(expression));
    if (chosen === undefined) {
      return this.fail(candidates.some(isPath) ? 'value-overwritten' : 'value-not-named');
    }
    this.reads.push(...nameUses(chosen));
    return this.trace.scope.text.slice(chosen.start, chosen.end);
  }

  /** Whether the statement of an expression goes, and all that lie between it and the replaced one. */
  private passesOnlyGone(expression: Expression): boolean {
    const at = statementAt(this.trace.definition, expression);
    const between = at?.block.slice(at.index).filter((statement) => statement.end <= this.replaced.start) ?? [];
    return between.length > 0 && between.every((statement) => this.gone.has(statement));
  }

  /** Whether an expression, moved to the replaced one's place, still has the value it has where it stands. */
  private stillMeans(expression: Expression): boolean {
    const body = nameUses(this.trace.definition.body);
    const wentBefore = [...this.gone].filter((statement) => statement.end <= expression.start);
    const before = statementAt(this.trace.definition, this.replaced);
    const limit = before === undefined ? this.replaced.start : before.block[before.index].start;
    const inGone = (at: number): boolean => [...this.gone].some((statement) => within({ start: at, end: at }, statement));
    return nameUses(expression).filter(({ kind }) => kind === 'read').every(({ name }) => {
      const between = body.some((use) => use.kind === 'write' && use.name === name && use.at > expression.start && use.at < limit && !inGone(use.at));
      const last = body.filter((use) => use.kind === 'write' && use.name === name && use.at < expression.start).sort((a, b) => b.at - a.at)[0];
      const lost = last !== undefined && wentBefore.some((statement) => assignedNames(statement)?.includes(name) === true && within({ start: last.at, end: last.at }, statement));
      return !between && !lost;
    });
  }

  /** The number as it is written where the form uses it; what it was set to elsewhere may differ for each object. */
  private numberText(role: NumberRole): string {
    const { definition, scope, graph } = this.trace;
    const user = this.match.operators.map((node) => graph.nodes[node]).find(({ attributes }) => attributes.scalar !== undefined && (role.place === undefined ? Object.is(attributes.scalar, role.value) : attributes.scalarPlace?.start === role.place.start));
    const written = user === undefined || user.place.file !== scope.file ? undefined : numberOperand(findExpression(scope.module.body, user.place));
    if (written === undefined) {
      return this.fail('number-not-named');
    }
    const text = scope.text.slice(written.start, written.end);
    const known = written.kind === 'number' || (within(written, definition) ? this.stillMeans(written) : /^self\.\w+$/.test(text));
    if (!known || nameUses(written).length > 1 || /[({]/.test(text)) {
      return this.fail('number-not-named');
    }
    this.reads.push(...nameUses(written));
    this.known.set('number', text);
    return text;
  }

  private fail(reason: string): string {
    this.failure ??= reason;
    return '';
  }
}

/** The operand that is a number: the last argument of a call, or the side of `y + eps` that is shorter to say. */
function numberOperand(expression: Expression | undefined): Expression | undefined {
  if (expression?.kind === 'call') {
    return expression.args.at(-1)?.value;
  }
  if (expression?.kind !== 'binary') {
    return undefined;
  }
  const { left, right } = expression;
  return left.kind === 'number' || (right.kind === 'binary' || right.kind === 'call') ? left : right;
}

/** What makes one half of a split the gate. */
const ACTIVATIONS: ReadonlySet<string> = new Set(['silu', 'gelu', 'sigmoid']);

/** `x`, `self.weight`: reading it again costs nothing and means the same. */
function isPath(expression: Expression): boolean {
  return expression.kind === 'name' || (expression.kind === 'attribute' && isPath(expression.object));
}
