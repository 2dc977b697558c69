/** Pieces of replacement text that several fusions share. */
import type { BoundForm, Written } from './fusion';

/** x as the fused operator shall read it: in fp32 when the source leaves the result there. */
export const operand = (bound: BoundForm, role: string): string => (bound.fp32Result && !bound.roundedAfter ? float(bound.text(role)) : bound.text(role));

/** Text as one operand of an attribute or a call on it. */
export function grouped(text: string): string {
  return /^[\w.]+$/.test(text) || (/^[\w.]+\([^()]*\)$/.test(text)) ? text : `(${text})`;
}

/** Converts to fp32, once. */
export const float = (text: string): string => (/\.float\(\)$/.test(text) ? text : `${grouped(text)}.float()`);

/** Names may be written twice; anything else would be computed twice. */
export const isName = (text: string): boolean => /^[A-Za-z_][\w.]*$/.test(text);

/** The last dimension of x, as a shape. */
export function lastDimension(bound: BoundForm, weight?: string): string | undefined {
  const x = bound.text('x');
  if (isName(x)) {
    return `${x}.shape[-1:]`;
  }
  return weight !== undefined && isName(weight) ? `${weight}.shape` : undefined;
}

export const python = (text: string | undefined): Written => (text === undefined ? { reason: 'value-not-named' } : { python: text });
