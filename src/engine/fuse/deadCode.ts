import type { Expression, Span, Statement } from '../python/ast';
import { nameUses, within, type NameUse } from './names';
import type { FunctionTrace } from './functionTrace';
import type { TextEdit } from './plan';

export interface Block {
  readonly block: readonly Statement[];
  readonly index: number;
}

export interface Removable {
  readonly mayGo: (statement: Statement) => boolean;
  /** Statements of the form: what the new text reads was there before them. */
  readonly touched: ReadonlySet<Statement>;
}

/** Which statements before the replaced expression compute nothing that anyone still reads. */
export function deadStatements(trace: FunctionTrace, { block, index }: Block, replaced: Span, newReads: readonly NameUse[], { mayGo, touched }: Removable): ReadonlySet<Statement> {
  const dead = new Set<Statement>();
  const reads = (statement: Statement): readonly string[] => nameUses(statement).filter((use) => use.kind === 'read' && !(use.at >= replaced.start && use.at < replaced.end)).map(({ name }) => name);
  const used = (name: string, from: number): boolean => {
    const read = newReads.some((use) => use.name === name) && !touched.has(block[from]);
    for (let j = from + 1; j < block.length; j++) {
      const statement = block[j];
      if (dead.has(statement)) {
        continue;
      }
      if (reads(statement).includes(name) || (j === index && read)) {
        return true;
      }
      if (assignedNames(statement)?.includes(name) === true) {
        return false;
      }
    }
    if (block === trace.definition.body) {
      return false;
    }
    // In a branch or a loop: whatever reads the name anywhere else may be reached from here.
    const span = { start: block[from].start, end: block[block.length - 1].end };
    return nameUses(trace.definition.body).some((use) => use.kind === 'read' && use.name === name && !(use.at >= span.start && use.at < span.end));
  };
  for (let i = index - 1; i >= 0; i--) {
    const statement = block[i];
    // A function inside the function is worth what its name is: nothing once the form no longer calls it.
    const names = assignedNames(statement) ?? (statement.kind === 'function' ? [statement.name] : undefined);
    if (names !== undefined && mayGo(statement) && !names.some((name) => used(name, i))) {
      dead.add(statement);
    }
  }
  return dead;
}

/** The names that a plain assignment sets; undefined for every other statement, and where it sets more than names. */
export function assignedNames(statement: Statement): readonly string[] | undefined {
  if (statement.kind !== 'assign' || statement.targets.length !== 1) {
    return undefined;
  }
  const [target] = statement.targets;
  const targets = target.kind === 'sequence' ? target.items : [target];
  const names = targets.flatMap((item) => (item.kind === 'name' ? [item.name] : []));
  return names.length === targets.length ? names : undefined;
}

/** Reading a dtype or a shape into a name: gone without a trace when nobody reads the name. */
export const readsOnly = (value: Expression): boolean => (value.kind === 'attribute' ? readsOnly(value.object) : value.kind === 'name');

/** Edits that take statements out: whole lines where nothing else stands on them. */
export function removals(text: string, block: readonly Statement[], dead: ReadonlySet<Statement>): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  for (let i = 0; i < block.length; i++) {
    if (!dead.has(block[i])) {
      continue;
    }
    let last = i;
    while (last + 1 < block.length && dead.has(block[last + 1]) && /^[ \t]*;[ \t]*$/.test(text.slice(block[last].end, block[last + 1].start))) {
      last++;
    }
    const lineStart = Math.max(text.lastIndexOf('\n', block[i].start - 1), text.lastIndexOf('\r', block[i].start - 1)) + 1;
    const rest = /^[ \t]*;?[ \t]*(#[^\r\n]*)?(\r\n|\n|\r|$)/.exec(text.slice(block[last].end));
    if (rest !== null && /^[ \t]*$/.test(text.slice(lineStart, block[i].start))) {
      const end = block[last].end + rest[0].length;
      // The empty line behind a function goes with it.
      const blank = block[last].kind === 'function' ? /^[ \t]*(?:\r?\n|\r)/.exec(text.slice(end))?.[0].length ?? 0 : 0;
      edits.push({ start: lineStart, end: end + blank, text: '' });
    } else if (last + 1 < block.length && (i === 0 || !/[\r\n]/.test(text.slice(block[last].end, block[last + 1].start)))) {
      // The first statement on the line of a header has nothing before it: the next one takes its place.
      edits.push({ start: block[i].start, end: block[last + 1].start, text: '' });
    } else {
      edits.push({ start: block[i - 1].end, end: block[last].end, text: '' });
    }
    i = last;
  }
  return joined(edits);
}

/** Neighbouring removals as one, so that an edit list stays short. */
function joined(edits: readonly TextEdit[]): readonly TextEdit[] {
  const result: TextEdit[] = [];
  for (const edit of edits) {
    const before = result.at(-1);
    if (before !== undefined && before.end === edit.start) {
      result[result.length - 1] = { ...before, end: edit.end };
    } else {
      result.push(edit);
    }
  }
  return result;
}

/** Statements of the function that hold any of these spans, found at the level of `block`; undefined when one lies elsewhere. */
export function statementsHolding(block: readonly Statement[], spans: readonly Span[]): ReadonlySet<Statement> | undefined {
  const holding = new Set<Statement>();
  for (const span of spans) {
    const statement = block.find((candidate) => within(span, candidate));
    if (statement === undefined) {
      return undefined;
    }
    holding.add(statement);
  }
  return holding;
}
