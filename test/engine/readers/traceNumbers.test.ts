import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DecimalTime, IdKeys, parseInteger, parseMicroseconds } from '../../../src/engine/readers/traceNumbers';
import { RowOrder, GrowingTable } from '../../../src/engine/readers/traceColumns';
import { TraceClock, ZERO_STAMP, believableRange, dropUnbelievable } from '../../../src/engine/readers/traceClock';
import { orderByStart } from '../../../src/engine/readers/traceSort';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function nanoseconds(text: string): bigint | undefined {
  const time = new DecimalTime();
  const bytes = encode(text);
  return parseMicroseconds(bytes, 0, bytes.length, time) ? BigInt(time.microseconds) * 1000n + BigInt(time.nanoseconds) : undefined;
}

describe('Trace times', () => {
  it('are exact to the ns for 16 + 3 digits, whatever the spelling', () => {
    const digits = fc.bigInt({ min: 0n, max: 9_007_199_254_740_991_999n });
    fc.assert(fc.property(digits, fc.boolean(), fc.constantFrom('plain', 'exponent', 'tab', 'zeros'), (ns, negative, spelling) => {
      const whole = `${ns / 1000n}.${String(ns % 1000n).padStart(3, '0')}`;
      const text = (negative ? '-' : '') + (spelling === 'exponent' ? `${ns}e-3` : spelling === 'tab' ? `${whole}\t` : spelling === 'zeros' ? `${whole}000` : whole);
      assert.equal(nanoseconds(text), negative ? -ns : ns);
    }), { numRuns: 3000 });
  });

  it('round beyond the ns, and refuse what is no number', () => {
    for (const [text, expected] of [['1', 1000n], ['1.5', 1500n], ['1.0004', 1000n], ['1.0005', 1001n], ['0.2962962962962963', 296n], ['1.7e15', 1700000000000000000n], ['1E3', 1000000n], ['.5', 500n], ['5.', 5000n]] as const) {
      assert.equal(nanoseconds(text), expected, text);
    }
    for (const text of ['', '-', 'inf', '-Infinity', 'NaN', 'nan', 'true', '1x', '1.2.3', '12345678901234567890', '"', '1e999']) {
      assert.equal(nanoseconds(text), undefined, text);
    }
  });

  it('become relative without losing a ns, from any base', () => {
    fc.assert(fc.property(fc.bigInt({ min: 1n, max: 2n ** 62n }), fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }), (base, distance) => {
      const clock = new TraceClock();
      const text = (ns: bigint): Uint8Array => encode(`${ns < 0n ? '-' : ''}${(ns < 0n ? -ns : ns) / 1000n}.${String((ns < 0n ? -ns : ns) % 1000n).padStart(3, '0')}`);
      const [first, second] = [text(base), text(base + distance)];
      assert.equal(clock.relative(first, 0, first.length), 0);
      const relative = clock.relative(second, 0, second.length);
      assert.equal(relative === ZERO_STAMP ? -base : BigInt(relative), distance);
      assert.equal(clock.baseNs(), base);
    }), { numRuns: 2000 });
  });

  it('start over when the first stamp was the odd one out', () => {
    const clock = new TraceClock();
    for (const text of ['5', '1700000000000000.001', '1700000000000001', '1700000000000002']) {
      clock.relative(encode(text), 0, text.length);
    }
    const better = clock.betterBase();
    assert.equal(better?.microseconds, 1700000000000002);
    const again = new TraceClock(better);
    assert.equal(again.relative(encode('1700000000000000.001'), 0, 20), -1999);
    assert.ok(Number.isNaN(again.relative(encode('5'), 0, 1)));
  });

  it('keep a stamp of 0 where 0 is believable and drop it where it is not', () => {
    for (const [base, kept] of [['100.5', true], ['1700000000000000', false], ['3743411222487.063', false]] as const) {
      const clock = new TraceClock();
      clock.relative(encode(base), 0, base.length);
      const starts = Float64Array.from([clock.relative(encode('0'), 0, 1), ...Array.from({ length: 50 }, (_, i) => i * 1000)]);
      const durations = new Float64Array(51);
      const dropped = dropUnbelievable(starts, durations, believableRange(starts), clock.zeroStamp());
      assert.equal(dropped, kept ? 0 : 1, base);
      assert.equal(starts[0], kept ? -100_500 : NaN);
    }
  });
});

