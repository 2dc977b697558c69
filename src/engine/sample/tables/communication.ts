import type { CollectiveName, RankRun } from './rankRun';
import { collectiveNames, STEP } from './rankRun';
import { absoluteText } from './timeText';
import { DIMENSIONS } from '../model/dimensions';

const NOTHING = { 'Transit Size(MB)': 0, 'Transit Time(ms)': 0, 'Bandwidth(GB/s)': 0, 'Large Packet Ratio': 0, 'Size Distribution': {} };
const round = (value: number, digits: number): number => Number(value.toFixed(digits));

/** communication.json: one entry per collective. Wait is what this rank spent beyond the shortest rank's time. */
export function* communicationJson(input: RankRun): Iterable<string> {
  const { schedule, collectives, run, transferNs } = input;
  const names = collectiveNames(collectives);
  yield `{"step${STEP}": {"p2p": {}, "collective": {`;
  for (let id = 0; id < collectives.length; id++) {
    const start = schedule.collectiveStart[id];
    const elapse = schedule.collectiveEnd[id] - start;
    const wait = Math.max(0, elapse - transferNs[id]);
    const size = collectives[id].megabytes;
    const transit = (elapse - wait) / 1e6;
    const link = size === 0 ? NOTHING : {
      'Transit Size(MB)': round(size, 6), 'Transit Time(ms)': round(transit, 5), 'Bandwidth(GB/s)': round(size / transit, 4),
      'Large Packet Ratio': size > 16 ? 1 : 0, 'Size Distribution': { [String(round(size / DIMENSIONS.ranks, 6))]: [DIMENSIONS.ranks, round(transit, 5)] },
    };
    const time = {
      'Elapse Time(ms)': round(elapse / 1e6, 5), 'Transit Time(ms)': round(transit, 5), 'Wait Time(ms)': round(wait / 1e6, 5),
      'Synchronization Time(ms)': round(wait / 1e6, 5), 'Idle Time(ms)': 0, 'Wait Time Ratio': round(wait / elapse, 4), 'Synchronization Time Ratio': round(wait / elapse, 4),
    };
    // The start is written as text: a double would lose its last digits.
    yield `${id === 0 ? '' : ', '}"${names[id].name}@${names[id].group}": {"Communication Time Info": {"Start Timestamp(us)": ${startText(run.baseUs, start)}, `
      + `${JSON.stringify(time).slice(1)}, "Communication Bandwidth Info": ${JSON.stringify({ RDMA: NOTHING, HCCS: link, PCIE: NOTHING, SDMA: link, SIO: NOTHING })}}`;
  }
  yield '}}}\n';
}

/** JSON has no tab after the number. */
const startText = (baseUs: number, ns: number): string => absoluteText(baseUs, ns).trimEnd();

/** communication_matrix.json: totals from this rank to each peer, by kind of collective. */
export function communicationMatrix({ rank, collectives, schedule, transferNs }: RankRun): string {
  const names = collectiveNames(collectives);
  const totals = new Map<string, { name: CollectiveName; megabytes: number; ns: number }>();
  collectives.forEach(({ megabytes }, id) => {
    const key = `${names[id].short}-total@${names[id].group}`;
    const total = totals.get(key) ?? { name: names[id], megabytes: 0, ns: 0 };
    total.megabytes += megabytes / DIMENSIONS.ranks;
    total.ns += Math.min(transferNs[id], schedule.collectiveEnd[id] - schedule.collectiveStart[id]);
    totals.set(key, total);
  });
  const collective = Object.fromEntries([...totals].map(([key, { megabytes, ns }]) => [key, Object.fromEntries(
    Array.from({ length: DIMENSIONS.ranks }, (_, peer) => [`${rank}-${peer}`, {
      'Transport Type': peer === rank ? 'LOCAL' : 'HCCS', 'Transit Size(MB)': round(megabytes, 6), 'Transit Time(ms)': round(ns / 1e6, 5),
      'Bandwidth(GB/s)': round(megabytes / (ns / 1e6), 4), 'Op Name': '',
    }]),
  )]));
  return `${JSON.stringify({ [`step${STEP}`]: { p2p: {}, collective } })}\n`;
}
