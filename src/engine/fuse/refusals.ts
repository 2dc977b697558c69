import { canonicalGraph } from '../fusions/canonicalGraph';
import type { FusionMatch } from '../fusions/matchGraph';
import type { Statement } from '../python/ast';
import { decoratorName } from '../python/scopes';
import type { FunctionTrace } from './functionTrace';
import type { MatchFacts } from './matchFacts';
import { sitesOf } from './matchFacts';
import { regionsOf, type RegionKind } from './regions';
import { subclassesOf } from './subclasses';

/** Reductions whose dimension must be read from the source: `mean(dim)` may be any. */
const REDUCTIONS: ReadonlySet<string> = new Set(['mean', 'sum', 'softmax']);

/** Reasons that are a judgement about where code runs: a user who knows better can waive them. With the caution that stays. */
export const WAIVABLE: ReadonlyMap<string, string> = new Map([['compiled', 'compile'], ['autocast', 'autocast'], ['dtensor', 'dtensor'], ['checkpoint-policy', 'checkpoint-policy']]);

export interface Refusal {
  /** `fuse.reason.<reason>`. */
  readonly reason: string;
  /** `train.py:12`, where the reason stands in another statement of the workspace. */
  readonly place: string | undefined;
}

/**
 * What forbids an edit whatever the fusion is, undefined when nothing does; and which waived reasons would have. Only what is
 * read from the source counts; a file that mentions DTensor or an operator-naming checkpoint policy is taken at its word.
 */
