import { HostKind } from '../profile/columns';
import { FAMILIES } from '../analysis/families';

/**
 * Colours of the timeline by position: first the kernel families (so that `DeviceEvents.family` is a position itself),
 * then gaps, host kinds and steps. Ids are suffixes of the theme colours `fuselens.family.<id>`.
 */
export const PALETTE: readonly { readonly id: string; readonly group: 'device' | 'gap' | 'host' | 'step' }[] = [
  ...FAMILIES.map((id) => ({ id, group: 'device' as const })),
  { id: 'idle', group: 'gap' },
  { id: 'free', group: 'gap' },
  { id: 'step', group: 'step' },
  { id: 'hostOperator', group: 'host' },
  { id: 'hostRuntime', group: 'host' },
  { id: 'hostPython', group: 'host' },
  { id: 'hostAnnotation', group: 'host' },
  { id: 'hostOther', group: 'host' },
];

export function colourIndex(id: string): number {
  return PALETTE.findIndex((entry) => entry.id === id);
}

/** Palette position by `HostKind`. */
export const HOST_COLOURS: readonly number[] = (() => {
  const byKind: number[] = [];
  byKind[HostKind.Operator] = colourIndex('hostOperator');
  byKind[HostKind.Runtime] = colourIndex('hostRuntime');
  byKind[HostKind.Python] = colourIndex('hostPython');
  byKind[HostKind.Annotation] = colourIndex('hostAnnotation');
  byKind[HostKind.Enqueue] = colourIndex('hostRuntime');
  byKind[HostKind.Dequeue] = colourIndex('hostRuntime');
  byKind[HostKind.Other] = colourIndex('hostOther');
  return byKind;
})();
