import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HostKind, type DeviceEvents, type HostEvents, type StepInfo } from '../../../src/engine/profile/columns';
import { deviceBuilder, hostBuilder } from '../../../src/engine/profile/builders';
import { StringTable } from '../../../src/engine/profile/strings';
import { FlowList, linkForward } from '../../../src/engine/links/forward';
import { framesOf, isUserFile, operatorsOf, parseFrame, splitCallStack } from '../../../src/engine/links/frames';
import { linkByExternalId, linkLaunches, linkOperators } from '../../../src/engine/links/launches';
import { Nesting } from '../../../src/engine/links/nesting';
import { assignSteps, findSteps } from '../../../src/engine/links/steps';

interface HostRow {
  readonly name?: string;
  readonly kind?: HostKind;
  readonly thread?: number;
  readonly start: number;
  readonly duration: number;
  readonly sequence?: number;
  readonly forwardThread?: number;
  readonly pythonId?: number;
  readonly pythonParent?: number;
}

/** Host events in the order of the contract. */
function hostOf(rows: readonly HostRow[], strings: StringTable): HostEvents {
  const table = hostBuilder(rows.length);
  for (const row of [...rows].sort((a, b) => a.start - b.start || b.duration - a.duration)) {
    const i = table.add();
    table.columns.startNs[i] = row.start;
    table.columns.durationNs[i] = row.duration;
    table.columns.name[i] = strings.intern(row.name ?? 'op');
    table.columns.kind[i] = row.kind ?? HostKind.Operator;
    table.columns.thread[i] = row.thread ?? 0;
    table.columns.sequence[i] = row.sequence ?? -1;
    table.columns.forwardThread[i] = row.forwardThread ?? -1;
    table.columns.pythonId[i] = row.pythonId ?? -1;
    table.columns.pythonParent[i] = row.pythonParent ?? -1;
  }
  return table.finish();
}

function deviceOf(starts: readonly number[]): DeviceEvents {
  const table = deviceBuilder(starts.length);
  for (const start of starts) {
    const i = table.add();
    table.columns.startNs[i] = start;
    table.columns.durationNs[i] = 1;
  }
  return table.finish();
}

describe('Nesting', () => {
  it('finds what a search through all events finds, also where events bleed over their parents', () => {
    const row = fc.record({ start: fc.integer({ min: 0, max: 40 }), duration: fc.integer({ min: 0, max: 20 }), thread: fc.integer({ min: 0, max: 2 }), kind: fc.constantFrom(HostKind.Operator, HostKind.Python) });
    fc.assert(fc.property(fc.array(row, { maxLength: 30 }), fc.integer({ min: -1, max: 65 }), fc.integer({ min: 0, max: 3 }), (rows, time, thread) => {
      const host = hostOf(rows, new StringTable());
      const nesting = Nesting.build(host, 3, kind => kind === HostKind.Operator);
      const expected = Array.from({ length: host.count }, (_, i) => i)
        .filter(i => host.kind[i] === HostKind.Operator && host.thread[i] === thread && host.startNs[i] <= time && time <= host.startNs[i] + host.durationNs[i]);
      assert.deepEqual(nesting.enclosing(thread, time), expected);
      assert.equal(nesting.innermost(thread, time), expected.length === 0 ? -1 : expected[expected.length - 1]);
      assert.equal(nesting.findEnclosing(thread, time, i => i % 2 === 0), [...expected].reverse().find(i => i % 2 === 0) ?? -1);
    }), { numRuns: 3000 });
  });
});

