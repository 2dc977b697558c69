import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DeviceFlag, EventKind, HostKind, type RankData } from '../../../src/engine/profile/columns';
import { deserializeRank, serializeRank } from '../../../src/engine/profile/serialize';
import { hasSharedData, sharedPath } from '../../sharedData';
import { csvRows, kernelsOf, nanoseconds, outputOf, problemKinds, readOnly } from './ascendSupport';

const alexnet = (level: number, rank: number): string => sharedPath('ascend', 'msinsight-alexnet', 'text', `level${level}`, `rank${rank}_ascend_pt`);
const SINGLE = sharedPath('ascend', 'msprof-analyze', 'trace_view_2024-01.json');

interface JsonEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat?: string;
  readonly id?: string | number;
  readonly pid: number;
  readonly tid: number;
  readonly ts: string;
  readonly dur?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The whole trace by JSON.parse; flow ids above 2^53 are made text first, since they would be rounded. */
function parse(file: string): readonly JsonEvent[] {
  return JSON.parse(readFileSync(file, 'utf8').replace(/"id":\s*(\d{16,})/g, '"id":"$1"')) as readonly JsonEvent[];
}

const place = ({ pid, tid, ts }: JsonEvent): string => `${pid} ${tid} ${ts.trim()}`;

/** Start of a device event in ns → what its flows lead to: names of the operators (innermost last) or calls there. */
function linksByFlow(events: readonly JsonEvent[], category: string): ReadonlyMap<bigint, ReadonlySet<string>> {
  const slices = new Map<string, string[]>();
  for (const event of events) {
    if (event.ph === 'X' && event.cat !== 'python_function') {
      slices.set(place(event), [...(slices.get(place(event)) ?? []), `${event.name}@${nanoseconds(event.ts)}`]);
    }
  }
  const starts = new Map<string, string>();
  for (const event of events) {
    if (event.ph === 's' && event.cat === category) {
      starts.set(String(event.id), place(event));
    }
  }
  const links = new Map<bigint, Set<string>>();
  for (const event of events) {
    const start = event.ph === 'f' && event.cat === category ? starts.get(String(event.id)) : undefined;
    const targets = start === undefined ? undefined : slices.get(start);
    if (targets !== undefined) {
      const at = nanoseconds(event.ts) ?? 0n;
      links.set(at, new Set([...(links.get(at) ?? []), ...targets]));
    }
  }
  return links;
}