export function refusal(trace: FunctionTrace, match: FusionMatch, facts: MatchFacts, waived: ReadonlySet<string>): { readonly refusal: Refusal | undefined; readonly waived: readonly string[] } {
  const { scope, graph, owner, definition } = trace;
  const { nodes } = graph;
  const members = match.nodes.map((node) => nodes[node]);
  const body = scope.text.slice(definition.start, definition.end);
  const elsewhere = regionsOf(trace.program, { scope, definition: owner ?? definition }, definition.name);
  const checks: readonly (readonly [string, () => boolean])[] = [
    ['notebook', () => scope.file.endsWith('.ipynb')],
    ['compiled', () => isCompiled(trace)],
    ['autocast', () => members.some((node) => /autocast/.test(node.attributes.context ?? '')) || [...definition.decorators, ...(owner?.decorators ?? [])].some((decorator) => /\b(autocast|custom_fwd)\b/.test(scope.text.slice(decorator.start, decorator.end)))],
    ['in-place', () => members.some((node) => node.attributes.inPlace === true) || changedMeanwhile(trace, match, facts)],
    ['hooks', () => /\.(register_hook|retain_grad|register_multi_grad_hook)\(/.test(body) || /\bregister_(forward|full_backward)(_pre)?_hook\(/.test(scope.text)],
    ['dtensor', () => /\b(DTensor|distribute_tensor|parallelize_module|to_local\(|from_local\()/.test(scope.text)],
    ['checkpoint-policy', () => /\b(CheckpointPolicy|create_selective_checkpoint_contexts)\b/.test(scope.text)],
    ['overridden', () => overridden(trace, match)],
    ['shared', () => match.shared.some((node) => nodes[node].op !== 'cast' && nodes[node].op !== 'view' && node !== facts.inner.id && leaks(trace, match, node))],
    ['no-keepdim', () => members.some((node) => (node.op === 'mean' || node.op === 'sum') && node.attributes.keepdim !== true)],
    ['dimension-unknown', () => members.some((node) => REDUCTIONS.has(node.op) && node.attributes.dims?.join() !== '-1')],
    ['constant-unknown', () => unreadConstant(trace, match)],
    ['cast-unknown', () => facts.unknownCast],
    ['control-flow', () => sitesOf(graph, facts.own).some((place) => place.file !== scope.file)],
    ['compiled-there', () => elsewhere.has('compiled')], ['autocast-there', () => elsewhere.has('autocast')], ['dtensor-there', () => elsewhere.has('dtensor')],
  ];
  if (owner === undefined && definition.body.length === 0) {
    return { refusal: { reason: 'control-flow', place: undefined }, waived: [] };
  }
  const passed: string[] = [];
  for (const [reason, applies] of checks) {
    if (!applies()) {
      continue;
    }
    if (!waived.has(reason.replace(/-there$/, ''))) {
      return { refusal: { reason, place: elsewhere.get(reason.replace(/-there$/, '') as RegionKind) }, waived: passed };
    }
    passed.push(reason.replace(/-there$/, ''));
  }
  return { refusal: undefined, waived: passed };
}

/** A value that the form reads is changed in place after the form began, under this name or another: the fused operator would read it later. */
function changedMeanwhile({ graph }: FunctionTrace, match: FusionMatch, facts: MatchFacts): boolean {
  const { behind } = canonicalGraph(graph);
  const read = new Set([...match.roles.values()].flatMap((role) => (role.kind === 'tensor' ? [behind[role.node]] : [])));
  const began = Math.min(...match.operators);
  return graph.nodes.some(({ id, op, inputs, attributes }) => id > began && id < facts.inner.id && !match.nodes.includes(id) && (attributes.inPlace === true || op === 'indexPut') && inputs.length > 0 && read.has(behind[inputs[0]]));
}

/** A number of the form that the source does not give, and that is not one of its roles: 1.702 must be 1.702. */
function unreadConstant({ graph }: FunctionTrace, match: FusionMatch): boolean {
  const roles = new Set([...match.roles.values()].map((role) => (role.kind === 'number' ? role.place?.start ?? 'nowhere' : 'tensor')));
  return match.operators.some((node) => {
    const { scalar, scalarPlace } = graph.nodes[node].attributes;
    return scalar !== undefined && Number.isNaN(scalar) && !roles.has(scalarPlace?.start ?? 'nowhere');
  });
}

/** Whether a value reaches something outside the form; a view of it on the way back into the form is no such thing. */
function leaks({ graph }: FunctionTrace, match: FusionMatch, from: number): boolean {
  const members = new Set(match.nodes);
  const pending = [from];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const at = node;
    if (graph.outputs.includes(at)) {
      return true;
    }
    for (const user of graph.nodes.filter(({ inputs }) => inputs.includes(at))) {
      if (user.op === 'view' && !members.has(user.id)) {
        pending.push(user.id);
      } else if (!members.has(user.id)) {
        return true;
      }
    }
  }
  return false;
}

/** Decorated by `torch.compile` or `torch.jit`, or handed to them somewhere in the file. */
function isCompiled({ scope, owner, definition }: FunctionTrace): boolean {
  const decorated = [...definition.decorators, ...(owner?.decorators ?? [])].map((decorator) => decoratorName(decorator) ?? '');
  const text = [...definition.decorators, ...(owner?.decorators ?? [])].map((decorator) => scope.text.slice(decorator.start, decorator.end));
  const names = [definition.name === 'forward' ? undefined : definition.name, owner?.name].filter((name): name is string => name !== undefined);
  return decorated.some((name) => /(^|\.)(compile|script|script_method|script_if_tracing)$/.test(name)) || text.some((decorator) => /\b(torch\.compile|jit\.script|compile_wrapper|jit_fuser)\b/.test(decorator))
    || names.some((name) => new RegExp(`torch\\.(compile|jit\\.script)\\(\\s*(self\\.)?${name}\\b`).test(scope.text));
}

/** A helper method of the form that a subclass, in this file or another of the workspace, has of its own: the edit would pass by it. */
function overridden({ graph, owner, scope, program }: FunctionTrace, match: FusionMatch): boolean {
  const helpers = new Set(match.nodes.map((node) => graph.nodes[node].call).filter((call) => call >= 0).map((call) => graph.calls[call].callee.split('.').at(-1)));
  if (owner === undefined || helpers.size === 0) {
    return false;
  }
  return subclassesOf(program, scope, owner).some(({ definition }) => definition.body.some((statement: Statement) => statement.kind === 'function' && helpers.has(statement.name)));
}
