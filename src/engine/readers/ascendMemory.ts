/**
 * Memory over time: `memory_record.csv` (by component) and `npu_module_mem.csv` (by module). Files can have gigabytes, so a
 * series that grows too long is thinned by keeping the extremes of neighbouring points: peaks stay exact.
 */
import type { MemorySeries } from '../profile/columns';
import { findColumn } from './ascendColumns';
import { CellNumber } from './csvNumbers';
import { CsvScanner } from './csvScanner';
import type { TimeBase } from './csvTime';
import { checkCancelled, type ReaderContext } from './reader';

const MEGABYTE = 1024 * 1024;
/** Points of a series before it is thinned to about half. */
const MAX_POINTS = 128 * 1024;
const GROUP = 8;

const [COMPONENT, TIME, ALLOCATED, RESERVED, ACTIVE, DEVICE] = [0, 1, 2, 3, 4, 5];

/** Reads either file; `prefix` marks modules, whose names repeat those of components. Series that are 0 throughout are left out. */
export async function readMemory(context: ReaderContext, path: string, base: TimeBase, prefix = ''): Promise<readonly MemorySeries[]> {
  const { port, problems } = context;
  const file = port.basename(path);
  const series = new Map<string, SeriesBuilder>();
  let unusable = 0;
  let header = false;
  const scanner = new CsvScanner({
    header: (cells) => {
      const columns = [
        findColumn(cells, 'Component'), findColumn(cells, 'Timestamp(us)'), findColumn(cells, 'Total Allocated(MB)'), findColumn(cells, 'Total Reserved(MB)'),
        findColumn(cells, 'Total Active(MB)'), findColumn(cells, 'Device Type', 'Device'),
      ];
      header = columns[TIME] >= 0 && (columns[ALLOCATED] >= 0 || columns[RESERVED] >= 0);
      return header ? columns : undefined;
    },
    row: (row) => {
      const component = prefix + row.text(COMPONENT).trim();
      const device = row.text(DEVICE).trim();
      const key = `${component}\0${device}`;
      let builder = series.get(key);
      if (builder === undefined) {
        builder = new SeriesBuilder(component, device);
        series.set(key, builder);
      }
      const time = row.microseconds(TIME) === CellNumber.Ok ? base.relative(row.parts) : NaN;
      unusable += Number.isNaN(time) ? 1 : 0;
      builder.add(time, bytes(row.number(ALLOCATED)), bytes(row.number(RESERVED)), bytes(row.number(ACTIVE)));
    },
    damaged: (line, reason) => problems.add(`ascend-csv-${reason}`, `${file} line ${line}`, { mergeKey: file, args: { file, line } }),
  });
  for await (const chunk of port.stream(path, { chunkSize: context.chunkSize ?? 1024 * 1024 })) {
    checkCancelled(context);
    scanner.push(chunk);
    if (scanner.stopped) {
      break;
    }
  }
  scanner.finish();
  if (!header) {
    problems.add('ascend-table-empty', file, { severity: 'info', args: { file } });
  }
  if (unusable > 0) {
    problems.add('ascend-unknown-time', file, { count: unusable, args: { file } });
  }
  const thinned = [...series.values()].filter((one) => one.thinned).length;
  if (thinned > 0) {
    problems.add('ascend-memory-thinned', file, { severity: 'info', count: thinned, args: { file } });
  }
  return [...series.values()].filter((one) => one.hasValue).map((one) => one.finish());
}

const bytes = (megabytes: number): number => Math.round(megabytes * MEGABYTE);

class SeriesBuilder {
  thinned = false;
  hasValue = false;
  private count = 0;
  private time = new Float64Array(256);
  private values = [new Float64Array(256), new Float64Array(256), new Float64Array(256)];

  constructor(private readonly component: string, private readonly device: string) {}

  add(time: number, allocated: number, reserved: number, active: number): void {
    if (this.count === MAX_POINTS) {
      this.thin();
    }
    if (this.count === this.time.length) {
      const grown = (column: Float64Array): Float64Array<ArrayBuffer> => {
        const larger = new Float64Array(column.length * 2);
        larger.set(column);
        return larger;
      };
      this.time = grown(this.time);
      this.values = this.values.map(grown);
    }
    this.time[this.count] = time;
    this.values[0][this.count] = allocated;
    this.values[1][this.count] = reserved;
    this.values[2][this.count] = active;
    this.hasValue ||= allocated > 0 || reserved > 0 || active > 0;
    this.count++;
  }

  finish(): MemorySeries {
    const cut = (column: Float64Array): Float64Array => column.slice(0, this.count);
    return {
      component: this.component, device: this.device, timeNs: cut(this.time), allocatedBytes: cut(this.values[0]), reservedBytes: cut(this.values[1]), activeBytes: cut(this.values[2]),
    };
  }

  /** Of every eight neighbours the lowest and highest allocated, the highest reserved and the last one stay, in their order. */
  private thin(): void {
    this.thinned = true;
    let kept = 0;
    for (let from = 0; from < this.count; from += GROUP) {
      const to = Math.min(from + GROUP, this.count);
      const keep = new Set([this.extreme(0, from, to, -1), this.extreme(0, from, to, 1), this.extreme(1, from, to, 1), to - 1]);
      for (const i of [...keep].sort((a, b) => a - b)) {
        this.time[kept] = this.time[i];
        this.values.forEach((column) => (column[kept] = column[i]));
        kept++;
      }
    }
    this.count = kept;
  }

  private extreme(column: number, from: number, to: number, sign: 1 | -1): number {
    const values = this.values[column];
    let best = to - 1;
    for (let i = from; i < to; i++) {
      if (values[i] * sign > values[best] * sign || Number.isNaN(values[best])) {
        best = i;
      }
    }
    return best;
  }
}
