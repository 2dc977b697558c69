import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import { EngineSession } from '../../../src/engine/session';
import { engineEnvironment } from '../../../src/node/environment';
import { runCapture, type CapturedPass } from '../../../src/run/captureRun';
import { planPush, push } from '../../../src/run/push';
import type { Hosts } from '../../../src/run/run';
import type { CaptureSettings } from '../../../src/run/runSettings';
import { cli } from '../../cli/runCli';
import { labHosts } from '../lab/session';
import { startSshLab, type SshLab } from '../lab/sshLab';
import { TORCH_PYTHON } from '../lab/torch';

const PROJECT = path.join(import.meta.dirname, 'project');
const LAYERS = 4;
/** Three norms, four products of the mixer, one of its output and three of the feed forward in each layer; embedding, last norm, head. */
const PARAMETERS = 11 * LAYERS + 3;
const STEPS = [3, 5];
/** Tokens a rank sees in a step: 4 sequences of 32. */
const TOKENS = 128;

/** Line of a text in a file of the project, counted here and not by what is tested. */
function lineOf(file: string, text: string, after = ''): number {
  const lines = readFileSync(path.join(PROJECT, file), 'utf8').split('\n');
  const from = after === '' ? 0 : lines.findIndex((line) => line.includes(after));
  const at = lines.findIndex((line, i) => i >= from && line.includes(text));
  assert.ok(from >= 0 && at >= 0, `${text} in ${file}`);
  return at + 1;
}

/** Every chain of the catalogue that the project has: how often a step runs it, and where it is written. */
const CHAINS: readonly { readonly fusion: string; readonly perStep: number; readonly file: string; readonly lines: readonly [number, number] }[] = [
  // On the optimizer the recorded frame names the function that called it; the library's own lines are nobody's to edit.
  { fusion: 'adamw-loop', perStep: PARAMETERS, file: 'train.py', lines: [lineOf('train.py', 'def main'), lineOf('train.py', 'def main')] },
  { fusion: 'cross-entropy', perStep: 1, file: 'decoder.py', lines: [lineOf('decoder.py', 'F.cross_entropy'), lineOf('decoder.py', 'F.cross_entropy')] },
  { fusion: 'gated-rms-norm', perStep: LAYERS, file: 'decoder.py', lines: [lineOf('decoder.py', 'torch.rsqrt', 'class GatedNorm'), lineOf('decoder.py', 'F.silu', 'class GatedNorm')] },
  { fusion: 'rms-norm', perStep: 2 * LAYERS + 1, file: 'decoder.py', lines: [lineOf('decoder.py', 'torch.rsqrt', 'class PlainNorm'), lineOf('decoder.py', 'return self.weight', 'class PlainNorm')] },
  { fusion: 'rope', perStep: 2 * LAYERS, file: 'decoder.py', lines: [lineOf('decoder.py', 'q_turned ='), lineOf('decoder.py', 'k_turned =')] },
  { fusion: 'swiglu', perStep: LAYERS, file: 'decoder.py', lines: [lineOf('decoder.py', 'F.silu', 'class FeedForward'), lineOf('decoder.py', 'F.silu', 'class FeedForward')] },
];

interface Reported {
  readonly profile: { readonly backend: string; readonly ranks: readonly { readonly rank: number; readonly kernels: number }[] };
  readonly fingerprints: readonly { readonly fusion: string | null; readonly perStep: number; readonly source: readonly { readonly file: string; readonly startLine: number; readonly endLine: number; readonly method: string }[] }[];
}

interface Compared {
  readonly checks: readonly { readonly id: string; readonly outcome: string; readonly message: string }[];
  readonly verdict: { readonly kind: string; readonly message: string };
  readonly ranks: readonly { readonly rank: number }[];
  readonly figures: readonly { readonly id: string; readonly base: { readonly median: number; readonly samples: number }; readonly candidate: { readonly median: number; readonly samples: number } }[];
  readonly tables: { readonly chains: readonly { readonly key: string; readonly base: { readonly count: number } | null; readonly candidate: { readonly count: number } | null }[] };
}

