import type { FingerprintData, FingerprintSourceEntry, LineCost } from '../../protocol/fingerprints';
import { samePlace } from './documentEvidence';

/** One edit, lines from 1: what lay on `startLine … endLine` is now `addedLines` line breaks long. */
export interface LineEdit {
  readonly startLine: number;
  readonly endLine: number;
  readonly addedLines: number;
}

/**
 * Evidence after edits of one document, until it is computed again: what lies below moves with its lines, what an edit
 * touches is dropped, for nobody knows what it launches now.
 */
export function shiftedEvidence(data: FingerprintData, documentPath: string, edits: readonly LineEdit[]): FingerprintData {
  const move = (startLine: number, endLine: number): number | undefined => {
    let by = 0;
    for (const edit of edits) {
      if (edit.endLine < startLine + by) {
        by += edit.addedLines - (edit.endLine - edit.startLine);
      } else if (edit.startLine <= endLine + by) {
        return undefined;
      }
    }
    return by;
  };
  const source = (entry: FingerprintSourceEntry): readonly FingerprintSourceEntry[] => {
    const by = samePlace(entry.file, documentPath) ? move(entry.startLine, entry.endLine) : 0;
    return by === undefined ? [] : [{ ...entry, startLine: entry.startLine + by, endLine: entry.endLine + by, kernels: entry.kernels.map((kernel) => ({ ...kernel, line: kernel.line + by, endLine: kernel.endLine + by })) }];
  };
  const line = (cost: LineCost): readonly LineCost[] => {
    const by = samePlace(cost.file, documentPath) ? move(cost.line, cost.line) : 0;
    return by === undefined ? [] : [{ ...cost, line: cost.line + by }];
  };
  return { ...data, fingerprints: data.fingerprints.map((entry) => ({ ...entry, source: entry.source.flatMap(source) })), lines: data.lines.flatMap(line) };
}
