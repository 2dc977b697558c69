import assert from 'node:assert/strict';
import { HostKind } from '../../../src/engine/profile/columns';
import { areaStats } from '../../../src/engine/timeline/areaStats';
import { eventDetail } from '../../../src/engine/timeline/eventDetail';
import { flow } from '../../../src/engine/timeline/flow';
import { timelineGaps } from '../../../src/engine/timeline/gaps';
import { timelineLayout } from '../../../src/engine/timeline/layout';
import { nearest, neighbour } from '../../../src/engine/timeline/neighbour';
import { search } from '../../../src/engine/timeline/search';
import { framesOfHostEvent, stackFrame } from '../../../src/engine/timeline/stackFrames';
import { oddRank, randomFrom, rankOf } from './generatedRank';

/** One operator that launches two kernels from a queue thread, under three Python frames; and its backward. */
function linkedRank(): ReturnType<typeof rankOf> {
  const host = [
    { start: 0, duration: 1000, kind: HostKind.Python, name: 'train.py(10): main' },
    { start: 100, duration: 300, kind: HostKind.Python, name: 'model.py(29): forward' },
    { start: 120, duration: 100, kind: HostKind.Operator, name: 'aten::mul' },
    { start: 130, duration: 10, kind: HostKind.Runtime, name: 'launch', thread: 1 },
    { start: 500, duration: 50, kind: HostKind.Operator, name: 'MulBackward0', thread: 2, forward: 2 },
  ];
  return rankOf([
    { start: 1000, duration: 50, name: 'Mul', launch: 3, op: 2 }, { start: 1100, duration: 20, name: 'Cast', launch: 3, op: 2, type: 'Cast', shapes: '4,16' },
    { start: 1150, duration: 30, name: 'Mul', op: 4 }, { start: 5000, duration: 10, name: 'Mul', stream: 1 },
  ], host);
}

