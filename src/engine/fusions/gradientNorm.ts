import type { OperatorGraph } from '../python/operatorGraph';
import type { Fusion } from './fusion';

const PASSES: ReadonlySet<string> = new Set(['view', 'cast', 'copy', 'phi', 'hole', 'input']);

/** One of many gradients or parameters: an item of a loop or a list, with a name on the way to it that says so. The norm of an activation is something else. */
function isOneOfMany({ nodes }: OperatorGraph, operators: readonly number[]): boolean {
  const seen = new Set<number>();
  const pending = operators.filter((operator) => nodes[operator].op === 'vectorNorm').flatMap((operator) => nodes[operator].inputs);
  let item = false;
  let named = false;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (!seen.has(at) && PASSES.has(nodes[at].op)) {
      seen.add(at);
      const name = nodes[at].attributes.name ?? '';
      item ||= nodes[at].op === 'view' && /^item\b/.test(name);
      named ||= /grad|param/i.test(name);
      pending.push(...nodes[at].inputs);
    }
  }
  return item && named;
}

/** A norm for each gradient tensor on its own, where one call over the list does. */
export const gradientNorm: Fusion = {
  id: 'gradient-norm', title: 'Gradient norm per tensor', family: 'optimizer', kind: 'fusion', minimumPerStep: 8, meant: isOneOfMany,
  forms: [
    { name: 'vector norm', python: 'def eager(grad):\n    return torch.linalg.vector_norm(grad)\n' },
    { name: 'norm and power', python: 'def eager(grad):\n    return torch.linalg.vector_norm(grad) ** 2\n' },
  ],
};
