import type { FingerprintData, FingerprintEntry } from './fingerprints';
import type { FigureTable } from './overviewTables';

/** Chains as a table of figures; names are in the user's language, the rest is plain data. */
export function fingerprintsTable({ fingerprints }: FingerprintData, nameOf: (entry: FingerprintEntry) => string): FigureTable {
  return {
    id: 'fingerprints', title: 'Repeated kernel chains',
    columns: [
      { key: 'chain', title: 'report.chain', kind: 'text' }, { key: 'phase', title: 'report.phase', kind: 'text' }, { key: 'kernels', title: 'report.kernelsEach', kind: 'count' }, { key: 'occurrences', title: 'report.times', kind: 'count' },
      { key: 'mean_us', title: 'report.mean', kind: 'us' }, { key: 'total_us', title: 'report.kernelTime', kind: 'us' }, { key: 'recoverable_low_us', title: 'fingerprints.recoverableLow', kind: 'us' }, { key: 'recoverable_high_us', title: 'fingerprints.recoverableHigh', kind: 'us' },
      { key: 'source', title: 'report.source', kind: 'text' },
    ],
    rows: fingerprints.map((entry) => [nameOf(entry), entry.phase, entry.kernels.length, entry.occurrences, entry.meanUs, entry.totalUs, entry.recoverableDeviceUs[0], entry.recoverableDeviceUs[1], sourceText(entry)]),
  };
}

function sourceText({ source }: FingerprintEntry): string | null {
  const [first] = source;
  return first === undefined ? null : `${first.file.split(/[\\/]/).pop() ?? first.file}:${first.startLine}`;
}
