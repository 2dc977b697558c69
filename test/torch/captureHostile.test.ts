import assert from 'node:assert/strict';
import path from 'node:path';
import { codesOf, namesOf, removeCases, runCase, type CaseResult } from './captureHarness';

const CASES = path.join(import.meta.dirname, 'hostile_cases.py');
/** A CPU has no device events; that is said of every recording here. */
const ON_A_CPU = ['no-device-events'];
const STEPS = ['ProfilerStep#3', 'ProfilerStep#4', 'ProfilerStep#5'];

if (process.env.FUSELENS_TORCH === '1') {
  describe('capture of programs that do what it least expects', function () {
    this.timeout(120_000);
    after(removeCases);

    /** Ended after two minutes: what hangs has failed. */
    const run = (name: string): Promise<CaseResult> => runCase(name, { argv: ['timeout', '100', process.env.FUSELENS_PYTHON ?? 'python3', CASES] });
    const stepsOf = ({ traces }: CaseResult): readonly (readonly string[])[] => traces.map(({ events }) => namesOf(events, /^ProfilerStep#/));

    /** The program ran as without us, and every process of it that trains has its recording. */
    async function recordsAll(name: string, { status = 0, out = 'trained 7\n', recordings = 1 } = {}): Promise<CaseResult> {
      const result = await run(name);
      assert.deepEqual([result.status, result.stdout], [status, out], result.stderr);
      assert.deepEqual(stepsOf(result), Array.from({ length: recordings }, () => STEPS), result.stderr);
      assert.deepEqual(result.notes.map(({ state }) => state), Array.from({ length: recordings }, () => 'complete'), 'and nothing is told of processes that do not train');
      assert.deepEqual(codesOf(result), ON_A_CPU);
      return result;
    }

    it('a fork before torch: both train, both are recorded', () => recordsAll('fork_before_torch', { out: 'trained 7\ntrained 7\n', recordings: 2 }));

    it('a fork before recording, whose child trains on', () => recordsAll('fork_between', { out: 'trained 7\ntrained 7\n', recordings: 2 }));

    it('a fork while recording and one after it: children that end as programs do end, with their code, and say nothing of ours', async () => {
      const { stderr } = await recordsAll('fork_and_end_normally', { out: 'child\nchild\ntrained 7\nchild\nchild\n' });
      assert.doesNotMatch(stderr, /made no optimizer step/);
    });

    it('a hook of its own for exceptions is called, and what was recorded is kept', async () => {
      const result = await run('own_excepthook');
      assert.equal(result.status, 1);
      assert.match(result.stderr, /^own hook: at step 4$/m);
      assert.deepEqual(stepsOf(result), [['ProfilerStep#3', 'ProfilerStep#4']]);
      assert.ok(codesOf(result).includes('partial'));
    });

    it('environment, path and loaded modules taken away', () => recordsAll('stripped'));

    it('finders taken away: nothing is recorded, the program does not notice, and the inspection says so', async () => {
      const result = await run('finders_replaced');
      assert.deepEqual([result.status, result.stdout, codesOf(result)], [0, 'trained 7\n', ['nothing']], result.stderr);
    });

    it('os._exit in the middle of a recording keeps its code, and the inspection says what became of it', async () => {
      const result = await run('leaves_at_once');
      assert.deepEqual([result.status, codesOf(result), result.traces], [3, ['killed-recording'], []], result.stderr);
    });

    it('a program that replaces itself by another', async () => {
      const result = await run('starts_itself_anew');
      assert.deepEqual([result.status, result.stdout, codesOf(result)], [0, 'trained 7\n', ['killed-recording']], result.stderr);
    });

    it('torch imported, model made and trained on a thread', () => recordsAll('in_a_thread'));

    it('torch imported by two threads at once', () => recordsAll('imported_by_two_threads'));

    it('an optimizer that is made on one thread and steps on another', async () => {
      assert.match((await recordsAll('made_here_trained_there')).stderr, /another thread/);
    });

    it('no stderr', () => recordsAll('no_stderr'));

    // Python itself then ends with 120.
    it('a stderr that throws', () => recordsAll('stderr_that_throws', { status: 120 }));

    it('descriptors closed and the working directory gone', async () => {
      await recordsAll('files_closed');
      await recordsAll('folder_gone');
    });

    it('a trace function that looks at every line stays', () => recordsAll('traced'));
  });
}
