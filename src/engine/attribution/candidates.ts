/**
 * Functions that a run may have started from, with the automata of what they launch: the forward of each class that no
 * other class of its file builds, and of the layers below it. A cheap filter by runs of three operators picks those worth aligning.
 */
import type { Parser } from 'web-tree-sitter';
import { lowerForm } from '../chains/patterns';
import type { TokenNames } from '../chains/kernelSequence';
import { canonicalOperator } from '../chains/kernelSequence';
import { FUSIONS } from '../fusions';
import { loweredForm, matchFusions, type LoweredForm } from '../fusions/matchGraph';
import { onCuda } from '../operators/kernelToken';
import type { ClassDefinition, FunctionDefinition } from '../python/ast';
import { lowerFunction } from '../python/lowering';
import type { OperatorGraph } from '../python/operatorGraph';
import type { ModuleScope, Program } from '../python/program';
import { automatonOf, operatorWeight, type Automaton } from './automaton';

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
export function candidatesOf(program: Program, scopes: Iterable<ModuleScope>, minimum = 4): readonly Candidate[] {
  const candidates: Candidate[] = [];
  const texts = new Map([...scopes].map((scope) => [scope.file, scope.text]));
  const sources = (file: string): string | undefined => texts.get(file);
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

export function candidateOf(program: Program, scope: ModuleScope, definition: FunctionDefinition, owner: ClassDefinition | undefined, sources: (file: string) => string | undefined): Candidate {
  const graph = lowerFunction(program, scope, definition, owner);
  const tokens: string[] = [];
  // All branches in order of their nodes: the filter must not depend on which one ran.
  graph.nodes.forEach((node) => {
    if (operatorWeight(node.op) >= 0.4 && !['input', 'parameter', 'view', 'phi', 'shape', 'hole', 'hostRead'].includes(node.op)) {
      tokens.push(canonicalOperator(node.op));
    }
  });
  return { scope, owner, definition, graph, grams: trigrams(tokens), weight: tokens.length, sources };
}

export function trigrams(tokens: readonly string[]): ReadonlySet<string> {
  const grams = new Set<string>();
  for (let i = 0; i + 2 < tokens.length; i++) {
    grams.add(`${tokens[i]} ${tokens[i + 1]} ${tokens[i + 2]}`);
  }
  return grams;
}

/** Candidates by how much of the region's rare operator runs they hold, the best `limit` and all ties of the last. */
export function prefilter(candidates: readonly Candidate[], region: readonly string[], cuda: boolean, limit: number): readonly Candidate[] {
  const wanted = new Map<string, number>();
  const weighty = region.filter((op) => operatorWeight(op) >= 0.4);
  for (let i = 0; i + 2 < weighty.length; i++) {
    const gram = `${weighty[i]} ${weighty[i + 1]} ${weighty[i + 2]}`;
    wanted.set(gram, (wanted.get(gram) ?? 0) + 1);
  }
  const grams = candidates.map((candidate) => (cuda ? new Set([...candidate.grams].map((gram) => gram.split(' ').map((op) => canonicalOperator(onCuda(op))).join(' '))) : candidate.grams));
  const holders = new Map<string, number>();
  grams.forEach((set) => set.forEach((gram) => holders.set(gram, (holders.get(gram) ?? 0) + 1)));
  const scored = candidates.map((candidate, i) => {
    let score = 0;
    grams[i].forEach((gram) => {
      const count = wanted.get(gram);
      if (count !== undefined) {
        score += Math.log(1 + candidates.length / (holders.get(gram) ?? 1)) * Math.log(1 + count);
      }
    });
    return { candidate, score };
  }).filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  const threshold = scored[Math.min(limit, scored.length) - 1]?.score ?? 0;
  return scored.filter(({ score }, i) => i < limit || score >= threshold * 0.999).slice(0, limit * 4).map(({ candidate }) => candidate);
}

/** The catalogue's forms, lowered once per parser. */
export function catalogueForms(parser: Parser): readonly LoweredForm[] {
  return FUSIONS.flatMap((fusion) => fusion.forms.map((form) => loweredForm(fusion, form.name, lowerForm(parser, form.python).graph)).filter((form): form is LoweredForm => form !== undefined));
}

export function automatonFor(candidate: Candidate, names: TokenNames, cuda: boolean, forms: readonly LoweredForm[]): Automaton {
  return automatonOf(candidate.graph, names, { cuda, matches: matchFusions(candidate.graph, forms) });
}

