import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TraceScanner, scanTrace, type ScanOutcome, type TraceEvent } from '../../../src/engine/readers/traceScanner';
import { decodeText, parseLenient } from '../../../src/engine/readers/traceText';
import { ArgumentKeys, FoundArguments } from '../../../src/engine/readers/traceArguments';

interface Seen {
  readonly ph: string;
  readonly name: string | undefined;
  readonly cat: string | undefined;
  readonly ts: string | undefined;
  readonly dur: string | undefined;
  readonly pid: string | undefined;
  readonly tid: string | undefined;
  readonly id: string | undefined;
  readonly args: unknown;
  readonly argsAt: number;
}

interface Scanned {
  readonly events: readonly Seen[];
  readonly keys: Readonly<Record<string, unknown>>;
  readonly outcome: ScanOutcome;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything a visitor can learn, with the file fed in chunks of `size` bytes. */
function scan(bytes: Uint8Array, size: number, maxItemBytes?: number): Scanned {
  const events: Seen[] = [];
  const keys: Record<string, unknown> = {};
  const scanner = new TraceScanner({
    event(e: TraceEvent) {
      const text = (start: number, end: number): string | undefined => (start < 0 ? undefined : decodeText(e.bytes, start, end));
      events.push({
        ph: e.phase === 0 ? '' : String.fromCharCode(e.phase), name: text(e.nameStart, e.nameEnd), cat: text(e.categoryStart, e.categoryEnd), ts: text(e.timeStart, e.timeEnd),
        dur: text(e.durationStart, e.durationEnd), pid: text(e.processStart, e.processEnd), tid: text(e.threadStart, e.threadEnd), id: text(e.idStart, e.idEnd),
        args: e.argsStart < 0 ? undefined : parseLenient(e.bytes, e.argsStart, e.argsEnd), argsAt: e.argsStart < 0 ? -1 : e.bytesAt + e.argsStart,
      });
    },
    topLevel(key, window, start, end) {
      keys[key] = parseLenient(window, start, end);
    },
  }, maxItemBytes === undefined ? {} : { maxItemBytes });
  for (let at = 0; at < bytes.length; at += size) {
    // A copy, overwritten afterwards: whoever keeps the chunk will be found out.
    const chunk = bytes.slice(at, at + size);
    scanner.push(chunk);
    chunk.fill(0x21);
  }
  return { events, keys, outcome: scanner.finish() };
}

const SIZES = [1, 2, 3, 5, 7, 11, 16, 23, 37, 64, 1000, 1 << 20];

const event = (n: number): Record<string, unknown> => ({
  ph: 'X', cat: 'kernel', name: `k${n}`, pid: 0, tid: 7, ts: 1000 + n, dur: 2.5, args: { correlation: n, stream: 7, grid: [1, 1, 1], note: 'a "quoted" \\ path' },
});

const names = (scanned: Scanned): (string | undefined)[] => scanned.events.map(e => e.name);

describe('TraceScanner', () => {
  const keyText = fc.constantFrom('ph', 'cat', 'name', 'ts', 'dur', 'pid', 'tid', 'id', 'bp', 's', 'args', 'other', 'long key with spaces', 'argz', 'namf');
  const leaf = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }), fc.integer({ min: -1e9, max: 1e9 }), fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e6, max: 1e6 }), fc.boolean(),
    fc.constant(null), fc.constantFrom('a"b', 'back\\slash', '\n', '{', '}', '],[', '"', '\\', 'ends with \\', '核函数'),
  );
  const value = fc.letrec(tie => ({
    any: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie('any'), { maxLength: 4 }), fc.dictionary(fc.string({ maxLength: 6 }), tie('any'), { maxKeys: 4 })),
  })).any;
  const record = fc.dictionary(keyText, value, { maxKeys: 10 }).map(object => ({
    ...object,
    ...('args' in object && (typeof object['args'] !== 'object' || object['args'] === null || Array.isArray(object['args'])) ? { args: { x: object['args'] } } : {}),
  }));
  const layout = fc.constantFrom<(v: unknown) => string>(
    v => JSON.stringify(v), v => JSON.stringify(v, null, 1), v => JSON.stringify(v, null, '\t').replaceAll('\n', '\r\n'), v => JSON.stringify(v).replace(/^\{/, '{ ').replaceAll('":', '" : '),
  );
  const extras = fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }).filter(key => key !== 'traceEvents' && key !== '__proto__' && !/["\\]/.test(JSON.stringify(key).slice(1, -1))), value, { maxKeys: 3 });

  /** What JSON.parse says, put the way the scanner says it. */
  function expected(records: readonly Record<string, unknown>[]): Omit<Seen, 'argsAt'>[] {
    const plain = (v: unknown): string | undefined => (v === null || v === undefined ? undefined : typeof v === 'string' ? v : undefined);
    return records.map(r => ({
      ph: typeof r['ph'] === 'string' ? new TextDecoder('latin1').decode(encode(r['ph']).slice(0, 1)) : '',
      name: plain(r['name']), cat: plain(r['cat']), ts: plain(r['ts']), dur: plain(r['dur']), pid: plain(r['pid']), tid: plain(r['tid']), id: plain(r['id']), args: r['args'],
    }));
  }

  it('agrees with JSON.parse on any document, layout, key order and chunk size', function () {
    this.timeout(60_000);
    fc.assert(fc.property(fc.array(record, { maxLength: 6 }), extras, extras, layout, fc.constantFrom('object', 'array'), fc.constantFrom(...SIZES), (records, before, after, write, form, size) => {
      const document = form === 'array' ? records : { ...before, traceEvents: records, ...after };
      const text = write(document);
      const parsed = JSON.parse(text) as Record<string, unknown> | Record<string, unknown>[];
      const truth = expected((Array.isArray(parsed) ? parsed : parsed['traceEvents']) as Record<string, unknown>[]);
      const scanned = scan(encode(text), size);
      assert.equal(scanned.outcome.broken.count, 0, text);
      assert.equal(scanned.outcome.openAt, 'complete');
      assert.equal(scanned.events.length, truth.length);
      scanned.events.forEach((seen, i) => {
        const original = (Array.isArray(parsed) ? parsed : parsed['traceEvents'] as Record<string, unknown>[])[i];
        for (const key of ['name', 'cat', 'ts', 'dur', 'pid', 'tid', 'id'] as const) {
          if (typeof original[key] === 'string' || original[key] === undefined || original[key] === null) {
            assert.equal(seen[key], truth[i][key], `${key} of ${text}`);
          } else if (typeof original[key] === 'number') {
            assert.equal(Number(seen[key]), original[key]);
          }
        }
        if (typeof original['ph'] === 'string' && original['ph'].length > 0 && /^[\x20-\x7e]/.test(original['ph']) && !/^["\\]/.test(original['ph'])) {
          assert.equal(seen.ph, truth[i].ph);
        }
        assert.deepEqual(seen.args, original['args'], text);
        if (seen.argsAt >= 0) {
          assert.equal(encode(text)[seen.argsAt], 0x7b);
        }
      });
      if (!Array.isArray(parsed)) {
        const { traceEvents: _events, ...rest } = parsed;
        for (const [key, v] of Object.entries(rest)) {
          assert.deepEqual(scanned.keys[key], v, `${key} of ${text}`);
        }
      }
    }), { numRuns: 1500 });
  });

  it('agrees with JSON.parse on many events written alike, and on their arguments', function () {
    this.timeout(60_000);
    const scalar = fc.oneof(fc.integer(), fc.constant(null), fc.boolean(), fc.double({ noDefaultInfinity: true, noNaN: true, min: -1e6, max: 1e6 }));
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), fc.constantFrom('', 'a"b', '\\', 'void at::native::kernel<float, 4>(int, float*)', '核函数', '", "pid": 3'));
    const any = fc.oneof(scalar, text, fc.array(fc.oneof(scalar, text), { maxLength: 3 }), fc.constant({}), fc.constant({ correlation: 5 }));
    // Mostly of one kind each, so that events are alike; sometimes not, so that they are only nearly so.
    const alike = fc.record({
      ph: fc.constant('X'), cat: fc.constantFrom('kernel', 'cpu_op'), name: text, pid: fc.integer(), ts: scalar, dur: fc.oneof({ weight: 6, arbitrary: scalar }, { weight: 1, arbitrary: any }),
      args: fc.record({ correlation: scalar, 'Input type': fc.array(text, { maxLength: 3 }), note: text, stream: fc.oneof({ weight: 6, arbitrary: scalar }, { weight: 1, arbitrary: any }) }),
      tid: fc.oneof({ weight: 6, arbitrary: fc.integer() }, { weight: 1, arbitrary: any }),
    });
    const keys = new ArgumentKeys(['stream', 'correlation', 'absent']);
    fc.assert(fc.property(fc.array(alike, { minLength: 2, maxLength: 12 }), layout, fc.constantFrom(64, 300, 1 << 20), (made, write, size) => {
      const bytes = encode(write(made));
      const records = JSON.parse(write(made)) as typeof made;
      const found = new FoundArguments(keys);
      const streams: unknown[] = [];
      const scanner = new TraceScanner({
        event(e: TraceEvent) {
          found.readEvent(e);
          const at = (slot: number): unknown => {
            if (found.start[slot] < 0) {
              return null;
            }
            const isText = e.bytes[found.start[slot] - 1] === 0x22;
            const raw = e.bytes.subarray(found.start[slot], found.end[slot]);
            return isText ? decodeText(raw, 0, raw.length) : JSON.parse(new TextDecoder().decode(raw));
          };
          streams.push([at(0), at(1), at(2)]);
        },
      });
      for (let at = 0; at < bytes.length; at += size) {
        scanner.push(bytes.subarray(at, at + size));
      }
      assert.equal(scanner.finish().broken.count, 0);
      assert.deepEqual(streams, records.map(({ args }) => [args.stream, args.correlation, null]));
      const seen = scan(bytes, size).events;
      const truth = expected(records);
      seen.forEach((e, i) => {
        assert.deepEqual([e.ph, e.name, e.cat], [truth[i].ph, truth[i].name, truth[i].cat]);
        assert.deepEqual(e.args, records[i].args);
        for (const key of ['ts', 'dur', 'pid', 'tid'] as const) {
          const value: unknown = records[i][key];
          const read: unknown = e[key] === undefined || typeof value === 'object' ? null : typeof value === 'string' ? e[key] : JSON.parse(e[key]);
          // `scan` reads escapes in lists and objects as if they were text.
          assert.deepEqual(read, typeof value === 'object' ? null : value);
        }
      });
    }), { numRuns: 600 });
  });

  it('finds the same in a damaged document whatever the chunks, and never loses what lies before the damage', function () {
    this.timeout(60_000);
    const damage = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), kind: fc.constantFrom('cut', 'delete', 'insert', 'replace'), byte: fc.constantFrom(...[...'"\\{}[],:x1 '].map(c => c.charCodeAt(0))) });
    fc.assert(fc.property(fc.integer({ min: 1, max: 8 }), fc.array(damage, { minLength: 1, maxLength: 2 }), layout, fc.boolean(), fc.constantFrom(...SIZES), (n, damages, write, object, size) => {
      const records = Array.from({ length: n }, (_, i) => event(i));
      let bytes = encode(write(object ? { schemaVersion: 1, traceEvents: records, traceName: 'x' } : records));
      let first = bytes.length;
      for (const { at, kind, byte } of damages) {
        const offset = Math.floor(at * bytes.length);
        first = Math.min(first, offset);
        const head = bytes.slice(0, offset);
        const tail = kind === 'cut' ? new Uint8Array(0) : kind === 'insert' ? bytes.slice(offset) : bytes.slice(offset + 1);
        bytes = Uint8Array.from([...head, ...(kind === 'insert' || kind === 'replace' ? [byte] : []), ...tail]);
      }
      const whole = scan(bytes, 1 << 20);
      const parts = scan(bytes, size);
      const text = new TextDecoder().decode(bytes);
      assert.deepEqual(names(parts), names(whole), text);
      const intact = encode(write(object ? { schemaVersion: 1, traceEvents: records, traceName: 'x' } : records)).slice(0, first);
      const before = scan(intact, 1 << 20);
      assert.deepEqual(names(whole).slice(0, before.events.length), names(before), text);
    }), { numRuns: 2000 });
  });

  it('resynchronises at the next record and says where', () => {
    const good = JSON.stringify([event(0), event(1), event(2), event(3)]);
    const broken = good.replace('"name":"k1"', '"name":"k1');
    for (const size of SIZES) {
      const scanned = scan(encode(broken), size);
      assert.deepEqual(names(scanned), ['k0', 'k2', 'k3']);
      assert.equal(scanned.outcome.broken.count, 1);
      assert.equal(scanned.outcome.broken.firstAt, good.indexOf('{"ph":"X"', 5));
      assert.equal(scanned.outcome.openAt, 'complete');
    }
  });

  it('does not let a record with a missing brace swallow the rest of the file', () => {
    const list = Array.from({ length: 200 }, (_, i) => event(i));
    const text = JSON.stringify({ traceEvents: list, baseTimeNanoseconds: 5 });
    const inArgs = text.replace('"correlation":50,"stream":7,"grid":[1,1,1],"note":"a \\"quoted\\" \\\\ path"}}', '"correlation":50}');
    const noArgsEnd = text.replace('"correlation":50,', '"correlation":50,{');
    for (const damaged of [inArgs, noArgsEnd]) {
      assert.notEqual(damaged, text);
      for (const size of [64, 1000, 1 << 20]) {
        const scanned = scan(encode(damaged), size);
        assert.equal(scanned.events.length, 199);
        assert.equal(scanned.outcome.broken.count, 1);
        assert.deepEqual(scanned.keys, { baseTimeNanoseconds: 5 });
      }
    }
  });

  it('keeps what follows a broken last record', () => {
    const text = JSON.stringify({ traceEvents: [event(0), event(1)], baseTimeNanoseconds: 7 }).replace('"name":"k1"', '"name":"k1');
    for (const size of SIZES) {
      const scanned = scan(encode(text), size);
      assert.deepEqual(names(scanned), ['k0']);
      assert.deepEqual(scanned.keys, { baseTimeNanoseconds: 7 });
      assert.equal(scanned.outcome.openAt, 'complete');
    }
  });

  it('reads a Windows path that ends in a lone backslash', () => {
    const text = '[{"ph":"X","name":"C:\\work\\","ts":1,"args":{"dir":"C:\\tmp\\","n":1}},{"ph":"X","name":"b"}]';
    for (const size of SIZES) {
      const scanned = scan(encode(text), size);
      assert.deepEqual(names(scanned), ['C:\\work\\', 'b']);
      assert.equal(scanned.outcome.broken.count, 0);
      assert.equal(scanned.outcome.literalBackslashes, 1);
    }
  });

  it('tolerates a byte order mark, trailing commas, extra braces, other bytes after the end and bare inf', () => {
    const one = JSON.stringify(event(0));
    for (const [text, events] of [
      [`\ufeff[${one},${one},]`, 2], [`[${one},,${one}]`, 2], [`[${one}},${one}]`, 2], [`{"traceEvents":[${one}]}}}`, 1], [`[${one}] trailing`, 1], [`[${one}]\0\0`, 1],
      [`  \n [${one.replace('2.5', '-Infinity').replace('[1,1,1]', '[inf,NaN,nan]')}]`, 1], [`{"a":{"b":[1,2,{"c":null}]},"traceEvents" : [ ${one} ] , "z": "}"}`, 1],
    ] as const) {
      for (const size of SIZES) {
        const scanned = scan(encode(text), size);
        assert.equal(scanned.events.length, events, text);
        assert.equal(scanned.outcome.openAt, 'complete', text);
      }
    }
  });

  it('tells a cut file from a whole one', () => {
    const text = JSON.stringify({ traceEvents: [event(0), event(1)], traceName: 'x' });
    const whole = text.indexOf(JSON.stringify(event(1)));
    for (const size of SIZES) {
      for (const end of [whole - 1, whole, whole + 30]) {
        const { outcome, events } = scan(encode(text.slice(0, end)), size);
        assert.equal(outcome.openAt, 'events');
        assert.equal(events.length, 1);
        assert.equal(outcome.lastWholeAt, whole - 1);
        assert.equal(outcome.broken.count, 0);
      }
      assert.equal(scan(encode(text.slice(0, text.indexOf(']', text.lastIndexOf('args')) + 40)), size).outcome.openAt === 'complete', false);
      assert.equal(scan(encode(text.slice(0, -1)), size).outcome.openAt, 'document');
    }
  });

  it('survives 100,000 nested brackets', () => {
    const deep = `[{"ph":"X","name":"a","args":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}},{"ph":"X","name":"b"}]`;
    for (const size of [4096, 1 << 20]) {
      const { events, outcome } = scan(encode(deep), size);
      assert.deepEqual(events.map(e => e.name), ['a', 'b']);
      assert.equal(outcome.openAt, 'complete');
    }
    const open = scan(encode(`[{"ph":"X","name":"a","args":${'{"a":['.repeat(100_000)}`), 1 << 16);
    assert.equal(open.events.length, 0);
    assert.equal(open.outcome.openAt, 'events');
  });

  it('skips a record larger than it is willing to hold', () => {
    const text = `[${JSON.stringify(event(0))},{"ph":"X","name":"huge","args":{"x":"${'y'.repeat(50_000)}","z":[{"ph":1}]}},${JSON.stringify(event(2))}]`;
    for (const size of [100, 4096]) {
      const { events, outcome } = scan(encode(text), size, 10_000);
      assert.deepEqual(events.map(e => e.name), ['k0', 'k2']);
      assert.equal(outcome.oversized.count, 1);
      assert.equal(outcome.openAt, 'complete');
    }
  });

  it('reads a record of several chunks in linear time', function () {
    this.timeout(20_000);
    const text = `[{"ph":"X","name":"large","args":{"x":[${'1,'.repeat(3_000_000)}1]}},${JSON.stringify(event(1))}]`;
    const { events } = scan(encode(text), 1 << 12);
    assert.deepEqual(events.map(e => e.name), ['large', 'k1']);
  });

  it('stops when cancelled', async () => {
    const controller = new AbortController();
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield encode('[');
      for (let i = 0; ; i++) {
        if (i === 3) {
          controller.abort();
        }
        yield encode(`${JSON.stringify(event(i))},`);
      }
    };
    await assert.rejects(scanTrace(endless(), { event: () => undefined }, { signal: controller.signal }), { name: 'Cancelled' });
  });
});

