import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MESSAGES, render } from '../../src/protocol/text';
import { checkRunSettings } from '../../src/run/checkRunSettings';

const plain = { launcher: 'command', command: 'python' } as const;
const codes = (given: unknown): readonly string[] => {
  const checked = checkRunSettings(given);
  return checked.ok ? [] : checked.problems.map(({ code, path }) => `${code.replace('task.problem.', '')} ${path.join('.')}`.trim());
};

describe('checking the settings of a run', () => {
  it('takes what runs are made of, and ignores what only VS Code reads', () => {
    const full = {
      host: 'me@cluster', launcher: 'torchrun', exec: { prefix: ['docker', 'exec', 'c'], path: '/w' }, workdir: '/data/w', command: 'train.py', args: ['', ' $(x)'], env: { A_1: 'b\nc' }, setup: ['source a'],
      nodes: ['me@cluster', 'n2'], procs: 8, capture: { steps: [3, 5], warmup: 2, stacks: true, shapes: true, memory: false, level: 1, ranks: [0, 3], twoPass: true, method: 'helper' }, sync: { push: true, ignore: ['*.pt'], fetch: 'trace' }, tokensPerStep: 4096, ranksPerCard: 2,
    };
    const checked = checkRunSettings({ type: 'fuselens', label: 'train', problemMatcher: [], group: 'build', ...full });
    assert.deepEqual(checked, { ok: true, settings: full });
    assert.deepEqual(codes({ launcher: 'slurm', command: 'a', nodes: 4, slurm: { time: '1:00', gpusPerNode: 0 } }), []);
  });

  it('says which setting has the wrong shape', () => {
    assert.deepEqual(codes('x'), ['not-settings']);
    assert.deepEqual(codes({}), ['missing launcher', 'missing command']);
    assert.deepEqual(codes({ ...plain, comand: 'x' }), ['unknown comand']);
    assert.deepEqual(codes({ ...plain, args: ['a', 3], procs: 1.5, env: { A: 1 } }), ['type args.1', 'type procs', 'type env.A']);
    assert.deepEqual(codes({ ...plain, launcher: 'mpi' }), ['enum launcher']);
    assert.deepEqual(codes({ ...plain, capture: { steps: [0, 1] } }), ['minimum capture.steps.0']);
    assert.deepEqual(codes({ ...plain, capture: { steps: [1, 2, 3] } }), ['length capture.steps']);
    assert.deepEqual(codes({ ...plain, exec: { prefix: [] } }), ['empty exec.prefix']);
    assert.deepEqual(codes({ ...plain, command: 'a\0b' }), ['nul command']);
    assert.deepEqual(['-oProxyCommand=x', 'a b', ''].map((host) => codes({ ...plain, host })), [['host host'], ['host host'], ['empty host']]);
    assert.deepEqual(codes({ ...plain, launcher: 'torchrun', nodes: ['a', '-x'] }), ['host nodes.1']);
    assert.deepEqual(codes({ ...plain, nodes: true }), ['type nodes']);
    assert.deepEqual(codes(JSON.parse('{"launcher":"command","command":"x","__proto__":{"a":1}}')), ['unknown __proto__']);
  });

  it('refuses combinations that would be ignored or could never start', () => {
    const combinations: readonly (readonly [object, string])[] = [
      [{ slurm: {} }, 'options-of-other slurm'], [{ ray: {} }, 'options-of-other ray'],
      [{ launcher: 'slurm', nodes: ['a'] }, 'nodes-list nodes'], [{ launcher: 'torchrun', nodes: 2 }, 'nodes-hosts nodes'], [{ nodes: 2 }, 'nodes-command nodes'], [{ launcher: 'ray', nodes: 2 }, 'nodes-ray nodes'], [{ procs: 2 }, 'procs-command procs'],
      [{ launcher: 'torchrun', host: 'a', nodes: ['b', 'c'] }, 'nodes-without-host nodes'],
      [{ sync: { push: true } }, 'push-here sync.push'], [{ launcher: 'torchrun', rendezvous: 'a:1' }, 'rendezvous rendezvous'], [{ env: { 'A-B': '' } }, 'env-name env.A-B'],
      [{ capture: { steps: [5, 3] } }, 'steps-order capture.steps'], [{ capture: { steps: '5-3' } }, 'steps-text capture.steps'], [{ capture: { steps: '3,5', method: 'nsys' } }, 'steps-one-range capture.steps'],
      [{ capture: { steps: '2,5', warmup: 2 } }, 'warmup capture.warmup'], [{ capture: { steps: [1, 2], warmup: 1 } }, 'warmup capture.warmup'], [{ capture: { steps: [3, 4], twoPass: true } }, 'two-pass capture.twoPass'],
      [{ capture: { steps: [3, 4], level: 1, method: 'nsys' } }, 'level-nsys capture.level'], [{ capture: { steps: [3, 4], stacks: true, method: 'xtuner' } }, 'stacks-xtuner capture.stacks'], [{ capture: { steps: [3, 4], ranks: [1, 1] } }, 'ranks-twice capture.ranks'],
    ];
    assert.deepEqual(combinations.map(([extra]) => codes({ ...plain, ...extra })), combinations.map(([, code]) => [code]));
    assert.deepEqual(codes({ launcher: 'torchrun', command: 'a', nodes: 1, procs: 8, capture: { steps: [1, 1], warmup: 0 } }), []);
  });

  it('never throws, and every problem has a sentence with all its words filled in', () => {
    fc.assert(fc.property(fc.object({ key: fc.constantFrom('launcher', 'command', 'args', 'env', 'capture', 'steps', 'nodes', 'exec', 'prefix', 'x'), maxDepth: 3 }), (given) => {
      const checked = checkRunSettings(given);
      for (const problem of checked.ok ? [] : checked.problems) {
        assert.ok(problem.code in MESSAGES, problem.code);
        assert.doesNotMatch(render(problem).replaceAll(JSON.stringify(given), ''), /\{(?:setting|given|expected|count|minimum|known)\}/);
      }
    }), { seed: 5, numRuns: 500 });
  });
});
