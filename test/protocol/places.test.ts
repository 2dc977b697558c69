import assert from 'node:assert/strict';
import { groupNames } from '../../src/protocol/groupNames';
import { withinProfile } from '../../src/protocol/problemPlace';

describe('names of places', () => {
  it('are as short as can be told apart', () => {
    assert.deepEqual([...groupNames(['out/run1/step-5'])], [['out/run1/step-5', 'step-5']]);
    assert.deepEqual([...groupNames(['out/run1/step-5', 'out/run1/step-19']).values()], ['step-5', 'step-19']);
    assert.deepEqual([...groupNames(['out/run1/step-5', 'out/run2/step-5', 'out/run1/step-5']).values()], ['run1/step-5', 'run2/step-5']);
    assert.deepEqual([...groupNames(['', 'a']).values()], ['', 'a']);
    assert.deepEqual([...groupNames(['a\\b', 'c\\b']).values()], ['a\\b', 'c\\b']);
  });

  it('leave out the profile they are in, wherever they stand', () => {
    const problem = { kind: 'k', severity: 'info', count: 1, where: '/data/p/rank_0/a.csv line 3', args: { file: '/data/p/b.json', rows: 3, other: '/elsewhere/c' } } as const;
    assert.deepEqual(withinProfile(problem, '/data/p'), { ...problem, where: 'rank_0/a.csv line 3', args: { file: 'b.json', rows: 3, other: '/elsewhere/c' } });
    assert.deepEqual(withinProfile({ ...problem, where: 'C:\\p\\a.csv' }, 'C:\\p').where, 'a.csv');
  });
});