/** The whole round on one machine: trained over ssh, captured, fetched, located, fused, trained again, compared. */
describe('the whole round over ssh, with PyTorch on the CPU', function () {
  this.timeout(600_000);
  let lab: SshLab;
  let hosts: Hosts;
  let folder: string;
  let eager: readonly CapturedPass[] = [];
  let fused: readonly CapturedPass[] = [];
  const losses = new Map<string, readonly number[]>();
  const here = (name: string): string => path.join(folder, 'here', name);

  before(async function () {
    if (TORCH_PYTHON === undefined) {
      console.log('      left out: no Python with PyTorch; npm run test:torch -- --prepare installs it');
      this.skip();
    }
    folder = mkdtempSync('/tmp/fl-round-');
    lab = await startSshLab();
    hosts = labHosts(lab);
    mkdirSync(path.join(folder, 'here'));
    cpSync(PROJECT, here('eager'), { recursive: true });
  });
  after(async () => {
    await hosts?.dispose();
    await lab?.dispose();
    if (folder !== undefined) {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  /** Pushes a project, trains it there by torchrun with two gloo ranks, and brings the profile back. */
  async function train(name: string, capture: CaptureSettings): Promise<readonly CapturedPass[]> {
    const there = path.join(folder, 'there on $x', name);
    const options = { shell: hosts.shell('lab'), tools: hosts.tools, from: here(name), to: there };
    await push(options, await planPush(options));
    let output = '';
    const passes = await runCapture(hosts, {
      host: 'lab', launcher: 'torchrun', procs: 2, workdir: there, command: TORCH_PYTHON ?? '', args: ['train.py'], env: { OMP_NUM_THREADS: '1', PYTHONWARNINGS: 'ignore' }, capture,
    }, { workspace: here(name), session: () => new EngineSession(engineEnvironment({})), onOutput: ({ bytes }) => { output += Buffer.from(bytes).toString(); } });
    passes.forEach(({ state, run }) => { assert.equal(state.exit, 0, `${run.id}\n${output}`); });
    losses.set(name, [...output.matchAll(/^step: \d+ loss: (\S+)$/gm)].map(([, loss]) => Number(loss)));
    return passes;
  }

  /** Each part stands on the runs before it. */
  const profileOf = (pass: CapturedPass | undefined): string => path.join(pass?.output ?? assert.fail('its run failed'), 'profiling_time');

  function holdsAsked({ inspection, output }: CapturedPass, stacks: boolean): void {
    // A recording of its own for each asked step, and one file a rank in it.
    const recorded = readdirSync(path.join(output, 'profiling_time'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.gz')).map((file) => /^(step-\d+)\/(rank\d)_/.exec(file)?.slice(1).join(' '));
    assert.deepEqual(recorded.sort(), ['step-3 rank0', 'step-3 rank1', 'step-5 rank0', 'step-5 rank1']);
    assert.deepEqual([...inspection.ranks].map(({ rank, steps, stacks: has }) => ({ rank, steps, has })).sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)), [0, 1].map((rank) => ({ rank, steps: STEPS, has: stacks })));
    // There is no device here, and that is all there is to say.
    assert.deepEqual(inspection.findings.map(({ code }) => code), ['capture.found.no-device-events']);
  }

  async function analyse(profile: string, ...more: readonly string[]): Promise<Reported> {
    const { code, out, err } = await cli(['analyze', profile, '--json', ...more]);
    assert.equal(code, 0, err);
    return JSON.parse(out) as Reported;
  }

  /** Chains of the catalogue with the one place each comes from, by name. */
  function placesOf({ fingerprints }: Reported): readonly unknown[] {
    return fingerprints.filter(({ fusion }) => fusion !== null).map(({ fusion, perStep, source }) => ({
      fusion, perStep, source: source.map(({ file, startLine, endLine, method }) => ({ file, lines: [startLine, endLine], method })),
    })).sort((a, b) => String(a.fusion).localeCompare(String(b.fusion)));
  }

  const expected = (method: string): readonly unknown[] => CHAINS.map(({ fusion, perStep, file, lines }) => ({ fusion, perStep, source: [{ file: path.join(here('eager'), file), lines, method }] }));

  it('trains with two ranks, captures steps 3 and 5 in two passes, and fetches both', async () => {
    eager = await train('eager', { steps: '3,5', stacks: true });
    assert.deepEqual(eager.map(({ pass }) => pass.name), ['timing', 'stacks']);
    holdsAsked(eager[0], false);
    holdsAsked(eager[1], true);
    // Six losses of each pass, the same both times: recording changes nothing.
    const [first, again] = [losses.get('eager')?.slice(0, 6) ?? [], losses.get('eager')?.slice(6) ?? []];
    assert.equal(first.length, 6);
    assert.deepEqual(again, first);
    assert.ok(first[5] < first[0], 'it learns');
  });

  it('finds every chain of the source in the pass with stacks, at its lines', async () => {
    const report = await analyse(profileOf(eager[1]), '--source', here('eager'));
    assert.equal(report.profile.backend, 'cpu');
    // Operators of the CPU are no kernels.
    assert.deepEqual(report.profile.ranks.map(({ rank, kernels }) => ({ rank, kernels })), [0, 1, 0, 1].map((rank) => ({ rank, kernels: 0 })));
    assert.deepEqual(placesOf(report), expected('stack'));
  });

  it('carries the lines over to the clean pass', async () => {
    assert.deepEqual(placesOf(await analyse(profileOf(eager[0]), '--source', here('eager'), '--stacks', profileOf(eager[1]))), expected('carried'));
  });

  it('fuses what the profile shows and PyTorch can run, on a copy', async () => {
    cpSync(PROJECT, here('fused'), { recursive: true });
    const { code, err } = await cli(['fuse', here('fused'), '--write', '--backend', 'torch', '--profile', profileOf(eager[1])]);
    assert.equal(code, 0, err);
    const text = readFileSync(path.join(here('fused'), 'decoder.py'), 'utf8');
    assert.equal(text.split('F.rms_norm(').length - 1, 2);
    assert.doesNotMatch(text, /rsqrt/);
    assert.equal(readFileSync(path.join(here('fused'), 'train.py'), 'utf8'), readFileSync(path.join(PROJECT, 'train.py'), 'utf8'));
  });

  it('trains the fused one to the same losses', async () => {
    fused = await train('fused', { steps: '3,5' });
    assert.deepEqual(fused.map(({ pass }) => pass.name), ['only']);
    holdsAsked(fused[0], false);
    const [before, after] = [losses.get('eager') ?? [], losses.get('fused') ?? []];
    assert.equal(after.length, 6);
    after.forEach((loss, step) => { assert.ok(Math.abs(loss - before[step]) < 1e-3, `step ${step + 1}: ${before[step]} eager, ${loss} fused`); });
  });

  it('compares the two: comparable, the fused chains gone, the others as before', async () => {
    const { code, out, err } = await cli(['compare', profileOf(eager[0]), profileOf(fused[0]), '--json', '--tokens', String(TOKENS)]);
    assert.equal(code, 0, err);
    const { checks, verdict, ranks, figures, tables } = JSON.parse(out) as Compared;
    assert.deepEqual(checks.filter(({ outcome }) => outcome === 'blocks').map(({ message }) => message), []);
    assert.notEqual(verdict.kind, 'notComparable', verdict.message);
    assert.match((await cli(['compare', profileOf(eager[0]), profileOf(fused[0])])).out, /operators that ran there are counted as kernels/);
    assert.deepEqual(ranks.map(({ rank }) => rank), [0, 1]);
    const counts = Object.fromEntries(tables.chains.map(({ key, base, candidate }) => [key, [base?.count ?? null, candidate?.count ?? null]]));
    const norms = 3 * LAYERS + 1;
    assert.deepEqual(counts['rms-norm forward'], [2 * LAYERS + 1, null]);
    assert.deepEqual(counts['gated-rms-norm forward'], [LAYERS, null]);
    assert.deepEqual(counts['fused fused.rmsNorm forward'], [null, norms]);
    assert.deepEqual(counts['rope forward'], [2 * LAYERS, 2 * LAYERS]);
    assert.deepEqual(counts['adamw-loop optimizer'], [PARAMETERS, PARAMETERS]);
    // The gate of the gated norm stays, silu and a product: behind a fused norm that is no SwiGLU.
    assert.deepEqual(counts['swiglu forward'], [LAYERS, LAYERS]);
    const operators = figures.find(({ id }) => id === 'count');
    assert.deepEqual([operators?.base.samples, operators?.candidate.samples], [4, 4]);
    // pow, mean, add, rsqrt and two products become one operator at every norm.
    assert.equal((operators?.base.median ?? NaN) - (operators?.candidate.median ?? NaN), 5 * norms);
  });
});
