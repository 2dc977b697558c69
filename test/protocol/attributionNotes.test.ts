import assert from 'node:assert/strict';
import { attributionNotes } from '../../src/protocol/attributionNotes';
import type { Attribution } from '../../src/protocol/fingerprints';
import { MESSAGES, text } from '../../src/protocol/text';

const NONE: Attribution = { locatedShare: 0, alignment: null, stacks: 'none', carried: null, holes: [], files: 0, capped: false, ambiguous: [] };

describe('how lines were found, in words', () => {
  it('is nothing where nothing was asked and nothing recorded', () => {
    assert.deepEqual(attributionNotes(NONE), []);
  });

  it('says what was found, what else fits, what is missing and why', () => {
    const notes = attributionNotes({
      ...NONE, locatedShare: 0.934, files: 5000, capped: true, carried: { share: 0.4, enough: false },
      alignment: { file: 'm.py', function: 'A.forward', confidence: 0.8, equals: ['b.py', 'c.py', 'd.py', 'e.py'], holeShare: 0.1 },
      holes: [{ file: 'm.py', operators: 40, holes: 2 }, { file: 'n.py', operators: 9, holes: 0 }], ambiguous: [{ recorded: '/run/x.py', candidates: ['a/x.py', 'b/x.py'] }],
    });
    notes.forEach(({ code, args }) => assert.ok(code in MESSAGES && !/\{\w+\}/.test(text(code, args)), code));
    const all = notes.map(({ code, args }) => text(code, args)).join('\n');
    for (const expected of [/93 %/, /40 %/, /A\.forward in m\.py, confidence 80 %/, /4 other places.*b\.py, c\.py, d\.py\./, /\/run\/x\.py.*2 files/, /5000/, /m\.py has 2 of 40/]) {
      assert.match(all, expected);
    }
    assert.doesNotMatch(all, /n\.py/);
  });

  it('gives the reason where no line was given', () => {
    assert.deepEqual(attributionNotes({ ...NONE, alignment: { code: 'attribution.no-forward' } }).map(({ code }) => code), ['attribution.no-forward']);
  });
});
