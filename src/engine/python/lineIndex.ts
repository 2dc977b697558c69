/** Offsets → lines (from 1) and columns (from 0, UTF-16), as editors count them. */
export class LineIndex {
  private readonly starts: number[] = [0];

  constructor(text: string) {
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) {
      this.starts.push(i + 1);
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
