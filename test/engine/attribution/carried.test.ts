import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Parser } from 'web-tree-sitter';
import { explain, type Explanation } from '../../../src/engine/attribution/explain';
import { fingerprintData } from '../../../src/engine/attribution/fingerprintData';
import type { RankData } from '../../../src/engine/profile/columns';
import { hasSharedData } from '../../sharedData';
import { readTrace, truthCases } from '../readers/kinetoTruth';
import { pythonParser } from './parser';

interface Event { readonly ph?: string; readonly cat?: string; readonly name?: string; readonly ts?: number; readonly args?: Readonly<Record<string, unknown>> }
type Trace = Readonly<Record<string, unknown>> & { readonly traceEvents: readonly Event[] };

const place = ({ origins, originOf }: Explanation, event: number): string => {
  const origin = origins[originOf[event]];
  return origin === undefined ? '' : `${origin.file}:${origin.startLine}:${origin.function}:${origin.backward}`;
};

/** The trace as it would be without stacks, and with what `change` does to it. */
const stripped = (trace: Trace, change: (events: readonly Event[]) => readonly Event[] = (events) => events): Trace => ({ ...trace, traceEvents: change(trace.traceEvents.filter(({ cat }) => cat !== 'python_function')) });

describe('attribution carried over from a capture with stacks', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  let parser: Parser;
  let folder: string;

  before(async () => {
    parser = await pythonParser();
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-carried-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const files = ['cuda-h100-qwen05b-infer-stacks', 'rocm-mi300-qwen05b-infer-stacks', 'rocm-mi300-train-ddp-stacks'];
  const traceOf = (name: string): { readonly file: string; readonly trace: Trace } => {
    const file = truthCases().find((entry) => entry.name.startsWith(`${name}/`))?.file ?? '';
    const bytes = readFileSync(file);
    return { file, trace: JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Trace };
  };
  const read = async (trace: Trace): Promise<RankData> => {
    const file = path.join(folder, 'trace.json');
    await writeFile(file, JSON.stringify(trace));
    return (await readTrace(file)).rank;
  };

  for (const name of files) {
    it(`gives every kernel of ${name} the frame that the capture with stacks recorded`, async function () {
      this.timeout(60_000);
      const { file, trace } = traceOf(name);
      const { rank: withStacks } = await readTrace(file);
      const without = await read(stripped(trace));
      const wanted = explain(withStacks, { parser });
      assert.ok([...explain(without, { parser }).originOf].every((origin) => origin < 0), 'nothing is known without the other capture');
      const found = explain(without, { parser, stacks: withStacks });
      assert.equal(found.carried?.enough, true);
      let located = 0;
      for (let event = 0; event < without.deviceEvents.count; event++) {
        assert.equal(without.deviceEvents.startNs[event], withStacks.deviceEvents.startNs[event]);
        assert.equal(place(found, event), place(wanted, event));
        located += found.originOf[event] >= 0 ? 1 : 0;
      }
      assert.ok(located > without.deviceEvents.count * 0.5, `${located} of ${without.deviceEvents.count}`);
      assert.ok(found.origins.every(({ method, confidence }) => method === 'carried' && confidence > 0.99));
      assert.ok(found.fingerprints.filter(({ sources }) => sources.length > 0).every(({ sources }) => sources.every(({ method }) => method === 'carried')));
    });
  }

  it('never gives a wrong frame where kernels are lost or strange, and abstains there', async function () {
    this.timeout(60_000);
    const { file, trace } = traceOf(files[0]);
    const { rank: withStacks } = await readTrace(file);
    const wanted = explain(withStacks, { parser });
    let seed = 1;
    const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
    // One kernel in forty is gone, one in forty is another.
    const without = await read(stripped(trace, (events) => events.flatMap((event) => {
      if (event.cat !== 'kernel') {
        return [event];
      }
      const chance = random();
      return chance < 0.025 ? [] : chance < 0.05 ? [{ ...event, name: 'void of_no_known_library(float*)' }] : [event];
    })));
    const found = explain(without, { parser, stacks: withStacks });
    assert.equal(found.carried?.enough, true);
    const atStart = new Map(Array.from(withStacks.deviceEvents.startNs, (start, event) => [start, event]));
    let located = 0;
    let right = 0;
    let strange = 0;
    for (let event = 0; event < without.deviceEvents.count; event++) {
      const other = atStart.get(without.deviceEvents.startNs[event]);
      assert.ok(other !== undefined);
      if (without.strings.get(without.deviceEvents.name[event]).includes('of_no_known_library')) {
        strange += found.originOf[event] >= 0 ? 1 : 0;
      } else if (found.originOf[event] >= 0) {
        located++;
        right += place(found, event) === place(wanted, other) ? 1 : 0;
      }
    }
    assert.equal(strange, 0);
    assert.ok(located > without.deviceEvents.count * 0.6, `${located} of ${without.deviceEvents.count} located`);
    // Which of two equal kernels in a row was lost cannot be told, nor need it: they may differ by a line.
    assert.ok(right >= located * 0.995, `${right} of ${located}`);
  });

  it('carries nothing over from a capture of another program', async function () {
    this.timeout(60_000);
    const { trace } = traceOf(files[0]);
    const { file: other } = traceOf(files[2]);
    const found = explain(await read(stripped(trace)), { parser, stacks: (await readTrace(other)).rank });
    assert.equal(found.carried?.enough, false);
    assert.ok([...found.originOf].every((origin) => origin < 0));
  });
});

describe('stacks that were asked for and not recorded', () => {
  it('are told from stacks nobody asked for', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const parser = await pythonParser();
    const { file } = truthCases().find(({ name }) => name.startsWith('cuda-h100-qwen05b-infer-stacks/')) ?? assert.fail();
    const bytes = readFileSync(file);
    const trace = JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Trace;
    const folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-empty-stacks-'));
    const told = async (content: Trace): Promise<string> => {
      await writeFile(path.join(folder, 'trace.json'), JSON.stringify(content));
      const { rank } = await readTrace(path.join(folder, 'trace.json'));
      return fingerprintData(rank, explain(rank, { parser }), undefined).attribution.stacks;
    };
    assert.equal(await told(trace), 'recorded');
    assert.equal(await told({ ...stripped(trace), with_stack: 1 }), 'empty');
    assert.equal(await told({ ...stripped(trace), with_stack: 0 }), 'none');
    await rm(folder, { recursive: true, force: true });
  });
});
