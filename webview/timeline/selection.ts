import type { EventDetail, EventPlace, EventRef, FlowResult } from '../../src/protocol/timeline';
import type { Bridge } from '../shared/bridge';
import type { TimelineModel } from './model';
import { sourceFrame } from './details';

/** The selected event: asks for what is known about it, and shows only the answer to the latest question. */
export class Selection {
  detail: EventDetail | undefined;
  flow: FlowResult | undefined;
  private run = 0;

  constructor(private readonly bridge: Bridge, private readonly rank: string, private readonly model: TimelineModel, private readonly changed: () => void) {}

  clear(): void {
    this.run++;
    this.model.selection = undefined;
    this.detail = undefined;
    this.flow = undefined;
    this.changed();
  }

  /** Selects an event whose place is known; the rest follows. */
  async select(place: EventPlace): Promise<void> {
    const run = ++this.run;
    this.model.selection = place;
    this.flow = undefined;
    this.model.changed();
    const ref = { rank: this.rank, side: place.side, index: place.index };
    const [detail, flow] = await Promise.all([this.bridge.call('eventDetail', { ...ref, lane: place.lane }), this.bridge.call('flow', ref)]);
    if (run === this.run) {
      this.detail = detail ?? undefined;
      this.flow = flow;
      this.changed();
    }
  }

  /** Selects an event by its number, for links and saved state. */
  async selectRef({ side, index, lane }: EventRef & { readonly lane?: string }): Promise<EventPlace | undefined> {
    const detail = await this.bridge.call('eventDetail', { rank: this.rank, side, index, ...(lane === undefined ? {} : { lane }) });
    if (detail === null) {
      return undefined;
    }
    void this.select(detail);
    return detail;
  }

  async step(direction: 1 | -1, by: 'row' | 'name'): Promise<void> {
    const from = this.model.selection;
    if (from === undefined) {
      return;
    }
    const run = ++this.run;
    const next = await this.bridge.call('neighbour', { rank: this.rank, from: { side: from.side, index: from.index }, direction, by, ...(by === 'row' || from.side === 'counter' ? { lane: from.lane } : {}) });
    if (next !== null && run === this.run) {
      this.model.bringIntoView(next);
      await this.select(next);
    }
  }

  /** Opens the line that launched the selected event, if the recording knows it. */
  openSource(): boolean {
    const frame = this.detail === undefined ? undefined : sourceFrame(this.detail.frames);
    if (frame?.file === undefined || frame.line === undefined) {
      return false;
    }
    this.bridge.post({ kind: 'openSource', file: frame.file, line: frame.line });
    return true;
  }
}
