import { eventsOf, freeRuns } from '../chains/wasteView';
import type { Fusion } from './fusion';

/**
 * No expression converts eight operands one after the other: query, key, value, both tables, mask and positions of an
 * attention call are seven. Eight casts in a row are a loop that converts tensor after tensor.
 */
const IN_A_ROW = 8;

/** Casts of many tensors, one kernel each: weights under autocast, master weights after the optimizer. */
export const castStorm: Fusion = {
  id: 'cast-storm', title: 'Casts of many tensors one by one', family: 'glue', kind: 'waste', forms: [],
  find: (view) => view.sequences.flatMap((sequence) => freeRuns(view, sequence, (op) => op === 'cast').filter(([start, end]) => end - start >= IN_A_ROW).flatMap(([start, end]) => eventsOf(sequence, start, end).map((event) => ({ events: [event], chain: 'cast' })))),
};