/** The other statement of the same: kernels and CANN calls carry one `connection_id`. */
function callsByConnection(events: readonly JsonEvent[]): ReadonlyMap<bigint, ReadonlySet<string>> {
  const processes = new Map(events.filter(({ ph, name }) => ph === 'M' && name === 'process_name').map(({ pid, args }) => [pid, args?.['name']]));
  const calls = new Map<unknown, string[]>();
  for (const { ph, pid, name, ts, args } of events) {
    if (ph === 'X' && processes.get(pid) === 'CANN') {
      calls.set(args?.['connection_id'], [...(calls.get(args?.['connection_id']) ?? []), `${name}@${nanoseconds(ts)}`]);
    }
  }
  const kernels = events.filter(({ ph, pid }) => ph === 'X' && ['Ascend Hardware', 'HCCL'].includes(String(processes.get(pid))));
  return new Map(kernels.map(({ ts, args }) => [nanoseconds(ts) ?? 0n, new Set(calls.get(args?.['connection_id']))]));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const hostText = (data: RankData, row: number): string => `${data.strings.get(data.hostEvents.name[row])}@${data.baseNs + BigInt(data.hostEvents.startNs[row])}`;

describe('Ascend traces', function () {
  before(function () {
    if (!hasSharedData()) {
      this.skip();
    }
  });

  for (const [level, rank] of [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1]]) {
    it(`lead every kernel of AlexNet level${level} rank${rank} to its operator and launch`, async () => {
      const { data } = await readOnly(alexnet(level, rank));
      const trace = parse(outputOf(alexnet(level, rank), 'trace_view.json'));
      const operators = linksByFlow(trace, 'async_npu');
      const calls = callsByConnection(trace);
      const events = data.deviceEvents;
      let resolved = 0;
      for (const { row, startNs, kind, name } of kernelsOf(data)) {
        // Collectives start 1 ns apart in the two files.
        const nearby = (links: ReadonlyMap<bigint, ReadonlySet<string>>): ReadonlySet<string> | undefined => [0n, 1n, -1n].map((shift) => links.get((startNs ?? 0n) + shift)).find((found) => found !== undefined);
        assert.ok(events.op[row] >= 0 && events.launch[row] >= 0, name);
        assert.ok(nearby(operators)?.has(hostText(data, events.op[row])) === true, `${name}: ${hostText(data, events.op[row])}`);
        if (level > 0) {
          assert.ok(nearby(calls)?.has(hostText(data, events.launch[row])) === true, `${name}: ${hostText(data, events.launch[row])}`);
          assert.equal(data.hostEvents.kind[events.launch[row]], HostKind.Runtime);
        } else {
          assert.equal(data.hostEvents.kind[events.launch[row]], HostKind.Dequeue, 'Level0 keeps no CANN calls');
        }
        resolved += kind === EventKind.Compute ? 1 : 0;
      }
      assert.equal(resolved, 187);
    });
  }

  it('give host events as JSON.parse does: counts, times, call stacks, frames', async () => {
    const { data } = await readOnly(alexnet(1, 0));
    const trace = parse(outputOf(alexnet(1, 0), 'trace_view.json'));
    const { hostEvents: host, strings } = data;
    const wanted = trace.filter(({ ph, cat }) => ph === 'X' && (cat === 'cpu_op' || cat === 'python_function' || cat === 'enqueue' || cat === 'dequeue'));
    const key = (name: string, startNs: bigint | undefined, durationNs: bigint | undefined, stack: string): string => `${name}|${startNs}|${durationNs}|${stack}`;
    const expected = wanted.map(({ name, ts, dur, args }) => key(name, nanoseconds(ts), nanoseconds(String(dur)), textOf(args?.['Call stack']).replace(/;\s+/g, ';'))).sort();
    const found: string[] = [];
    for (let row = 0; row < host.count; row++) {
      if (host.kind[row] !== HostKind.Runtime) {
        found.push(key(strings.get(host.name[row]), data.baseNs + BigInt(host.startNs[row]), BigInt(host.durationNs[row]), strings.get(host.stack[row])));
      }
    }
    assert.deepEqual(found.sort(), expected);
    assert.equal(wanted.filter(({ args }) => typeof args?.['Call stack'] === 'string').length, host.stack.filter((id) => id !== 0).length);
    const frames = trace.filter(({ cat }) => cat === 'python_function');
    assert.deepEqual([...host.pythonId].filter((id) => id >= 0).sort(), frames.map(({ args }) => args?.['Python id']).sort());
  });

  it('read stacks of operators as operator_details.csv has them', async () => {
    const { data } = await readOnly(alexnet(2, 1));
    const plain = (stack: string): string => stack.replace(/;\s+/g, ';');
    const expected = csvRows(outputOf(alexnet(2, 1), 'operator_details.csv')).map((row) => `${row['Name']}|${plain(row['Call Stack'])}`).sort();
    assert.equal(expected.length, 859);
    const { hostEvents: host, strings, tables } = data;
    const found: string[] = [];
    for (let row = 0; row < host.count; row++) {
      const name = strings.get(host.name[row]);
      if ((host.kind[row] === HostKind.Operator || host.kind[row] === HostKind.Annotation) && !name.startsWith('ProfilerStep')) {
        found.push(`${name}|${strings.get(host.stack[row])}`);
      }
    }
    assert.deepEqual(found.sort(), expected);
    assert.equal(tables.find(({ file }) => file === 'operator_details.csv')?.rows.length, 859);
  });

  it('point backward operators to forward ones of the same sequence number', async () => {
    const { data } = await readOnly(alexnet(1, 0));
    const { hostEvents: host, deviceEvents: events } = data;
    let pairs = 0;
    for (let row = 0; row < host.count; row++) {
      const forward = host.forward[row];
      if (forward >= 0) {
        pairs++;
        assert.equal(host.sequence[forward], host.sequence[row]);
        assert.ok(host.startNs[forward] < host.startNs[row]);
      }
    }
    assert.ok(pairs >= 27, String(pairs));
    assert.ok(events.flags.some((flags) => (flags & DeviceFlag.Backward) !== 0));
  });

  it('find the step and its host range', async () => {
    const { data } = await readOnly(alexnet(1, 0));
    const step = parse(outputOf(alexnet(1, 0), 'trace_view.json')).find(({ name }) => name.startsWith('ProfilerStep#'));
    assert.deepEqual(data.steps.map(({ name, number }) => [name, number]), [['ProfilerStep#50', 50]]);
    assert.equal(data.baseNs + BigInt(data.steps[0].startNs), nanoseconds(step?.ts ?? ''));
    assert.ok(kernelsOf(data).every((kernel) => kernel.step === '50'));
  });

  it('add the copies, which no kernel table has', async () => {
    const { data } = await readOnly(alexnet(1, 0));
    const { deviceEvents: events } = data;
    const expected = parse(outputOf(alexnet(1, 0), 'trace_view.json')).filter(({ ph, name }) => ph === 'X' && name === 'MEMCPY_ASYNC').map(({ ts }) => nanoseconds(ts)).sort();
    const found = Array.from(events.startNs).filter((_, row) => events.kind[row] === EventKind.Copy).map((start) => data.baseNs + BigInt(start)).sort();
    assert.equal(found.length, 24);
    assert.deepEqual(found, expected);
  });

  it('keep the tasks inside collectives, each with its collective', async () => {
    const { data } = await readOnly(alexnet(2, 0));
    const trace = parse(outputOf(alexnet(2, 0), 'trace_view.json'));
    const process = trace.find(({ ph, name, args }) => ph === 'M' && name === 'process_name' && args?.['name'] === 'HCCL')?.pid;
    const expected = trace.filter(({ ph, pid, name }) => ph === 'X' && pid === process && !name.startsWith('hcom_'));
    const collectives = trace.filter(({ ph, pid, name }) => ph === 'X' && pid === process && name.startsWith('hcom_'));
    const { communicationTasks: tasks, deviceEvents: events, strings } = data;
    assert.ok(tasks !== undefined);
    assert.equal(tasks.count, 296);
    const found = Array.from({ length: tasks.count }, (_, i) => [
      strings.get(tasks.name[i]), data.baseNs + BigInt(tasks.startNs[i]), tasks.bytes[i], strings.get(tasks.transport[i]), strings.get(tasks.link[i]), tasks.source[i], tasks.destination[i],
      strings.get(events.name[tasks.collective[i]] ?? 0),
    ].join(' '));
    const round = (start: bigint): string => collectives.filter(({ ts, dur }) => start >= (nanoseconds(ts) ?? 0n) && start <= (nanoseconds(ts) ?? 0n) + (nanoseconds(String(dur)) ?? 0n)).map(({ name }) => name).join();
    const rank = (value: unknown): number => (value === 4294967295 ? -1 : Number(value));
    assert.deepEqual(found.sort(), expected.map(({ name, ts, args }) => [
      name, nanoseconds(ts), args?.['size(Byte)'], args?.['transport type'], args?.['link type'], rank(args?.['src rank']), rank(args?.['dst rank']), round(nanoseconds(ts) ?? 0n),
    ].join(' ')).sort());
    const stored = deserializeRank(Buffer.concat(serializeRank({ data, problems: [] })));
    assert.deepEqual(stored?.data.communicationTasks, tasks);
  });

  it('stand in for a kernel table that has only a header', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-header-'));
    try {
      mkdirSync(outputOf(folder, ''), { recursive: true });
      writeFileSync(outputOf(folder, 'kernel_details.csv'), 'Name,Type,Accelerator Core,Start Time(us),Duration(us)\r\n');
      copyFileSync(SINGLE, outputOf(folder, 'trace_view.json'));
      const { data, problems } = await readOnly(folder);
      assert.equal(kernelsOf(data).length, 274);
      assert.deepEqual(problemKinds(problems), ['ascend-columns-missing', 'ascend-kernels-from-trace', 'ascend-no-kernel-rows']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('stand alone, with kernels of their own (old process numbers, no stacks)', async () => {
    const { data, problems } = await readOnly(SINGLE);
    const trace = parse(SINGLE);
    const expected = trace.filter(({ ph, pid, name }) => ph === 'X' && pid === 800 && name !== 'MEMCPY_ASYNC');
    const kernels = kernelsOf(data);
    assert.equal(kernels.length, 274);
    assert.deepEqual(kernels.map(({ name, startNs }) => `${name} ${startNs}`).sort(), expected.map(({ name, ts }) => `${name} ${nanoseconds(ts)}`).sort());
    assert.ok(kernels.every(({ row }) => data.deviceEvents.op[row] >= 0 && data.deviceEvents.launch[row] >= 0));
    assert.deepEqual(problemKinds(problems), ['ascend-kernels-from-trace']);
  });

  it('sort events by start and keep within 64 bytes a kernel', async () => {
    const { data } = await readOnly(alexnet(2, 0));
    for (const { startNs, count } of [data.deviceEvents, data.hostEvents]) {
      for (let row = 1; row < count; row++) {
        assert.ok(startNs[row - 1] <= startNs[row]);
      }
    }
    const columns = Object.values(data.deviceEvents).filter((column) => ArrayBuffer.isView(column));
    assert.ok(columns.reduce((sum, column) => sum + column.byteLength, 0) <= 64 * data.deviceEvents.count);
  });
});
