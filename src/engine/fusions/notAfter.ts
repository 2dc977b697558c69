import { canonicalGraph } from './canonicalGraph';
import type { FusionMatch } from './matchGraph';
import type { OperatorGraph, OperatorNode } from '../python/operatorGraph';

const PASSES: ReadonlySet<string> = new Set(['view', 'cast', 'copy', 'phi']);

/**
 * `EagerForm.notAfter` in the source: whether a value that the form's last operator takes as it is comes straight from an
 * operator that the form does not follow, called as such or spelled out (a match among `others`).
 */
export function followsAnother(graph: OperatorGraph, match: FusionMatch, others: readonly FusionMatch[]): boolean {
  const tokens = match.fusion.forms.find(({ name }) => name === match.form)?.notAfter ?? [];
  if (tokens.length === 0) {
    return false;
  }
  const spelledOut = new Set(others.filter(({ fusion }) => fusion.fused?.some((token) => tokens.includes(token)) === true).flatMap(({ operators }) => operators));
  const roles = new Set([...match.roles.values()].flatMap((role) => (role.kind === 'tensor' ? [role.node] : [])));
  const pending = canonicalGraph(graph).nodes[Math.max(...match.operators)].inputs.filter((input) => roles.has(input));
  const seen = new Set<number>();
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const node = graph.nodes[at];
    if (spelledOut.has(at) || tokens.includes(tokenOf(node) ?? '')) {
      return true;
    }
    if (!seen.has(at) && PASSES.has(node.op)) {
      seen.add(at);
      pending.push(...node.inputs);
    }
  }
  return false;
}

/** The token of what runs there. A call that is not known by more than its name is a hole with that name. */
function tokenOf({ op, attributes }: OperatorNode): string | undefined {
  if (op !== 'hole') {
    return op === 'rmsNorm' ? 'fused.rmsNorm' : op;
  }
  const name = attributes.name ?? '';
  return /rms_?norm/i.test(name) ? 'fused.rmsNorm' : /layer_?norm/i.test(name) ? 'layerNorm' : undefined;
}