describe('Trace ids', () => {
  it('are equal exactly when their text is', () => {
    const keys = new IdKeys();
    const keyOf = (text: string): number => keys.keyOf(encode(text), 0, text.length);
    fc.assert(fc.property(fc.oneof(fc.nat().map(String), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }).map(String), fc.stringMatching(/^0x[0-9a-f]{1,16}$/)), fc.nat({ max: 3 }), (text, change) => {
      const other = text.slice(0, -1) + String(change);
      assert.equal(keyOf(text) === keyOf(other), text === other);
    }));
    assert.ok(Number.isNaN(keys.keyOf(encode(''), 0, 0)));
    assert.equal(parseInteger(encode('-1'), 0, 2), -1);
    assert.ok(Number.isNaN(parseInteger(encode('1.5'), 0, 3)));
  });
});

describe('Order of events', () => {
  const time = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.integer({ min: 0, max: 1000 }), fc.constant(NaN));

  it('is that of a stable sort: by start, longer first, unknown starts last in file order', () => {
    fc.assert(fc.property(fc.array(fc.tuple(time, time), { maxLength: 60 }), fc.boolean(), (rows, byDuration) => {
      const starts = Float64Array.from(rows, row => row[0]);
      const durations = Float64Array.from(rows, row => row[1]);
      const number = (value: number, unknown: number): number => (Number.isNaN(value) ? unknown : value);
      const expected = rows.map((_, i) => i).sort((a, b) => number(starts[a], Infinity) - number(starts[b], Infinity) || 0
        || (byDuration && !Number.isNaN(starts[a]) ? number(durations[b], -Infinity) - number(durations[a], -Infinity) || 0 : 0) || a - b);
      const order = orderByStart(starts, byDuration ? durations : undefined);
      assert.deepEqual([...(order ?? rows.map((_, i) => i))], expected);
    }), { numRuns: 2000 });
  });

  it('is applied, in place or through a copy, to columns of every width', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 80 }), values => {
      const order = Uint32Array.from(values, (_, i) => i).sort((a, b) => values[a] - values[b] || a - b);
      for (const type of [Float64Array, Int32Array, Uint16Array, Uint8Array]) {
        for (const copiedRows of [0, 1000]) {
          const sorted = new RowOrder(order, copiedRows).apply(new type(values));
          assert.deepEqual([...sorted], [...order].map(row => values[row]));
        }
      }
    }), { numRuns: 500 });
  });
});

describe('GrowingTable', () => {
  it('holds what was written, whatever it expected', () => {
    for (const fraction of [NaN, 0.001, 0.5, 1, 7]) {
      const table = new GrowingTable({ a: [Float64Array, NaN], b: [Uint8Array, 0] }, { c: [Int32Array, -1], d: [Uint32Array, 0], never: [Int32Array, -1] }, () => fraction);
      for (let i = 0; i < 50_000; i++) {
        const row = table.add();
        table.columns.a[row] = i / 2;
        table.columns.b[row] = i & 255;
        if (i % 1000 === 5) {
          (table.optional.c ?? table.sparseColumn('c'))[row] = i + 1;
        }
        if (i > 40_000) {
          (table.optional.d ?? table.sparseColumn('d'))[row] = i;
        }
      }
      const [a, b, c, d, never] = [table.take('a'), table.take('b'), table.take('c'), table.take('d'), table.take('never')];
      for (const column of [a, b, c, d, never]) {
        assert.equal(column.length, 50_000);
      }
      for (const i of [0, 5, 1005, 39_999, 40_001, 49_999]) {
        assert.deepEqual([a[i], b[i], c[i], d[i], never[i]], [i / 2, i & 255, i % 1000 === 5 ? i : -1, i > 40_000 ? i : 0, -1]);
      }
    }
  });
});
