/**
 * Patterns of einops and of `einsum`: what a pattern launches follows from the names of its axes.
 * Sources: einops documentation (rearrange, reduce, repeat, einsum); torch's einsum takes the operands two by two from the left.
 */
import type { Span } from './ast';
import type { Lowering } from './lowering';
import { UNKNOWN, type CallArguments, type Value } from './values';

/** Reductions of `einops.reduce` by name, as operators of the table. */
const REDUCTIONS: Readonly<Record<string, string>> = { mean: 'mean', sum: 'sum', max: 'max', min: 'max', prod: 'prod' };

/** A function or a layer of einops on evaluated arguments; undefined when it is none that launches by a pattern. */
export function einopsCall(lowering: Lowering, name: string, args: CallArguments, span: Span): Value | undefined {
  if (lowering.graph.muted > 0) {
    return undefined;
  }
  const place = lowering.place(span);
  const [input, second, third] = args.positional;
  switch (name) {
    case 'rearrange': case 'Rearrange': case 'repeat': {
      const tensor = input === undefined ? undefined : joined(lowering, input, span);
      // Axes that change places make the reshape copy; einops does not say, so the copy may be absent.
      return tensor === undefined ? UNKNOWN : { kind: 'tensor', node: lowering.graph.emit('view', [tensor], { name: 'reshape' }, place) };
    }
    case 'reduce': case 'Reduce': {
      const tensor = input === undefined ? undefined : joined(lowering, input, span);
      const how = third ?? args.keywords.get('reduction') ?? second;
      const op = how?.kind === 'string' ? REDUCTIONS[how.value] : undefined;
      return tensor === undefined ? UNKNOWN : { kind: 'tensor', node: lowering.graph.emit(op ?? 'mean', [tensor], {}, place) };
    }
    case 'einsum': {
      const pattern = args.positional.find((value) => value.kind === 'string');
      return einsum(lowering, pattern?.kind === 'string' ? spelled(pattern.value) : undefined, args.positional.filter((value) => value.kind !== 'string'), span);
    }
    case 'pack':
      return { kind: 'sequence', open: false, items: [{ kind: 'tensor', node: lowering.graph.emit('cat', tensorsOf(lowering, args.positional, span), {}, place) }, UNKNOWN] };
    default:
      return undefined;
  }
}

/** A list of tensors is stacked before its axes are named. */
function joined(lowering: Lowering, value: Value, span: Span): number | undefined {
  if (value.kind !== 'sequence') {
    return lowering.node(value, span);
  }
  const tensors = tensorsOf(lowering, [value], span);
  return tensors.length === 0 ? undefined : lowering.graph.emit('stack', tensors, {}, lowering.place(span));
}

const tensorsOf = (lowering: Lowering, values: readonly Value[], span: Span): readonly number[] => values.flatMap((value) => (value.kind === 'sequence' ? value.items : [value])).map((value) => lowering.node(value, span)).filter((node): node is number => node !== undefined);

/** `b h i d, b h j d -> b h i j` as `abcd,abed->abce`: names of einops become letters of torch. */
function spelled(pattern: string): string {
  const letters = new Map<string, string>();
  const letter = (name: string): string => {
    const known = letters.get(name) ?? String.fromCodePoint(0x61 + letters.size);
    letters.set(name, known);
    return known;
  };
  return /[\w.]\s+[\w.]/.test(pattern) ? pattern.replace(/\.\.\.|\w+/g, (name) => (name === '...' ? name : letter(name))) : pattern;
}

/**
 * What `einsum` launches: operands are taken in pairs from the left, each pair a batched product where an axis is summed
 * that neither a later operand nor the result has, else an element-wise one. An axis of one operand alone is summed before.
 */
export function einsum(lowering: Lowering, equation: string | undefined, operands: readonly Value[], span: Span): Value {
  const place = lowering.place(span);
  const nodes = tensorsOf(lowering, operands, span);
  if (nodes.length === 0) {
    return UNKNOWN;
  }
  const [left, result] = (equation ?? '').replace(/\s/g, '').split('->');
  const terms = left.replace(/\.\.\./g, '…').split(',');
  if (equation === undefined || terms.length !== nodes.length) {
    return { kind: 'tensor', node: lowering.graph.emit('bmm', nodes.slice(0, 3), {}, place) };
  }
  const kept = (axis: string, from: number): boolean => axis === '…' || (result ?? onceIn(terms)).includes(axis) || terms.slice(from).some((term) => term.includes(axis));
  const summed = (axes: string, from: number, node: number): { readonly axes: string; readonly node: number } => {
    const rest = [...axes].filter((axis) => kept(axis, from)).join('');
    return rest.length === axes.length ? { axes, node } : { axes: rest, node: lowering.graph.emit('sum', [node], {}, place) };
  };
  let value = terms.length === 1 ? summed(terms[0], 1, nodes[0]) : { axes: terms[0], node: nodes[0] };
  for (let i = 1; i < terms.length; i++) {
    const other = terms[i];
    const shared = [...value.axes].filter((axis) => other.includes(axis) && !kept(axis, i + 1));
    const alone = (axes: string, beside: string): string => [...axes].filter((axis) => beside.includes(axis) || kept(axis, i + 1)).join('');
    const operand = (axes: string, beside: string, node: number): number => (alone(axes, beside).length === axes.length ? node : lowering.graph.emit('sum', [node], {}, place));
    const pair = [operand(value.axes, other, value.node), operand(other, value.axes, nodes[i])];
    const axes = [...new Set([...value.axes, ...other])].filter((axis) => kept(axis, i + 1)).join('');
    // Operands of a product are laid out as batch, rows, columns.
    const laidOut = shared.length > 0 ? pair.map((node) => lowering.graph.emit('view', [node], { name: 'permute' }, place)) : pair;
    value = { axes, node: lowering.graph.emit(shared.length > 0 ? 'bmm' : 'mul', laidOut, {}, place) };
  }
  return { kind: 'tensor', node: value.node };
}

/** Without an arrow the result has each axis that occurs once. */
function onceIn(terms: readonly string[]): string {
  const all = terms.join('');
  return [...new Set(all)].filter((axis) => all.indexOf(axis) === all.lastIndexOf(axis)).join('');
}
