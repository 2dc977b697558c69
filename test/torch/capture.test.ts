import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { caseFolder, codesOf, namesOf, removeCases, runCase, type CaseResult } from './captureHarness';

/** The capture helper beside real programs, each unchanged. The programs name their own passes, so that a recording shows which it holds. */
const PASSES = ['pass#3', 'pass#4', 'pass#5'];
const STEPS = ['ProfilerStep#3', 'ProfilerStep#4', 'ProfilerStep#5'];
/** There is no device here, and the inspection says so. */
const ON_CPU = ['no-device-events'];

function recordedAsAsked(result: CaseResult, passes: readonly string[] = PASSES): void {
  assert.match(result.stdout, /^DONE$/m, result.stderr);
  assert.equal(result.status, 0, result.stderr);
  assert.equal(result.traces.length, 1, result.stderr);
  assert.deepEqual(namesOf(result.traces[0].events, /^pass#/), passes);
  assert.deepEqual(namesOf(result.traces[0].events, /^ProfilerStep#/), STEPS);
  assert.deepEqual(result.notes.map(({ state, rank, recorded }) => ({ state, rank, recorded })), [{ state: 'complete', rank: 0, recorded: [[3, 5]] }]);
  assert.deepEqual(result.inspection.ranks.map(({ rank, steps }) => ({ rank, steps })), [{ rank: 0, steps: [3, 4, 5] }]);
}

const count = ({ traces }: CaseResult, name: string): number => traces[0].events.filter((event) => event.name === name).length;

if (process.env.FUSELENS_TORCH === '1') {
  describe('recording an unchanged program', function () {
    this.timeout(300_000);
    after(removeCases);

    it('records exactly the asked steps, in the profiler’s own format, and each optimizer range whole inside its step', async () => {
      const result = await runCase('plain');
      recordedAsAsked(result);
      assert.match(result.traces[0].file, /^step-3[\\/]rank0_[^\\/]+\.pt\.trace\.json\.gz$/);
      assert.equal(count(result, 'aten::linear'), 2 * 3);
      const ranges = result.traces[0].events.filter(({ name }) => /^(ProfilerStep#|Optimizer\.step#)/.test(name));
      const steps = ranges.filter(({ name }) => name.startsWith('ProfilerStep'));
      for (const { name, ts, dur = NaN } of ranges.filter((range) => range.name.startsWith('Optimizer'))) {
        assert.equal(steps.filter((step) => step.ts <= ts && ts + dur <= step.ts + (step.dur ?? NaN)).length, 1, name);
      }
      assert.deepEqual(codesOf(result), ON_CPU);
      assert.deepEqual(readdirSync(path.join(result.output, 'profiling_time', 'step-3')).filter((name) => name.startsWith('.')), []);
    });

    for (const [name, passes] of [
      ['spare_optimizer'], ['subclass'], ['scheduler'], ['closure'], ['groups_one_by_one'], ['checkpoint_state'], ['own_profiler_before'], ['compiled_step'],
      ['step_fails'], ['other_hooks'], ['no_hooks'],
    ] as readonly (readonly [string, (readonly string[])?])[]) {
      it(`records the same steps of: ${name.replaceAll('_', ' ')}`, async () => {
        // Without hooks the program starts the helper itself.
        const result = await runCase(name, name === 'no_hooks' ? { env: { FUSELENS_CAPTURE: '' } } : {});
        recordedAsAsked(result, passes);
        if (name === 'other_hooks') {
          assert.match(result.stdout, /^HOOKS 7 \{'\{\}'\}$/m);
        }
        if (name === 'no_hooks') {
          assert.match(result.stdout, /^LEFT False$/m);
        }
      });
    }

    it('holds every pass of an accumulated step', async () => {
      const result = await runCase('accumulation');
      recordedAsAsked(result);
      assert.equal(count(result, 'pass#4'), 3);
      assert.equal(count(result, 'aten::linear'), 3 * 2 * 3);
    });

    it('counts by the first of several optimizers', async () => {
      const result = await runCase('several_optimizers');
      recordedAsAsked(result);
      // Its second optimizer works for the next step, and steps twice.
      assert.deepEqual([count(result, 'pass#3'), count(result, 'pass#4'), count(result, 'pass#5'), count(result, 'pass#6')], [3, 3, 3, 0]);
    });

    it('tells of a step that the gradient scaler left out', async () => {
      const result = await runCase('scaler');
      recordedAsAsked(result, [...PASSES, 'pass#6']);
      assert.match(result.stderr, /rank 0: the gradient scaler left a step out: step 4 holds one pass more/);
      assert.deepEqual(codesOf(result), ['scaler', ...ON_CPU]);
    });

    for (const method of ['fork', 'spawn', 'forkserver']) {
      it(`records nothing of data workers (${method})`, async () => {
        const result = await runCase('workers', { env: { CASE_METHOD: method } });
        recordedAsAsked(result);
      });
    }

    it('records from the first step on, without stacks, shapes and memory unless asked', async () => {
      const first = await runCase('plain', { settings: { steps: [1, 1] } });
      assert.deepEqual(namesOf(first.traces[0].events, /^pass#/), ['pass#1']);
      assert.deepEqual(first.inspection.ranks.map(({ steps, stacks }) => ({ steps, stacks })), [{ steps: [1], stacks: false }]);
      assert.ok(!first.traces[0].events.some((event) => event.cat === 'python_function' || event.name === '[memory]'));
      assert.ok(!JSON.stringify(first.traces[0].events).includes('Input Dims'));
    });

    it('records stacks, shapes and memory when asked', async () => {
      const { traces: [trace], inspection } = await runCase('plain', { settings: { stacks: true, shapes: true, memory: true } });
      assert.deepEqual(inspection.ranks.map(({ stacks }) => stacks), [true]);
      assert.ok(trace.events.some((event) => event.name === '[memory]'));
      assert.ok(JSON.stringify(trace.events).includes('"Input Dims":[[4,8],[16,8],[16]]'));
      assert.ok(trace.events.some(({ name, cat }) => cat === 'python_function' && /capture_cases\.py\(\d+\): loss/.test(name)));
    });

    describe('beside a profiler of the program’s own', () => {
      for (const [name, line, steps] of [
        ['own_profiler_first', /the program runs its own profiler \(torch\.(autograd\.profiler|profiler\.profile)\): nothing is recorded here/, []],
        ['own_profiler_waiting', /the program runs its own profiler \(torch\.profiler\.profile\): nothing is recorded here/, []],
        ['own_profiler_later', /the program starts its own profiler \(torch\.profiler\.profile\) and this one steps aside; wrote steps 3 to 4/, [3, 4]],
      ] as const) {
        it(`steps aside: ${name.replaceAll('_', ' ')}`, async () => {
          const result = await runCase(name);
          assert.equal(result.status, 0, result.stderr);
          assert.match(result.stdout, /^OWN True$/m);
          assert.match(result.stderr, line);
          assert.equal(result.notes[0].state, 'aside');
          assert.ok(codesOf(result).includes('aside'));
          assert.deepEqual(result.inspection.ranks.flatMap((rank) => rank.steps.filter((step) => step < 5)), steps);
        });
      }
    });

    describe('at an early end', () => {
      it('keeps what it has when the program ends or fails', async () => {
        const result = await runCase('fails');
        assert.equal(result.status, 1);
        assert.match(result.stderr, /RuntimeError: out of luck/);
        assert.match(result.stderr, /rank 0: the program ended after 4 steps, before step 5; wrote steps 3 to 4/);
        assert.deepEqual(namesOf(result.traces[0].events, /^pass#/), ['pass#3', 'pass#4']);
        assert.deepEqual(codesOf(result), ['partial', ...ON_CPU]);
      });

      it('says so when recording never began', async () => {
        const result = await runCase('plain', { settings: { steps: [30, 32] } });
        assert.equal(result.status, 0);
        assert.match(result.stderr, /rank 0: the program ended after 7 optimizer steps, and recording starts at step 29: nothing was recorded/);
        assert.deepEqual(codesOf(result), ['ended-before']);
      });

      it('is told by the inspection when the process was killed', async () => {
        const result = await runCase('killed');
        assert.equal(result.traces.length, 0);
        assert.deepEqual(codesOf(result), ['killed-recording']);
      });

      it('lets Ctrl+C end the program while a trace is being written', async () => {
        const result = await runCase('interrupted');
        assert.notEqual(result.status, 0);
        assert.doesNotMatch(result.stdout, /NOT INTERRUPTED/);
        assert.match(result.stderr, /^KeyboardInterrupt/m);
        assert.deepEqual(codesOf(result), ['failed']);
      });
    });

    describe('leaving no trace of itself', () => {
      it('takes its hooks out', async () => {
        assert.match((await runCase('left_behind')).stdout, /^LEFT \[\] 0 False False$/m);
      });

      it('is not passed on to programs started after the first step, whose own path entries stay', async () => {
        const own = caseFolder();
        assert.match((await runCase('child', { paths: [own] })).stdout, new RegExp(`^CHILD None ${own} False$`, 'm'));
        assert.match((await runCase('child')).stdout, /^CHILD None None False$/m);
      });

      it('runs the sitecustomize it stands in front of, and is out of the way of imports', async () => {
        const own = caseFolder();
        writeFileSync(path.join(own, 'sitecustomize.py'), 'print("USER SITE", __file__)\n');
        const result = await runCase('path_seen', { paths: [own] });
        recordedAsAsked(result);
        assert.match(result.stdout, new RegExp(`^USER SITE ${own}/sitecustomize\\.py$`, 'm'));
        assert.match(result.stdout, /^PATH True False$/m);
        assert.match(result.stdout, new RegExp(`^THEN ${own}$`, 'm'));
      });
    });

    describe('started in other ways', () => {
      it('python -m', async () => {
        recordedAsAsked(await runCase('plain', { argv: [process.env.FUSELENS_PYTHON ?? 'python3', '-m', 'capture_cases'], paths: [import.meta.dirname] }));
      });

      it('python -E skips it in silence, and the inspection says why', async () => {
        const result = await runCase('plain', { python: ['-E'] });
        assert.match(result.stdout, /^DONE$/m);
        assert.doesNotMatch(result.stderr, /fuselens/);
        assert.deepEqual(codesOf(result), ['nothing']);
      });

      it('under Slurm without torchrun, the rank is SLURM_PROCID', async () => {
        const result = await runCase('plain', { env: { SLURM_PROCID: '3', SLURM_NTASKS: '4' }, settings: { ranks: [3] } });
        assert.deepEqual(result.inspection.ranks.map(({ rank, steps }) => ({ rank, steps })), [{ rank: 3, steps: [3, 4, 5] }]);
        assert.deepEqual(codesOf(result), ON_CPU);
      });

      it('ranks that the program spawns are known by their process group', async () => {
        const result = await runCase('spawned', { env: { CASE_STORE: path.join(caseFolder(), 'store') } });
        assert.equal(result.status, 0, result.stderr);
        assert.deepEqual(result.inspection.ranks.map(({ rank, steps }) => ({ rank, steps })), [0, 1].map((rank) => ({ rank, steps: [3, 4, 5] })));
        assert.deepEqual(codesOf(result), ON_CPU);
      });

      const torchrun = (...options: readonly string[]): readonly string[] => [process.env.FUSELENS_PYTHON ?? 'python3', '-m', 'torch.distributed.run', '--standalone', '--nproc-per-node', '2', ...options, path.join(import.meta.dirname, 'capture_cases.py')];

      it('torchrun, only the asked ranks', async () => {
        const result = await runCase('ranks', { argv: torchrun(), settings: { ranks: [1] } });
        assert.equal(result.status, 0, result.stderr);
        assert.deepEqual(result.traces.map(({ rank }) => rank), [1]);
        assert.deepEqual(result.notes.map(({ rank, state }) => ({ rank, state })), [{ rank: 0, state: 'not-asked' }, { rank: 1, state: 'complete' }]);
        assert.deepEqual(codesOf(result), ON_CPU);
      });
    });

    it('contract: drives torch_npu’s profiler where the program runs on NPUs', async () => {
      const calls = path.join(caseFolder(), 'calls.json');
      const stand = path.join(import.meta.dirname, 'stand_in');
      const result = await runCase('npu', { settings: { stacks: true, level: 2 }, env: { STAND_IN_CALLS: calls }, paths: [stand] });
      assert.equal(result.status, 0, result.stderr);
      assert.deepEqual(JSON.parse(readFileSync(calls, 'utf8')), [
        ['profile', { record_shapes: false, profile_memory: false, with_stack: true, activities: ['CPU', 'NPU'], profiler_level: 'Level2', aic_metrics: 'ACL_AICORE_PIPE_UTILIZATION' }],
        ['start', 2], ['step', 3], ['step', 4], ['step', 5], ['step', 6], ['analyse', true], ['stop', 6],
      ]);
      const inside = readdirSync(path.join(result.output, 'profiling_time', 'step-3'));
      assert.equal(inside.length, 1, inside.join(' '));
      assert.match(inside[0], /^rank0_.*_ascend_pt$/);
      assert.deepEqual(result.inspection.ranks.map(({ rank, steps, kernels }) => ({ rank, steps, kernels })), [{ rank: 0, steps: [3, 4, 5], kernels: 3 }]);
    });

    it('records steps with gaps between as recordings of their own, each warmed up, and nothing else', async () => {
      const result = await runCase('plain', { settings: { steps: '3,5' } });
      assert.equal(result.status, 0, result.stderr);
      assert.match(result.stderr, /recording steps 3 to 3 [^]*wrote steps 3 to 3[^]*recording steps 5 to 5 [^]*wrote steps 5 to 5/);
      assert.deepEqual(result.traces.map(({ file, events }) => [path.dirname(file), namesOf(events, /^ProfilerStep#/), namesOf(events, /^pass#/)]), [
        ['step-3', ['ProfilerStep#3'], ['pass#3']], ['step-5', ['ProfilerStep#5'], ['pass#5']],
      ]);
      assert.deepEqual(result.traces.map((trace) => trace.events.filter(({ name }) => name === 'aten::linear').length), [2, 2]);
      assert.deepEqual(result.notes.map(({ state, recorded, results }) => ({ state, recorded, results: results.length })), [{ state: 'complete', recorded: [[3, 3], [5, 5]], results: 2 }]);
      assert.deepEqual(result.inspection.ranks.map(({ rank, steps }) => ({ rank, steps })), [{ rank: 0, steps: [3, 5] }]);
      assert.deepEqual(codesOf(result), ON_CPU);
    });

    it('keeps the first of two recordings when the program ends before or in the second', async () => {
      for (const [steps, said, found] of [['3,20-21', /ended after 7 steps, before step 20: that part was not recorded/, 'partial-between'], ['3,6-9', /ended after 7 steps, before step 9; wrote steps 6 to 7/, 'partial']] as const) {
        const result = await runCase('plain', { settings: { steps } });
        assert.match(result.stderr, said);
        assert.equal(result.notes[0].state, 'partial');
        assert.deepEqual(codesOf(result), [found, 'lost-steps', ...ON_CPU]);
      }
    });

    it('takes its hooks out after two recordings, too', async () => {
      assert.match((await runCase('left_behind', { settings: { steps: '3,5' } })).stdout, /^LEFT \[\] 0 False False$/m);
    });

    it('keeps the beginning of a step that never ended, and calls it that', async () => {
      const result = await runCase('plain', { settings: { steps: [8, 9] } });
      assert.match(result.stderr, /the program ended after 7 steps, before step 9; wrote the beginning of step 8/);
      assert.deepEqual(codesOf(result).filter((code) => code !== 'lost-steps'), ['cut', ...ON_CPU]);
    });

    it('contract: a recording on NPUs that only warmed up leaves nothing', async () => {
      const stand = path.join(import.meta.dirname, 'stand_in');
      const result = await runCase('npu', { settings: { steps: [9, 10], warmup: 3 }, env: { STAND_IN_CALLS: path.join(caseFolder(), 'calls.json') }, paths: [stand] });
      assert.deepEqual(existsSync(path.join(result.output, 'profiling_time', 'step-9')) ? readdirSync(path.join(result.output, 'profiling_time', 'step-9')) : [], []);
      assert.deepEqual(codesOf(result), ['ended-before']);
    });
  });
}
