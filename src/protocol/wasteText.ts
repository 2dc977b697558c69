import type { FingerprintEntry } from './fingerprints';
import type { MessageArguments } from '../engine/profile/problems';

/** Why a waste is one, by `waste.<id>`; undefined for fusions and unknown chains. */
export function wasteExplanation(entry: FingerprintEntry, say: (code: string, args: MessageArguments) => string): string | undefined {
  return entry.kind !== 'waste' || entry.fusion === null ? undefined : say(`waste.${entry.fusion}`, { stallMs: entry.stallUs === null ? '–' : Math.round(entry.stallUs / 100) / 10 });
}
