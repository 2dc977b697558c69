import type { LayerKind } from './dimensions';
import { LAYERS } from './dimensions';

/** A parameter tensor: shape, and fp32 where mixed precision leaves it in fp32. */
export interface Parameter { readonly shape: string; readonly fp32: boolean }

/**
 * What FSDP gathers and scatters at once. Times are the pure transfer in microseconds: small messages run slower, the two
 * vocabulary matrices (634 MB in bf16) take the 24 ms of figure 14.
 */
export interface Unit {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly gatherUs: number;
  readonly scatterUs: number;
  readonly megabytes: number;
}

const half = (...shapes: readonly string[]): Parameter[] => shapes.map((shape) => ({ shape, fp32: false }));
const full = (...shapes: readonly string[]): Parameter[] => shapes.map((shape) => ({ shape, fp32: true }));

const MLP = half('2048,6144', '2048,6144', '6144,2048');
const LINEAR_MIXER = half('2048', '2048', '2048,8192', '2048,32', '4,6144', '2048,2048');
const LINEAR_SMALL = full('16', '16', '128');
const FULL_MIXER = half('2048', '2048', '2048,4096', '2048,512', '2048,512', '256', '256', '2048,2048');

function unit(name: string, parameters: readonly Parameter[], gatherUs: number, scatterUs: number): Unit {
  const elements = (shape: string): number => shape.split(',').reduce((product, n) => product * Number(n), 1);
  const bytes = parameters.reduce((sum, p) => sum + elements(p.shape) * (p.fp32 ? 4 : 2), 0);
  return { name, parameters, gatherUs, scatterUs, megabytes: bytes / 1e6 };
}

/** Layers that FSDP handles together, and the units it cuts them into, in order of use. */
export interface LayerGroup { readonly layers: readonly number[]; readonly units: readonly Unit[] }

function layerUnits(kind: LayerKind, index: number): readonly Unit[] {
  const mlp = unit(`layers.${index}.mlp`, MLP, 4300, 7400);
  return kind === 'linear'
    ? [unit(`layers.${index}.mixer`, LINEAR_MIXER, 2500, 4300), unit(`layers.${index}.scalars`, LINEAR_SMALL, 24, 26), mlp]
    : [unit(`layers.${index}.attention`, FULL_MIXER, 2100, 3700), mlp];
}

/** Baseline: mixer, its fp32 scalars and MLP apart. 18 × 3 + 6 × 2 + 3 = 69 units, so 4 × 69 gathers and 2 × 69 scatters a step. */
export const FINE_GROUPS: readonly LayerGroup[] = LAYERS.map((kind, index) => ({ layers: [index], units: layerUnits(kind, index) }));

/** Optimized: four layers at once (the aggregated blocks of figure 18). */
export const COARSE_GROUPS: readonly LayerGroup[] = [0, 4, 8, 12, 16, 20].map((start) => {
  const layers = [start, start + 1, start + 2, start + 3];
  const parameters = layers.flatMap((index) => layerUnits(LAYERS[index], index).flatMap((u) => u.parameters));
  return { layers, units: [unit(`layers.${start}-${start + 3}`, parameters, 15100, 21300)] };
});

export interface EndUnits { readonly embedding: Unit; readonly norm: Unit; readonly head: Unit }

const endUnits = (gatherUs: number, scatterUs: number): EndUnits => ({
  embedding: unit('embed_tokens', half('154880,2048'), gatherUs, scatterUs),
  norm: unit('norm', half('2048'), 24, 26),
  head: unit('lm_head', half('2048,154880'), gatherUs + 200, scatterUs + 200),
});

export const FINE_ENDS = endUnits(24_100, 24_600);
export const COARSE_ENDS = endUnits(21_600, 21_900);

/** Every parameter tensor, for gradient norm and optimizer. */
export function allParameters(): readonly Parameter[] {
  return [
    ...FINE_ENDS.embedding.parameters,
    ...LAYERS.flatMap((kind, index) => layerUnits(kind, index).flatMap((u) => u.parameters)),
    ...FINE_ENDS.norm.parameters,
    ...FINE_ENDS.head.parameters,
  ];
}
