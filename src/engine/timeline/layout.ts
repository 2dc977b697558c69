import type { TimelineLayout } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { counterLayout } from './counterLanes';
import { rowCount } from './lane';
import { PALETTE } from './palette';
import { stepRanges, timelineIndex } from './timelineIndex';

/** Lanes, colours and steps of a rank, and what to show first. */
export function timelineLayout(rank: RankData, step: number | undefined): TimelineLayout {
  const { lanes, extent } = timelineIndex(rank);
  const { startNs, durationNs } = stepRanges(rank);
  const steps = rank.steps
    .map((info, index) => ({ index, name: info.name, startNs: startNs[index], endNs: startNs[index] + durationNs[index], source: info.source }))
    .filter((info) => Number.isFinite(info.endNs));
  const asked = steps.find((info) => info.index === step && info.endNs > info.startNs);
  return {
    lanes: [
      ...lanes.map((lane) => ({ id: lane.id, kind: lane.kind, side: lane.table.side, label: lane.label, events: lane.order.length, rows: Math.max(1, rowCount(lane)), untimed: lane.untimed })),
      ...counterLayout(rank, extent),
    ],
    families: families(rank),
    steps,
    originNs: extent.originNs, spanNs: extent.spanNs, outliers: extent.outliers,
    window: asked === undefined ? { startNs: extent.originNs, endNs: extent.originNs + extent.spanNs } : { startNs: asked.startNs, endNs: asked.endNs },
  };
}

function families({ deviceEvents }: RankData): TimelineLayout['families'] {
  const events = new Float64Array(PALETTE.length);
  const sumNs = new Float64Array(PALETTE.length);
  for (let i = 0; i < deviceEvents.count; i++) {
    const family = deviceEvents.family[i];
    events[family]++;
    sumNs[family] += deviceEvents.durationNs[i] > 0 ? deviceEvents.durationNs[i] : 0;
  }
  return PALETTE.map(({ id, group }, i) => ({ id, group, events: events[i], sumNs: sumNs[i] }));
}
