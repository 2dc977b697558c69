import type { StreamInfo } from '../profile/columns';

/**
 * Streams of one rank by (device, stream). Communication rows of kernel tables name no stream: each communication group
 * gets a lane of its own, since one group's operations follow each other and those of two groups may overlap.
 */
export class StreamRegistry {
  readonly list: StreamInfo[] = [];
  /** Communication group of each stream, '' unnamed; undefined for real streams. */
  readonly groups: (string | undefined)[] = [];
  private readonly indices = new Map<string, number>();

  /** Index of the stream; `group` is '' for communication of an unnamed group and undefined for everything else. */
  index(device: number | undefined, stream: string | undefined, group?: string): number {
    const lane = stream === undefined ? group : undefined;
    const key = `${device ?? ''}\0${stream ?? ''}\0${lane ?? '-'}`;
    const known = this.indices.get(key);
    if (known !== undefined) {
      return known;
    }
    // `stream` columns are 16 bits wide; no device has that many streams, so the rest share the last lane.
    const index = Math.min(this.list.length, 0xffff);
    if (index === this.list.length) {
      this.list.push({ device, stream, label: labelOf(stream, lane) });
      this.groups.push(lane);
    }
    this.indices.set(key, index);
    return index;
  }
}

function labelOf(stream: string | undefined, lane: string | undefined): string {
  if (stream !== undefined) {
    return `Stream ${stream}`;
  }
  return lane === undefined ? 'Device' : lane === '' ? 'Communication' : `Communication ${lane}`;
}
