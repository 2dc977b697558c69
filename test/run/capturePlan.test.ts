import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { captureHelperFiles } from '../../src/run/captureHelper';
import { findCapture, findStacksTwin } from '../../src/run/captureManifest';
import { capturePasses } from '../../src/run/capturePasses';
import { planCapture, type CaptureContext } from '../../src/run/capturePlan';
import { isXtunerCommand } from '../../src/run/captureXtuner';
import { RunFailure } from '../../src/run/failure';
import { plainArgv } from '../../src/run/launchers';
import type { CaptureSettings, RunSettings } from '../../src/run/runSettings';

const HELPER = [{ path: 'capture/sitecustomize.py', content: '' }];
const context = (files: Readonly<Record<string, string>> = {}, output?: string): CaptureContext => ({ helper: HELPER, readText: (file) => Promise.resolve(files[file]), ...(output === undefined ? {} : { output }) });
const settings = (capture: CaptureSettings, more: Partial<RunSettings> = {}): RunSettings & { readonly capture: CaptureSettings } => ({ launcher: 'command', command: 'python', args: ['train.py', 'it\'s $HOME'], ...more, capture });
const place = (id = 'R1', workdir = '/w', filesFolder = '/r/R1/files'): { readonly id: string; readonly workdir: string; readonly filesFolder: string } => ({ id, workdir, filesFolder });

const failsWith = (code: string) => (error: unknown): boolean => error instanceof RunFailure && error.explanation.code === code;

