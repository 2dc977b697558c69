/**
 * Kernel families, in the order of every table, chart and legend. `DeviceEvents.family` holds an index into this list; the
 * ids also name the theme colours (`fuselens.family.<id>`) and the sentences (`family.<id>`).
 */
export const FAMILIES = ['matmul', 'linearAttention', 'norm', 'elementwise', 'glue', 'loss', 'optimizer', 'communication', 'hostSync', 'other'] as const;
export type Family = (typeof FAMILIES)[number];

export function familyIndex(family: Family): number {
  return FAMILIES.indexOf(family);
}

export function isFamily(text: string): text is Family {
  return (FAMILIES as readonly string[]).includes(text);
}