describe('Launches', () => {
  it('join by equal ids only: never 0, -1 or none; a runtime call before a driver call', () => {
    const id = fc.oneof(fc.integer({ min: -1, max: 6 }), fc.constant(NaN), fc.integer({ min: 1e9, max: 1e9 + 3 }), fc.constant(-5));
    fc.assert(fc.property(fc.array(id, { maxLength: 12 }), fc.array(fc.tuple(id, fc.constantFrom('cudaLaunchKernel', 'cuLaunchKernel', 'hipGraphLaunch')), { maxLength: 12 }), (deviceIds, calls) => {
      const strings = new StringTable();
      const host = hostOf(calls.map(([, name], i) => ({ name, kind: HostKind.Runtime, start: i, duration: 1 })), strings);
      const device = deviceOf(deviceIds.map((_, i) => i));
      const outcome = linkLaunches(device, host, Float64Array.from(deviceIds), Float64Array.from(calls, call => call[0]), strings);
      const expected = deviceIds.map(wanted => {
        if (Number.isNaN(wanted) || wanted === 0 || wanted === -1) {
          return -1;
        }
        const found = calls.map((_, i) => i).filter(i => calls[i][0] === wanted);
        return found.find(i => calls[i][1] !== 'cuLaunchKernel') ?? found[0] ?? -1;
      });
      assert.deepEqual([...device.launch], expected);
      assert.equal(outcome.withoutLaunch, expected.filter(launch => launch < 0).length);
      const uses = new Map<number, number>();
      expected.filter(launch => launch >= 0).forEach(launch => uses.set(launch, (uses.get(launch) ?? 0) + 1));
      const shared = [...uses.values()].filter(n => n > 1);
      assert.deepEqual([outcome.sharedLaunches, outcome.sharedEvents], [shared.length, shared.reduce((sum, n) => sum + n, 0)]);
    }), { numRuns: 2000 });
  });

  it('use External id only when it agrees with time', () => {
    // Shuffled ids: the first names no operator, and no other names its own.
    for (const [agree, outcome] of [[true, { linked: 1, compared: 19, disagreed: 0 }], [false, { linked: 0, compared: 18, disagreed: 18 }]] as const) {
      const strings = new StringTable();
      const rows: HostRow[] = [];
      for (let i = 0; i < 20; i++) {
        rows.push({ start: 10 * i, duration: 8 }, { start: 10 * i + 1, duration: 1, kind: HostKind.Runtime, name: 'cudaLaunchKernel' });
      }
      const host = hostOf(rows, strings);
      const device = deviceOf(Array.from({ length: 20 }, (_, i) => 10 * i + 5));
      const correlation = Array.from({ length: 20 }, (_, i) => (i === 19 ? NaN : 100 + i));
      linkLaunches(device, host, correlation, Array.from({ length: 40 }, (_, row) => (row % 2 === 1 ? 100 + (row - 1) / 2 : NaN)), strings);
      linkOperators(device, host, operatorsOf({ hostEvents: host, threads: [0] }));
      const external = Array.from({ length: 20 }, (_, i) => 1000 + i);
      const operators = Array.from({ length: 40 }, (_, row) => (row % 2 === 0 ? 1000 + (agree || row === 38 ? row / 2 : 19 - row / 2) : NaN));
      assert.deepEqual(linkByExternalId(device, host, external, operators), outcome);
      assert.equal(device.op[19], agree ? 38 : -1);
    }
  });
});

describe('Forward operators', () => {
  const rows: readonly HostRow[] = [
    { name: 'aten::linear', start: 0, duration: 10, sequence: 7, forwardThread: 0 },
    { name: 'aten::addmm', start: 2, duration: 5, sequence: 7, forwardThread: 0 },
    { name: 'aten::relu', start: 20, duration: 5, sequence: 8, forwardThread: 0 },
    { name: 'autograd::engine::evaluate_function: AddmmBackward0', start: 100, duration: 20, thread: 1, sequence: 7, forwardThread: 1 },
    { name: 'AddmmBackward0', start: 102, duration: 15, thread: 1, sequence: 7, forwardThread: 1 },
    { name: 'aten::mm', start: 104, duration: 5, thread: 1 },
  ];

  it('are the latest of the same number before the backward operator', () => {
    const strings = new StringTable();
    const host = hostOf(rows, strings);
    const forward = linkForward(host, strings, operatorsOf({ hostEvents: host, threads: [0, 1] }));
    assert.deepEqual([...(forward ?? [])], [-1, -1, -1, 1, 1, -1]);
  });

  it('come from flows where there are any', () => {
    const strings = new StringTable();
    const host = hostOf(rows, strings);
    const flows = new FlowList();
    flows.add(1, 20, 0, true);
    flows.add(1, 103, 1, false);
    const forward = linkForward(host, strings, operatorsOf({ hostEvents: host, threads: [0, 1] }), flows);
    assert.deepEqual([...(forward ?? [])], [-1, -1, -1, 1, 2, -1]);
  });

  it('are absent where nothing was recorded for autograd', () => {
    const strings = new StringTable();
    const host = hostOf([{ start: 0, duration: 1 }], strings);
    assert.equal(linkForward(host, strings, operatorsOf({ hostEvents: host, threads: [0] })), undefined);
  });
});

