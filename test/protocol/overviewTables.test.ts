import assert from 'node:assert/strict';
import Papa from 'papaparse';
import { MESSAGES } from '../../src/protocol/text';
import { decomposition, figureTables, keyFigures, OTHER_LANES, tableCsv, tableText, type FigureTable } from '../../src/protocol/overviewTables';
import type { OverviewData } from '../../src/protocol/overview';

const lanes = { computeBusyUs: 60, communicationBusyUs: 50, copyBusyUs: 5, overlappedUs: 20, exposedCommunicationUs: 30, exposedCopyUs: 4, computeIdleUs: 40, mainStreamIdleUs: null, freeUs: 6 };
const data: OverviewData = {
  report: {
    rank: 0, label: 'r0',
    kernels: { count: 3, timedCount: 3, totalUs: 110, spanUs: 100, busyUs: 90, idleUs: 10, p50Us: 30, p90Us: 50, p99Us: 50, minUs: 30, maxUs: 50, shareLe50us: 1, shareLe100us: 1, meanIntervalUs: null },
    lanes,
    split: { compute: { count: 2, totalUs: 60 }, communication: { count: 1, totalUs: 50 }, memcpy: { count: 0, totalUs: 0 }, memset: { count: 0, totalUs: 0 } },
    streams: [{ device: '0', stream: null, label: 'group 1', count: 3, totalUs: 110, busyUs: 90, idleUs: 10, firstUs: 0, lastUs: 100 }],
    families: [{ family: 'matmul', count: 2, totalUs: 60 }, { family: 'communication', count: 1, totalUs: 50 }],
    topKernels: [],
    steps: [],
  },
  window: { name: '', source: 'window' },
  density: { edgesUs: [10, 100], density: [0.01], counts: [3] },
  topFiveCommunicationShare: 50 / 110,
  longest: { name: 'all,"Reduce"', durationUs: 50, eventIndex: 2 },
  kernels: [{ name: 'all,"Reduce"\nx', type: '=cmd', family: 'communication', count: 1, totalUs: 50, meanUs: 50, maxUs: 50, longestIndex: 2 }],
  omitted: 0,
  assumptions: [],
  profilerStepTrace: { columns: ['Step', 'Free'], rows: [['5', '6.0']] },
  profilerCommunication: null,
};

describe('the tables of the Overview', () => {
  it('cut the span into parts that add up to it', () => {
    assert.equal(decomposition(lanes).reduce((sum, { valueUs }) => sum + (valueUs ?? 0), 0), 100);
  });

  it('have a heading and a definition for everything they show', () => {
    const codes = [
      ...keyFigures(data).flatMap(({ id }) => [`figureName.${id}`, `figure.${id}`]),
      ...[...decomposition(lanes).map(({ id }) => id), ...OTHER_LANES].flatMap((id) => [`figureName.${id}`, `figure.${id}`]),
      ...figureTables(data).filter(({ id }) => id !== 'profiler-step-trace').flatMap(({ columns }) => columns.flatMap(({ title, figure }) => (figure === undefined ? [title] : [title, figure]))),
    ];
    assert.deepEqual(codes.filter((code) => !(code in MESSAGES)), []);
  });

  it('leave out those without rows', () => {
    assert.deepEqual(figureTables(data).map(({ id }) => id), ['figures', 'decomposition', 'families', 'kernels', 'streams', 'profiler-step-trace']);
  });

  it('are read back from CSV as they were', () => {
    for (const table of figureTables(data)) {
      const rows = Papa.parse<string[]>(tableCsv(table), { skipEmptyLines: true }).data;
      assert.deepEqual(rows[0], table.columns.map(({ key }) => key), table.id);
      assert.deepEqual(rows.slice(1), table.rows.map((cells) => cells.map((cell) => (cell === '=cmd' ? `'=cmd` : String(cell ?? '')))), table.id);
    }
  });

  it('write unknown as nothing, never as zero', () => {
    const table: FigureTable = { id: 'figures', title: '', columns: [{ key: 'a', title: '', kind: 'us' }, { key: 'b', title: '', kind: 'us' }], rows: [[null, 0]] };
    assert.equal(tableCsv(table), 'a,b\r\n,0\r\n');
    assert.equal(tableText(table), 'a\tb\n\t0');
  });
});