describe('what a capture adds to a run', () => {
  let folder = '';
  before(() => { folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-plan-')); });
  after(() => rmSync(folder, { recursive: true, force: true }));

  describe('passes', () => {
    it('runs once without stacks, twice with them, and once where asked or where no stacks can come', () => {
      const names = (capture: CaptureSettings): readonly string[] => capturePasses(capture).map(({ name, suffix }) => `${name}${suffix}`);
      assert.deepEqual(names({ steps: [3, 5] }), ['only']);
      assert.deepEqual(names({ steps: [3, 5], shapes: true }), ['only']);
      assert.deepEqual(names({ steps: [3, 5], stacks: true }), ['timing', 'stacks-stacks']);
      assert.deepEqual(names({ steps: [3, 5], stacks: true, twoPass: false }), ['only']);
      assert.deepEqual(names({ steps: [3, 5], stacks: true, method: 'nsys' }), ['only']);
    });

    it('keeps stacks, shapes and memory out of the pass for durations', () => {
      const [timing, stacks] = capturePasses({ steps: [3, 5], stacks: true, shapes: true, memory: true, level: 2 });
      assert.deepEqual(timing.capture, { steps: [3, 5], stacks: false, shapes: false, memory: false, level: 2 });
      assert.deepEqual(stacks.capture, { steps: [3, 5], stacks: true, shapes: true, memory: true, level: 2 });
    });
  });

  describe('the helper', () => {
    it('travels with its settings and goes in front of PYTHONPATH', async () => {
      const [pass] = capturePasses({ steps: [3, 5], ranks: [0, 7], shapes: true });
      const plan = await planCapture(settings(pass.capture), pass, context());
      assert.deepEqual(JSON.parse(plan.files.find((file) => file.path === 'capture/settings.json')?.content ?? ''), { windows: [[3, 5]], warmup: 1, stacks: false, shapes: true, memory: false, level: 1, ranks: [0, 7] });
      const { env, prependPaths, argv } = plan.add(place());
      assert.deepEqual({ env, prependPaths, argv }, { env: { FUSELENS_CAPTURE: '/w/outputs/R1' }, prependPaths: { PYTHONPATH: '/r/R1/files/capture' }, argv: undefined });
    });

    it('is found beside the code, all of it', async () => {
      assert.deepEqual((await captureHelperFiles()).map((file) => file.path), ['__init__', 'capture', 'children', 'guard', 'notes', 'recorders', 'steps'].map((name) => `capture/fuselens_capture/${name}.py`).concat('capture/sitecustomize.py'));
    });
  });

  it('a profile of the pass without stacks finds its twin, from any folder inside it', async () => {
    const passes = capturePasses({ steps: [3, 5], stacks: true });
    const root = path.join(folder, 'it\'s a $dir');
    for (const pass of passes) {
      const plan = await planCapture(settings(pass.capture), pass, context());
      const where = place(`R1${pass.suffix}`, root);
      const shell = spawnSync('sh', ['-c', (plan.add(where).setup ?? []).join('\n')], { encoding: 'utf8' });
      assert.equal(shell.status, 0, shell.stderr);
      mkdirSync(path.join(plan.output(where), 'profiling_time', 'step-3', `rank0_h_${pass.name}_ascend_pt`), { recursive: true });
    }
    const clean = path.join(root, 'outputs', 'R1');
    const twin = path.join(root, 'outputs', 'R1-stacks');
    assert.equal(await findStacksTwin(clean), twin);
    assert.equal(await findStacksTwin(path.join(clean, 'profiling_time', 'step-3')), path.join(twin, 'profiling_time', 'step-3'));
    assert.equal(await findStacksTwin(path.join(clean, 'profiling_time', 'step-3', 'rank0_h_timing_ascend_pt')), path.join(twin, 'profiling_time', 'step-3'));
    assert.equal(await findStacksTwin(twin), undefined);
    assert.equal(await findStacksTwin(folder), undefined);
    assert.deepEqual((await findCapture(path.join(twin, 'profiling_time')))?.manifest, { schema: 'fuselens-capture/1', run: 'R1-stacks', runFolder: '/r/R1', pass: 'stacks', twin: '../R1', capture: { steps: [3, 5], stacks: true } });
    rmSync(twin, { recursive: true });
    assert.equal(await findStacksTwin(clean), undefined);
    writeFileSync(path.join(clean, 'fuselens-capture.json'), '{"schema":"fuselens-capture/1","run":7}');
    assert.equal(await findCapture(clean), undefined);
  });

  describe('XTuner', () => {
    const CONFIG = 'from xtuner.v1.train import TrainerConfig\nclass TrainerConfig:\n    def __init__(self, **k): self.__dict__.update(k)\ntrainer = TrainerConfig(total_step=10, work_dir="mine")';
    const xtuner = (capture: Partial<CaptureSettings>, args: readonly string[]): Promise<Awaited<ReturnType<typeof planCapture>>> => {
      const [pass] = capturePasses({ steps: [3, 5], method: 'xtuner', ...capture });
      return planCapture(settings(pass.capture, { command: 'torchrun', args }), pass, context({ 'cfg/a.py': CONFIG, 'b.py': 'x = 1', 'c.py': `${CONFIG}\nhere = __file__` }));
    };

    it('writes its switches into a copy, which replaces the config in the command', async () => {
      const plan = await xtuner({ memory: true }, ['-m', 'xtuner.v1.train.cli.sft', '--config', 'cfg/a.py', '--seed', '1']);
      assert.deepEqual(plan.files.map((file) => file.path), ['capture/a.py']);
      const { argv, env } = plan.add(place());
      assert.deepEqual(argv, ['torchrun', '-m', 'xtuner.v1.train.cli.sft', '--config', '/r/R1/files/capture/a.py', '--seed', '1']);
      assert.deepEqual(env, { PROFILE_RANKS: 'all', FUSELENS_XTUNER_WORK_DIR: '/w/outputs/R1' });
      assert.deepEqual(plan.notes.map(({ code }) => code), ['capture.note.xtuner-npu-stacks']);
      const copy = path.join(folder, 'a.py');
      writeFileSync(copy, plan.files[0].content.replace(/^from xtuner.*\n/, ''));
      const python = spawnSync('python3', ['-c', 'import json, runpy, sys\nt = runpy.run_path(sys.argv[1])["trainer"]\nprint(json.dumps(t.__dict__))', copy], { encoding: 'utf8', env: { ...process.env, FUSELENS_XTUNER_WORK_DIR: '/o' } });
      assert.deepEqual(JSON.parse(python.stdout), { total_step: 10, work_dir: '/o', profile_step: [3, 4, 5], profile_time: true, profile_memory: true }, python.stderr);
      assert.deepEqual((await xtuner({}, ['sft.py', '--config=cfg/a.py'])).add(place()).argv, ['torchrun', 'sft.py', '--config=/r/R1/files/capture/a.py']);
    });

    it('names each step of several ranges', async () => {
      const { files: [copy] } = await xtuner({ steps: '3,5-6' }, ['sft.py', '--config', 'cfg/a.py']);
      assert.match(copy.content, /^trainer\.profile_step = \[3, 5, 6\]$/m);
    });

    it('refuses what a copy cannot do', async () => {
      await assert.rejects(xtuner({}, ['sft.py', '--load-from', 'm']), failsWith('error.capture-xtuner-config'));
      await assert.rejects(xtuner({}, ['sft.py', '--config', 'none.py']), failsWith('error.capture-xtuner-read'));
      await assert.rejects(xtuner({}, ['sft.py', '--config', 'b.py']), failsWith('error.capture-xtuner-trainer'));
      await assert.rejects(xtuner({}, ['sft.py', '--config', 'c.py']), failsWith('error.capture-xtuner-place'));
    });

    it('knows its command lines', () => {
      assert.ok(isXtunerCommand(['torchrun', '-m', 'xtuner.v1.train.cli.sft']));
      assert.ok(isXtunerCommand(['torchrun', '--nproc-per-node', '8', 'xtuner/v1/train/cli/sft.py']));
      assert.ok(!isXtunerCommand(['python', 'train.py', '--xtuner']));
    });
  });

  describe('dynamic profiling of torch_npu', () => {
    const dynamic = async (output: string): ReturnType<typeof planCapture> => {
      const [pass] = capturePasses({ steps: [10, 12], method: 'dynamic', ranks: [0], level: 1 });
      return planCapture(settings(pass.capture), pass, context({}, output));
    };

    it('puts the request in place once torch_npu watches, and the loop ends with its shell', async function () {
      this.timeout(30_000);
      const output = path.join(folder, 'dyn');
      const plan = await dynamic(output);
      const { env, setup = [] } = plan.add(place());
      assert.deepEqual(env, { PROF_CONFIG_PATH: `${output}/dynamic` });
      // The job: as torch_npu does, it writes a template when it starts to watch, and then looks whether the file changed.
      const watched = `${output}/dynamic/profiler_config.json`;
      const job = `${setup.join('\n')}\n[ -e '${watched}' ] && exit 9\necho '{}' > '${watched}'\nfor i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; grep -q start_step '${watched}' && exit 0; done; exit 8`;
      assert.equal(spawnSync('sh', ['-c', job]).status, 0);
      const config = JSON.parse(readFileSync(watched, 'utf8')) as Readonly<Record<string, unknown>>;
      assert.deepEqual([config.start_step, config.active, config.prof_dir, config.is_rank, config.rank_list], [9, 3, `${output}/profiling_time/step-10`, true, [0]]);
      assert.deepEqual(plan.notes.map(({ code }) => code), ['capture.note.dynamic', 'capture.note.dynamic-ranks']);
    });

    it('refuses a folder that torch_npu would not watch', async () => {
      const plan = await dynamic('/w/my runs');
      assert.throws(() => plan.add(place()), failsWith('error.capture-dynamic-path'));
    });
  });

  describe('Nsight Systems', () => {
    const [pass] = capturePasses({ steps: [3, 4], method: 'nsys' });

    it('stands in front of the command, with the helper opening its window', async () => {
      const run = settings(pass.capture, { command: 'torchrun', args: ['train.py'] });
      const plan = await planCapture(run, pass, context());
      const { argv = [], setup = [] } = plan.add(place());
      assert.deepEqual(argv.slice(0, 2), ['nsys', 'profile']);
      assert.deepEqual(argv.slice(-3), ['--output=/w/outputs/R1/profiling_time/step-3/report_%h_%p', ...plainArgv(run)]);
      assert.ok(argv.includes('--capture-range=cudaProfilerApi') && argv.includes('--export=sqlite'));
      assert.ok(setup[0].includes('/w/outputs/R1/profiling_time/step-3'));
      assert.equal((JSON.parse(plan.files.at(-1)?.content ?? '') as { readonly method: string }).method, 'nsys');
    });

    it('records one range, as torch_npu’s dynamic profiling does', async () => {
      for (const method of ['nsys', 'dynamic'] as const) {
        const [several] = capturePasses({ steps: '3,5', method });
        await assert.rejects(planCapture(settings(several.capture), several, context()), failsWith('error.capture-one-range'));
      }
    });

    it('refuses launchers that would start it once for every rank', async () => {
      await assert.rejects(planCapture(settings(pass.capture, { launcher: 'torchrun' }), pass, context()), failsWith('error.capture-nsys-launcher'));
    });
  });

  it('our Python is syntax that Python 3.8 reads', function () {
    const helper = path.resolve(import.meta.dirname, '../../media/python/capture');
    const check = 'import ast, pathlib, sys\nfor f in pathlib.Path(sys.argv[1]).rglob("*.py"): ast.parse(f.read_text(encoding="utf-8"), str(f), feature_version=(3, 8))';
    const python = spawnSync('python3', ['-c', check, helper], { encoding: 'utf8' });
    if (python.error !== undefined) {
      this.skip();
    }
    assert.equal(python.status, 0, python.stderr);
    assert.ok(existsSync(path.join(helper, 'sitecustomize.py')));
  });
});
