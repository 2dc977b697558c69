/** The Timeline's part of the Engine interface: each request over one loaded rank. Mounted by `engine/session`. */
import type { TimelineMethods } from '../../protocol/timeline';
import type { FilePort } from '../port';
import type { RankData } from '../profile/columns';
import { areaStats } from './areaStats';
import { timelineCounters } from './counterWindow';
import { decodeArgs } from './eventArgs';
import { eventDetail } from './eventDetail';
import { flow } from './flow';
import { timelineGaps } from './gaps';
import { timelineLayout } from './layout';
import { nearest, neighbour } from './neighbour';
import { timelinePyramid } from './pyramid';
import { search } from './search';
import { timelineWindow } from './window';

export type TimelineMethod = keyof TimelineMethods;

export interface TimelineEnvironment {
  /** Reads an event's recorded arguments again; details come without them where this is absent. */
  readonly port?: FilePort;
}

type Result<M extends TimelineMethod> = TimelineMethods[M]['result'];

export const timelineMethods: {
  readonly [M in TimelineMethod]: (rank: RankData, params: TimelineMethods[M]['params'], environment: TimelineEnvironment) => Result<M> | Promise<Result<M>>;
} = {
  timelineLayout: (rank, { step }) => timelineLayout(rank, step),
  timelinePyramid: (rank, { hiddenFamilies }) => timelinePyramid(rank, hiddenFamilies),
  timelineWindow: (rank, params) => timelineWindow(rank, params),
  timelineCounters: (rank, params) => timelineCounters(rank, params),
  timelineGaps: (rank, { minNs }) => timelineGaps(rank, minNs),
  eventDetail: (rank, params, { port }) => eventDetail(rank, params, port === undefined ? undefined : decodeArgs(port)),
  flow: (rank, params) => flow(rank, params),
  search: (rank, params) => search(rank, params),
  areaStats: (rank, params) => areaStats(rank, params),
  neighbour: (rank, params) => neighbour(rank, params),
  nearest: (rank, params) => nearest(rank, params),
};
