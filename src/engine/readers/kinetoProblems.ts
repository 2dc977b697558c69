/** What was odd about a trace, and what that does to its figures, as problem kinds. */
import type { DeviceEvents, StreamInfo } from '../profile/columns';
import type { ProblemList } from '../profile/problems';
import type { ExternalIdOutcome, LaunchOutcome } from '../links/launches';
import type { KinetoPass } from './kineto';
import type { OddCount } from './kinetoCollector';
import { reportNotShown } from './traceNotShown';

export interface KinetoFindings {
  readonly pass: KinetoPass;
  readonly device: DeviceEvents;
  readonly streams: readonly StreamInfo[];
  readonly launches: LaunchOutcome;
  readonly noUsableTime: OddCount;
  readonly droppedSteps: number;
  readonly externalIds: ExternalIdOutcome;
  /** Device events that stand in the file before an earlier one of their stream. */
  readonly outOfOrder: number;
  readonly hasRuntime: boolean;
}

export function reportProblems(problems: ProblemList, where: string, findings: KinetoFindings): void {
  reportScan(problems, where, findings.pass);
  reportEvents(problems, where, findings);
  reportLinks(problems, where, findings);
  reportOverlaps(problems, where, findings.device, findings.streams);
}

/** Oddities of the file itself. */
function reportScan(problems: ProblemList, where: string, { outcome, collector, cut }: KinetoPass): void {
  const at = (offset: number): string => `${where} byte ${offset}`;
  if (cut !== undefined || outcome.openAt === 'events') {
    problems.add('truncated', at(outcome.lastWholeAt), { args: { offset: outcome.lastWholeAt } });
  } else if (outcome.openAt === 'document') {
    problems.add('unclosed', at(outcome.bytes), { severity: 'info' });
  }
  if (outcome.broken.count > 0) {
    problems.add('broken-records', at(outcome.broken.firstAt), { count: outcome.broken.count, args: { offset: outcome.broken.firstAt } });
  }
  if (outcome.oversized.count > 0) {
    problems.add('oversized-records', at(outcome.oversized.firstAt), { count: outcome.oversized.count });
  }
  if (outcome.stray.count > 0) {
    problems.add('stray-bytes', at(outcome.stray.firstAt), { severity: 'info', count: outcome.stray.count });
  }
  const literal = collector.literalNames + outcome.literalBackslashes;
  if (literal > 0) {
    problems.add('unescaped-backslashes', where, { severity: 'info', count: literal });
  }
  if (collector.badNames > 0) {
    problems.add('bad-encoding', where, { severity: 'info', count: collector.badNames });
  }
  if (outcome.nonFinite > 0) {
    problems.add('non-finite', where, { severity: 'info', count: outcome.nonFinite });
  }
  reportNotShown(problems, where, collector.skipped);
  if (collector.threads.overflow > 0) {
    problems.add('too-many-threads', where, { count: collector.threads.overflow });
  }
}

/** Events whose time is not what a figure can use. */
function reportEvents(problems: ProblemList, where: string, { pass, device, noUsableTime, droppedSteps, outOfOrder }: KinetoFindings): void {
  const odd = (kind: string, { kernels, others }: OddCount): void => {
    if (kernels + others > 0) {
      problems.add(kind, where, { count: kernels + others, args: { kernels, others } });
    }
  };
  odd('no-usable-time', noUsableTime);
  odd('negative-duration', pass.collector.negativeDuration);
  odd('missing-duration', pass.collector.missingDuration);
  if (outOfOrder > 0) {
    problems.add('out-of-order', where, { severity: 'info', count: outOfOrder });
  }
  if (droppedSteps > 0) {
    problems.add('too-many-steps', where, { count: droppedSteps });
  }
  if (device.count === 0) {
    problems.add('no-device-events', where, { severity: 'info' });
  }
}

function reportLinks(problems: ProblemList, where: string, { pass, device, launches, hasRuntime, externalIds }: KinetoFindings): void {
  const { launchedByFlow } = pass.collector;
  if (launchedByFlow > 0) {
    problems.add('launch-by-flow', where, { severity: 'info', count: launchedByFlow, args: { total: device.count } });
  }
  if (externalIds.disagreed > 0) {
    problems.add('external-ids-disagree', where, { severity: 'info', count: externalIds.disagreed, args: { total: externalIds.compared } });
  }
  if (device.count > 0 && launches.withoutLaunch > 0) {
    problems.add(hasRuntime ? 'no-launch' : 'no-launches-recorded', where, { severity: 'info', count: launches.withoutLaunch, args: { total: device.count } });
  }
  if (launches.sharedLaunches > 0) {
    problems.add('shared-launch', where, { severity: 'info', count: launches.sharedEvents, args: { launches: launches.sharedLaunches } });
  }
}

/** Overlap on one stream is no error (programmatic dependent launch, integer µs, graph branches), but sums and unions then differ. */
function reportOverlaps(problems: ProblemList, where: string, device: DeviceEvents, streams: readonly StreamInfo[]): void {
  const latestEnd = new Float64Array(streams.length).fill(-Infinity);
  const overlaps = new Int32Array(streams.length);
  for (let i = 0; i < device.count; i++) {
    const start = device.startNs[i];
    if (start !== start) {
      break;
    }
    const stream = device.stream[i];
    if (start < latestEnd[stream]) {
      overlaps[stream]++;
    }
    latestEnd[stream] = Math.max(latestEnd[stream], start + (device.durationNs[i] || 0));
  }
  overlaps.forEach((count, stream) => {
    if (count > 0) {
      problems.add('overlap-on-stream', where, { severity: 'info', count, args: { stream: streams[stream].label }, mergeKey: `${where}\0${stream}` });
    }
  });
}
