import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseSteps, stepNumbers, stepsSetting, stepsText } from '../../src/run/captureSteps';

describe('steps of a capture', () => {
  it('are one range, or several with gaps between', () => {
    for (const [text, windows] of [['5', [[5, 5]]], ['3-5', [[3, 5]]], ['3 to 5', [[3, 5]]], ['3..5', [[3, 5]]], ['3,5', [[3, 3], [5, 5]]], [' 9, 3–5 ', [[3, 5], [9, 9]]], ['3,4,5', [[3, 5]]], ['3-7,5', [[3, 7]]]] as const) {
      assert.deepEqual(parseSteps(text), windows, text);
    }
    for (const text of ['', '0', '5-3', '3,', '3;5', '-3', '3-', 'all', '1e3', '3,x']) {
      assert.equal(parseSteps(text), undefined, text);
    }
  });

  it('are written as they are read, in order and each once', () => {
    const seed = Date.now() % 1e6;
    fc.assert(fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (steps) => {
      const setting = stepsSetting(parseSteps(steps.join(',')) ?? []);
      assert.deepEqual(stepNumbers(setting), [...steps].sort((a, b) => a - b));
      assert.deepEqual(parseSteps(stepsText(setting))?.length, typeof setting === 'string' ? setting.split(',').length : 1);
    }), { seed });
  });
});
