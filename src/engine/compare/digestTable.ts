import type { DigestRow, DigestTable } from '../../protocol/compare';

/** Collects counts and sums per step and row; rows are made when first met. */
export class DigestTableBuilder {
  private readonly places = new Map<string, number>();
  private readonly rows: DigestRow[] = [];
  private readonly counts: number[][];
  private readonly totals: number[][];

  constructor(private readonly steps: number) {
    this.counts = Array.from({ length: steps }, () => []);
    this.totals = Array.from({ length: steps }, () => []);
  }

  /** Index of the row with this key. */
  row(key: string, make: () => DigestRow): number {
    let place = this.places.get(key);
    if (place === undefined) {
      place = this.rows.length;
      this.places.set(key, place);
      this.rows.push(make());
      for (let step = 0; step < this.steps; step++) {
        this.counts[step].push(0);
        this.totals[step].push(0);
      }
    }
    return place;
  }

  /** One kernel; NaN durations add no time. It counts unless it is a later part of something already counted. */
  add(step: number, row: number, durationNs: number, counts = true): void {
    this.counts[step][row] += counts ? 1 : 0;
    this.totals[step][row] += Number.isNaN(durationNs) ? 0 : durationNs;
  }

  /** The rows with most time; what is over the limit becomes one row, so that sums stay whole. */
  finish(limit: number, rest: DigestRow): DigestTable {
    const sums = this.rows.map((_row, i) => this.totals.reduce((sum, step) => sum + step[i], 0));
    const order = this.rows.map((_row, i) => i).sort((a, b) => sums[b] - sums[a] || (this.rows[a].key < this.rows[b].key ? -1 : 1));
    const kept = order.slice(0, limit);
    const left = order.slice(limit);
    const rows = [...kept.map((i) => this.rows[i]), ...(left.length === 0 ? [] : [rest])];
    const flat = (values: readonly (readonly number[])[]): Float64Array => {
      const out = new Float64Array(this.steps * rows.length);
      values.forEach((step, s) => {
        kept.forEach((i, place) => { out[s * rows.length + place] = step[i]; });
        if (left.length > 0) {
          out[(s + 1) * rows.length - 1] = left.reduce((sum, i) => sum + step[i], 0);
        }
      });
      return out;
    };
    return { rows, counts: flat(this.counts), totalsNs: flat(this.totals) };
  }
}