describe('FoundArguments', () => {
  it('agrees with JSON.parse on any arguments', () => {
    const wanted = ['correlation', 'stream', 'External id', 'a'];
    const keys = new ArgumentKeys(wanted);
    const found = new FoundArguments(keys);
    const key = fc.constantFrom(...wanted, 'b', 'streaM', 'corre', 'External iD', 'x y');
    fc.assert(fc.property(fc.dictionary(key, fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.array(fc.integer()), fc.dictionary(key, fc.integer()))), fc.boolean(), (args, spaced) => {
      const text = JSON.stringify(args, null, spaced ? 1 : 0);
      const bytes = encode(`${text} `);
      const check = (window: Uint8Array, truth: Readonly<Record<string, unknown>>): void => wanted.forEach((name, slot) => {
        const value = truth[name];
        if (value === undefined || value === null) {
          assert.equal(found.start[slot], -1);
        } else {
          const raw = new TextDecoder().decode(window.subarray(found.start[slot], found.end[slot]));
          assert.deepEqual(typeof value === 'string' ? JSON.parse(`"${raw}"`) : JSON.parse(raw), JSON.parse(JSON.stringify(value)));
        }
      });
      found.read(bytes, 0, bytes.length - 1);
      check(bytes, args);
      const spread = text.replaceAll('":', '" : ');
      const scanner = new TraceScanner({ event: e => {
        found.readEvent(e);
        check(e.bytes, JSON.parse(spread) as Record<string, unknown>);
      } });
      scanner.push(encode(`[{"ph":"X","args" : ${spread} }]`));
      assert.equal(scanner.finish().events, 1);
    }), { numRuns: 1000 });
  });
});
