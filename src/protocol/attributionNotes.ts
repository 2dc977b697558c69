import type { Message } from '../engine/profile/problems';
import type { Attribution } from './fingerprints';

/** How the lines of a rank were found, or why they were not: one sentence each, the weightiest first. Nothing where no source was given and none was recorded. */
export function attributionNotes({ alignment, carried, holes, files, capped, ambiguous, locatedShare }: Attribution): readonly Message[] {
  const notes: Message[] = [];
  if (locatedShare > 0) {
    notes.push({ code: 'attribution.share', args: { share: Math.round(locatedShare * 100) } });
  }
  if (carried !== null) {
    notes.push({ code: carried.enough ? 'attribution.carried' : 'attribution.carried-differs', args: { share: Math.round(carried.share * 100) } });
  }
  if (alignment !== null) {
    notes.push('code' in alignment ? alignment : { code: 'attribution.located', args: { function: alignment.function, file: alignment.file, confidence: Math.round(alignment.confidence * 100) } });
    if (!('code' in alignment) && alignment.equals.length > 0) {
      notes.push({ code: 'attribution.equals', args: { count: alignment.equals.length, files: alignment.equals.slice(0, SHOWN).join(', ') } });
    }
  }
  ambiguous.slice(0, SHOWN).forEach(({ recorded, candidates }) => notes.push({ code: 'attribution.ambiguous', args: { file: recorded, count: candidates.length } }));
  if (capped) {
    notes.push({ code: 'attribution.capped', args: { count: files } });
  }
  holes.filter(({ holes: count }) => count > 0).forEach((entry) => notes.push({ code: 'attribution.holes', args: { ...entry } }));
  return notes;
}

const SHOWN = 3;
