/** Offsets → lines (from 1) and columns (from 0, UTF-16), as editors count them. */
export class LineIndex {
  private readonly starts: number[] = [0];

  constructor(text: string) {
    for (const { index, 0: end } of text.matchAll(/\r\n|\n|\r/g)) {
      this.starts.push(index + end.length);
    }
  }

  line(offset: number): number {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= offset) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  column(offset: number): number {
    return offset - this.starts[this.line(offset) - 1];
  }
}
