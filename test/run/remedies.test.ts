import assert from 'node:assert/strict';
import { interleaved, readRemedy, withRemedy, type RunRemedy } from '../../src/run/remedies';
import type { RunSettings } from '../../src/run/runSettings';

const settings: RunSettings = { launcher: 'torchrun', command: 'train.py', args: ['--lr', '1e-4', '--fast', '--mode=a'], env: { A: '1' }, procs: 8 };
const applied = (text: string): RunSettings => {
  const remedy = readRemedy(text);
  assert.ok(remedy !== undefined, text);
  return withRemedy(settings, remedy);
};

describe('remedies of a run', () => {
  it('are read as environment, argument or configuration, and nothing else is', () => {
    assert.deepEqual(['XTUNER_NPU_FUSED_SWIGLU=1', '--use-fused-rmsnorm', '--lr 2e-4', 'model.norm=npu', "NOTE='a b'"].map(readRemedy), [
      { kind: 'environment', name: 'XTUNER_NPU_FUSED_SWIGLU', value: '1' }, { kind: 'arguments', words: ['--use-fused-rmsnorm'] }, { kind: 'arguments', words: ['--lr', '2e-4'] }, { kind: 'arguments', words: ['model.norm=npu'] }, { kind: 'environment', name: 'NOTE', value: 'a b' },
    ]);
    assert.deepEqual(['', 'loss_cfg.mode = "chunk"', 'from_pretrained(…, use_kernels=True)', 'A=1 B=2', 'x; rm -rf /', '--a $(id)', '$HOME'].map(readRemedy), Array.from({ length: 7 }, () => undefined));
  });

  it('change a copy, and replace what was given before', () => {
    const before = JSON.stringify(settings);
    assert.deepEqual(applied('B=2').env, { A: '1', B: '2' });
    assert.deepEqual(applied('A=2').env, { A: '2' });
    assert.deepEqual(applied('--lr 2e-4').args, ['--lr', '2e-4', '--fast', '--mode=a']);
    assert.deepEqual(applied('--mode=b').args, ['--lr', '1e-4', '--fast', '--mode=b']);
    assert.deepEqual(applied('--fast').args, settings.args);
    assert.deepEqual(applied('--new x').args, [...settings.args ?? [], '--new', 'x']);
    assert.deepEqual(withRemedy(settings, { kind: 'launch', change: { procs: 4, setup: ['module load cann'] } }), { ...settings, procs: 4, setup: ['module load cann'] });
    assert.equal(withRemedy(settings, { kind: 'edit' } satisfies RunRemedy), settings);
    assert.equal(JSON.stringify(settings), before);
  });

  it('are compared in an order that is fair to both sides', () => {
    assert.deepEqual(interleaved(1), ['base', 'candidate']);
    assert.deepEqual(interleaved(3), ['base', 'candidate', 'candidate', 'base', 'base', 'candidate']);
    for (const times of [2, 4, 7]) {
      const order = interleaved(times);
      assert.equal(order.filter((side) => side === 'base').length, times);
      assert.equal(order.filter((side) => side === 'candidate').length, times);
      // Mean place in time of each side: equal for even numbers, at most half a place apart for odd ones.
      const mean = (side: string): number => order.reduce((sum, one, at) => sum + (one === side ? at : 0), 0) / times;
      assert.ok(Math.abs(mean('base') - mean('candidate')) <= (times % 2 === 0 ? 0 : 1 / times));
    }
  });
});