describe('timeline: requests', () => {
  it('finds a kernel’s launch, operator and Python frames, and the forward’s frames for a backward kernel', async () => {
    const rank = linkedRank();
    const detail = await eventDetail(rank, { side: 'device', index: 0 });
    assert.equal(detail?.launch?.name, 'launch');
    assert.equal(detail?.operator?.name, 'aten::mul');
    assert.equal(detail?.launchDelayNs, 870);
    assert.deepEqual(detail?.frames.map(({ file, line }) => [file, line]), [['train.py', 10], ['model.py', 29]]);
    const backward = await eventDetail(rank, { side: 'device', index: 2 });
    assert.equal(backward?.framesFrom, 'forward');
    assert.equal(backward?.frames[1].function, 'forward');
    assert.equal(await eventDetail(rank, { side: 'device', index: 99 }), null);
    assert.deepEqual(flow(rank, { side: 'device', index: 0 }).kernels.map((kernel) => kernel.index), [0, 1]);
    assert.deepEqual(flow(rank, { side: 'host', index: 2 }).kernels.map((kernel) => kernel.index), [0, 1]);
    assert.deepEqual(flow(rank, { side: 'host', index: 3 }).total, 2);
    assert.equal(flow(rank, { side: 'device', index: 3 }).launch, null);
  });

  it('steps to neighbours on a row and by name, and finds what is nearest', () => {
    const rank = linkedRank();
    const from = { side: 'device', index: 0 } as const;
    assert.equal(neighbour(rank, { rank: '', from, direction: 1, by: 'row' })?.index, 1);
    assert.equal(neighbour(rank, { rank: '', from, direction: 1, by: 'name' })?.index, 2);
    assert.equal(neighbour(rank, { rank: '', from, direction: -1, by: 'name' }), null);
    assert.equal(neighbour(rank, { rank: '', from: { side: 'device', index: 2 }, direction: 1, by: 'row', lane: 'compute' })?.index, 3);
    assert.equal(nearest(rank, { rank: '', lane: 'compute', timeNs: 1065 })?.index, 0);
    assert.equal(nearest(rank, { rank: '', lane: 'compute', timeNs: 1110 })?.index, 1);
    assert.equal(nearest(rank, { rank: '', lane: 'other', timeNs: 0 }), null);
  });

  it('searches names, types, shapes and durations as a plain scan does', () => {
    const rank = oddRank(7, 600);
    const { deviceEvents: d, strings } = rank;
    const scan = (wanted: (i: number) => boolean): number[] => Array.from({ length: d.count }, (_, i) => i).filter(wanted);
    const plain = search(rank, { rank: '', text: 'KERNEL3', sides: ['device'], minNs: 100, limit: 2000 });
    const expected = scan((i) => strings.get(d.name[i]) === 'kernel3' && d.durationNs[i] >= 100);
    assert.deepEqual(plain.places.map((place) => place.index), expected);
    assert.equal(plain.total, expected.length);
    const pattern = search(rank, { rank: '', text: '^type[12]$', regex: true, fields: ['type'], sides: ['device'], limit: 3 });
    assert.equal(pattern.total, scan((i) => /^type[12]$/i.test(strings.get(d.type[i]))).length);
    assert.equal(pattern.places.length, 3);
    assert.equal(search(rank, { rank: '', text: '4096', fields: ['shapes'] }).total, scan((i) => strings.get(d.shapes[i]).includes('4096')).length);
    assert.equal(search(rank, { rank: '', text: '(', regex: true }).badPattern, true);
    // Look-around has no linear-time matcher: refused rather than allowed to hang.
    assert.equal(search(rank, { rank: '', text: '(?=a)', regex: true }).badPattern, true);
  });

  it('totals an area: each event once, union and sum apart', () => {
    const rank = oddRank(8, 500);
    const { deviceEvents: d } = rank;
    const { originNs, spanNs } = timelineLayout(rank, undefined);
    const random = randomFrom(3);
    for (let i = 0; i < 20; i++) {
      const startNs = Math.floor(originNs + random() * spanNs);
      const endNs = Math.floor(startNs + random() * (originNs + spanNs - startNs)) + 1;
      const stats = areaStats(rank, { startNs, endNs, lanes: ['compute', 'communication', 'stream:0', 'stream:1', 'stream:2'] });
      const inside = new Uint8Array(endNs - startNs);
      let sum = 0;
      let events = 0;
      const known: number[] = [];
      for (let k = 0; k < d.count; k++) {
        const duration = d.durationNs[k] > 0 ? d.durationNs[k] : 0;
        const end = d.startNs[k] + Math.max(duration, 1);
        if (!(d.startNs[k] < endNs && end > startNs)) {
          continue;
        }
        events++;
        const [from, to] = [Math.max(d.startNs[k], startNs), Math.min(d.startNs[k] + duration, endNs)];
        sum += Math.max(0, to - from);
        inside.fill(1, Math.max(0, from - startNs), Math.max(0, to - startNs));
        if (!Number.isNaN(d.durationNs[k])) {
          known.push(d.durationNs[k]);
        }
      }
      known.sort((a, b) => a - b);
      assert.equal(stats.events, events);
      assert.equal(stats.sumNs, sum);
      assert.equal(stats.unionNs, inside.reduce((total, one) => total + one, 0));
      assert.equal(stats.p95Ns, known.length === 0 ? null : known[Math.ceil(0.95 * known.length) - 1]);
      assert.equal(stats.families.reduce((total, group) => total + group.events, 0), events);
      assert.ok(Math.abs(stats.names.reduce((total, group) => total + group.sumNs, 0) - sum) < 1e-6);
    }
  });

  it('derives idle lanes and gaps from what runs', () => {
    const rank = rankOf([{ start: 0, duration: 10 }, { start: 20, duration: 10, kind: 1, stream: 1 }, { start: 40, duration: 5, kind: 2 }, { start: 60, duration: 10 }]);
    const lane = (id: string): number => timelineLayout(rank, undefined).lanes.find((found) => found.id === id)?.events ?? -1;
    assert.equal(lane('compute-idle'), 1);
    assert.deepEqual([...timelineGaps(rank, 0)], [10, 20, 30, 40, 45, 60]);
    assert.deepEqual([...timelineGaps(rank, 12)], [45, 60]);
    assert.equal(areaStats(rank, { startNs: 0, endNs: 70, lanes: ['free'] }).sumNs, 35);
  });

  it('reads frames as the profilers write them', () => {
    assert.deepEqual(stackFrame('xtuner/v1/q35.py(29): forward'), { text: 'xtuner/v1/q35.py(29): forward', file: 'xtuner/v1/q35.py', line: 29, function: 'forward', isUser: true });
    assert.deepEqual(stackFrame('nn.Module: Linear_0'), { text: 'nn.Module: Linear_0', isUser: false });
    const rank = rankOf([], [{ start: 0, duration: 10, name: 'aten::mul', stack: 'a.py(1): inner;\r\nb.py(2): outer' }]);
    assert.deepEqual(framesOfHostEvent(rank, 0).map((frame) => frame.function), ['outer', 'inner']);
  });
});
