import type { RunContext } from './runContext';

const KEY = 'fuselens.baseline';

/** The profile that later ones of this workspace are compared with, once the user chose one. */
export interface Baseline {
  readonly path: string;
  readonly name: string;
}

export const baselineOf = ({ memory }: Pick<RunContext, 'memory'>): Baseline | undefined => memory.get<Baseline>(KEY);

export const setBaseline = ({ memory }: Pick<RunContext, 'memory'>, baseline: Baseline): Thenable<void> => memory.update(KEY, baseline);
