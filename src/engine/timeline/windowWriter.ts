import type { LaneRows, TimelineWindow } from '../../protocol/timeline';

/** A typed array that grows by doubling. */
class Growing<T extends Float64Array | Uint32Array | Uint16Array | Uint8Array> {
  length = 0;

  constructor(private array: T) {}

  push(value: number): void {
    if (this.length === this.array.length) {
      const larger = new (this.array.constructor as new (n: number) => T)(this.length * 2);
      larger.set(this.array);
      this.array = larger;
    }
    this.array[this.length++] = value;
  }

  increment(position: number): void {
    this.array[position]++;
  }

  finish(): T {
    return this.array.slice(0, this.length) as T;
  }
}

/** Event name not sent: the view asks `eventDetail`. */
const NO_NAME = 0xffff;
const NAME_CHARACTERS = 96;
const NAME_BYTES = 48 * 1024;
/** A run of empty bins longer than this ends a segment. */
const JOIN_BINS = 2;
const U32_SPAN = 2 ** 32;

/** Collects the events and bins of one window and knows how many bytes they take. */
export class WindowWriter {
  private readonly rows = new Growing(new Uint32Array(256));
  private readonly start = new Growing(new Float64Array(4096));
  private readonly duration = new Growing(new Float64Array(4096));
  private readonly index = new Growing(new Uint32Array(4096));
  private readonly name = new Growing(new Uint16Array(4096));
  private readonly eventFamily = new Growing(new Uint8Array(4096));
  private readonly segments = new Growing(new Uint32Array(1024));
  private readonly busy = new Growing(new Uint8Array(16384));
  private readonly binFamily = new Growing(new Uint8Array(16384));
  private readonly count = new Growing(new Uint16Array(16384));
  private readonly names: string[] = [];
  private readonly nameIds: number[] = [];
  private readonly nameSlots = new Map<number | string, number>();
  private nameBytes = 0;
  private baseNs = Infinity;
  private lastNs = -Infinity;
  private openBin = -1;

  beginRow(lane: number, row: number): void {
    this.rows.push(lane);
    this.rows.push(row);
    this.rows.push(0);
    this.rows.push(0);
    this.openBin = -1;
  }

  event(startNs: number, durationNs: number, index: number, family: number, nameKey: number | string, nameOf: (index: number) => string): void {
    this.start.push(startNs);
    this.duration.push(durationNs);
    this.index.push(index);
    this.eventFamily.push(family);
    this.name.push(this.nameSlot(nameKey, index, nameOf));
    this.baseNs = Math.min(this.baseNs, startNs);
    this.lastNs = Math.max(this.lastNs, startNs, durationNs);
    this.rows.increment(this.rows.length - 2);
  }

  bin(bin: number, busy: number, family: number, count: number): void {
    if (this.openBin >= 0 && bin - this.openBin <= JOIN_BINS) {
      for (let empty = this.openBin; empty < bin; empty++) {
        this.putBin(0, 0, 0);
      }
    } else {
      this.segments.push(bin);
      this.segments.push(0);
      this.rows.increment(this.rows.length - 1);
    }
    this.putBin(busy, family, Math.min(count, 0xffff));
    this.openBin = bin + 1;
  }

  /** Size of the message so far; start and duration take 8 bytes each in windows longer than 4.29 s. */
  get bytes(): number {
    const wide = this.lastNs - this.baseNs >= U32_SPAN ? 8 : 0;
    return this.rows.length * 4 + this.start.length * (15 + wide) + this.segments.length * 4 + this.busy.length * 4 + this.nameBytes;
  }

  finish(head: { readonly requestId: number; readonly startNs: number; readonly endNs: number; readonly nsPerBin: number; readonly lanes: readonly LaneRows[]; readonly hiddenFamilies: readonly number[] }): TimelineWindow {
    const baseNs = this.start.length === 0 ? head.startNs : this.baseNs;
    const start = this.start.finish();
    const duration = this.duration.finish();
    const narrow = this.lastNs - baseNs < U32_SPAN;
    return {
      ...head,
      rows: this.rows.finish(),
      events: {
        baseNs,
        start: narrow ? Uint32Array.from(start, (ns) => ns - baseNs) : start.map((ns) => ns - baseNs),
        duration: narrow ? Uint32Array.from(duration) : duration,
        index: this.index.finish(),
        name: this.name.finish(),
        family: this.eventFamily.finish(),
      },
      bins: { segments: this.segments.finish(), busy: this.busy.finish(), family: this.binFamily.finish(), count: this.count.finish() },
      names: this.names,
      nameIds: Uint32Array.from(this.nameIds),
    };
  }

  private putBin(busy: number, family: number, count: number): void {
    this.busy.push(busy);
    this.binFamily.push(family);
    this.count.push(count);
    this.segments.increment(this.segments.length - 1);
  }

  private nameSlot(key: number | string, index: number, nameOf: (index: number) => string): number {
    const known = this.nameSlots.get(key);
    if (known !== undefined) {
      return known;
    }
    let slot = NO_NAME;
    if (this.nameBytes < NAME_BYTES && this.names.length < NO_NAME) {
      const name = nameOf(index).slice(0, NAME_CHARACTERS);
      slot = this.names.push(name) - 1;
      this.nameIds.push(typeof key === 'number' ? key : 0);
      this.nameBytes += name.length * 2 + 8;
    }
    this.nameSlots.set(key, slot);
    return slot;
  }
}
