/** Colours of the two sides, as in the article: base orange, candidate blue; dashes tell them apart without colour. */
export const SIDE_COLOURS = { base: 'fuselens-compareBase', candidate: 'fuselens-compareCandidate' } as const;
export const SIDE_DASHES = { base: [6, 3], candidate: [] } as const;