describe('Frames', () => {
  it('split at the last (digits):', () => {
    assert.deepEqual(parseFrame('torch/nn/modules/linear.py(114): forward'), { file: 'torch/nn/modules/linear.py', line: 114, function: 'forward' });
    assert.deepEqual(parseFrame('<eval_with_key>.3(5): f(2): <module>'), { file: '<eval_with_key>.3(5): f', line: 2, function: '<module>' });
    assert.deepEqual(parseFrame('x = "a"\nb(1): <module>'), { file: 'x = "a"\nb', line: 1, function: '<module>' });
    assert.equal(parseFrame('<built-in method relu of type object at 0x7f>'), undefined);
    assert.equal(parseFrame('nn.Module: Linear_0'), undefined);
  });

  it('tell user code from libraries by path', () => {
    for (const file of ['train.py', '/home/me/torch_things/a.py', 'torchvision/models/resnet.py', 'C:\\work\\train.py']) {
      assert.ok(isUserFile(file), file);
    }
    for (const file of ['torch/nn/functional.py', '/opt/conda/lib/python3.9/site-packages/x/y.py', '/usr/lib/python3/dist-packages/a.py', 'threading.py', '<string>', 'C:\\py\\site-packages\\a.py', '/usr/lib/python3.10/runpy.py']) {
      assert.ok(!isUserFile(file), file);
    }
  });

  it('of a Call stack come apart with and without line breaks', () => {
    assert.deepEqual(splitCallStack('a.py(1): f;\r\nb.py(2): g;\r\n<string>(1): <module>'), ['a.py(1): f', 'b.py(2): g', '<string>(1): <module>']);
    assert.deepEqual(splitCallStack('a.py(1): f;b.py(2): g'), ['a.py(1): f', 'b.py(2): g']);
  });

  it('that start together are put in the order of their parents', () => {
    const strings = new StringTable();
    const python = { kind: HostKind.Python, start: 5, duration: 0 } as const;
    const host = hostOf([
      { ...python, name: 'inner', pythonId: 3, pythonParent: 2 }, { ...python, name: 'outer', pythonId: 1, pythonParent: 0 }, { ...python, name: 'middle', pythonId: 2, pythonParent: 1 },
      { kind: HostKind.Python, start: 0, duration: 50, name: 'root', pythonId: 0 }, { kind: HostKind.Runtime, start: 5, duration: 1, name: 'call' },
    ], strings);
    const call = [...host.kind].indexOf(HostKind.Runtime);
    assert.deepEqual(framesOf({ hostEvents: host, threads: [0] }, call).map(row => strings.get(host.name[row])), ['root', 'outer', 'middle', 'inner']);
  });
});

describe('Steps', () => {
  const annotation = (name: string, start: number, duration: number): HostRow => ({ name, start, duration, kind: HostKind.Annotation });
  const call = (start: number): HostRow => ({ name: 'cudaLaunchKernel', start, duration: 1, kind: HostKind.Runtime });

  function stepsOf(rows: readonly HostRow[], launches: readonly number[]): { readonly steps: readonly StepInfo[]; readonly of: readonly number[] } {
    const strings = new StringTable();
    const host = hostOf(rows, strings);
    const device = deviceOf(launches.map(() => 1000));
    launches.forEach((start, i) => {
      device.launch[i] = start < 0 ? -1 : [...host.startNs].findIndex((s, row) => s === start && host.kind[row] === HostKind.Runtime);
    });
    const { steps } = findSteps(host, strings, 0, 500);
    assignSteps(device, host, steps, launches.some(start => start >= 0));
    return { steps, of: [...device.step] };
  }

  it('hold the kernels launched inside, not those that start inside', () => {
    const { steps, of } = stepsOf([annotation('ProfilerStep#4', 100, 50), annotation('ProfilerStep#5', 160, 50), call(90), call(100), call(150), call(209)], [90, 100, 150, 209, -1]);
    assert.deepEqual(steps.map(step => [step.name, step.number, step.source]), [['ProfilerStep#4', 4, 'profiler'], ['ProfilerStep#5', 5, 'profiler']]);
    assert.deepEqual(of, [-1, 0, -1, 1, -1]);
  });

  it('end with the optimizer where there is no ProfilerStep', () => {
    const { steps, of } = stepsOf([annotation('Optimizer.step#SGD.step', 100, 20), annotation('Optimizer.step#SGD.step', 220, 20), call(10), call(130), call(300)], [10, 130, 300]);
    assert.deepEqual(steps.map(step => [step.startNs, step.durationNs, step.source]), [[0, 120, 'optimizer'], [120, 120, 'optimizer']]);
    assert.deepEqual(of, [0, 1, -1]);
  });

  it('are the whole recording otherwise', () => {
    const { steps, of } = stepsOf([call(10)], [10, -1]);
    assert.deepEqual(steps.map(step => [step.startNs, step.durationNs, step.source]), [[0, 500, 'window']]);
    assert.deepEqual(of, [0, 0]);
  });
});
