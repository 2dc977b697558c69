import assert from 'node:assert/strict';
import { timeText } from '../../src/protocol/timeText';

describe('times as text', () => {
  it('have the unit that suits and as many digits as were asked for', () => {
    assert.deepEqual([0, 0.5, 22.8, 556, 1000, 40_000, 302_600, 3_083_000, 12_345_678, 3.6e9].map((us) => timeText(us, 4)),
      ['0 µs', '0.500 µs', '22.80 µs', '556.0 µs', '1.000 ms', '40.00 ms', '302.6 ms', '3.083 s', '12.35 s', '3600.0 s']);
    assert.deepEqual([0.5, 556, 40_000, -40_000, 3_083_000].map((us) => timeText(us, 3)), ['0.50 µs', '556 µs', '40.0 ms', '-40.0 ms', '3.08 s']);
  });
});
