import assert from 'node:assert/strict';
import { FAMILIES } from '../../src/protocol/families';

/** The contract of `fuselens analyze --json`, written out by hand: field → what may stand there. */
type Shape = { readonly [field: string]: Check };
type Check = (value: unknown, where: string) => void;

const text: Check = (value, where) => assert.equal(typeof value, 'string', where);
const count: Check = (value, where) => assert.ok(typeof value === 'number' && Number.isInteger(value) && value >= 0, `${where}: ${String(value)}`);
const number: Check = (value, where) => assert.ok(typeof value === 'number' && Number.isFinite(value), `${where}: ${String(value)}`);
const time: Check = (value, where) => { number(value, where); assert.ok((value as number) >= 0, `${where} is negative`); };
const share: Check = (value, where) => { number(value, where); assert.ok((value as number) >= 0 && (value as number) <= 1, `${where}: ${String(value)}`); };
const orNull = (check: Check): Check => (value, where) => { if (value !== null) { check(value, where); } };
const oneOf = (...values: readonly unknown[]): Check => (value, where) => assert.ok(values.includes(value), `${where}: ${String(value)}`);
const each = (check: Check): Check => (value, where) => {
  assert.ok(Array.isArray(value), where);
  value.forEach((item, i) => check(item, `${where}[${i}]`));
};
/** Exactly these fields: an extra one would be a promise nobody wrote down. */
const shape = (fields: Shape, optional: Shape = {}): Check => (value, where) => {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), where);
  assert.deepEqual(Object.keys(value).filter((name) => !(name in optional)).sort(), Object.keys(fields).sort(), where);
  for (const [name, check] of Object.entries({ ...fields, ...optional })) {
    if (name in value || name in fields) {
      check((value as Readonly<Record<string, unknown>>)[name], `${where}.${name}`);
    }
  }
};

const lanes: Shape = Object.fromEntries(['computeBusyUs', 'communicationBusyUs', 'copyBusyUs', 'overlappedUs', 'exposedCommunicationUs', 'exposedCopyUs', 'computeIdleUs', 'mainStreamIdleUs', 'freeUs'].map((name) => [name, orNull(time)]));
const range: Check = (value, where) => {
  each(time)(value, where);
  const [low, high, ...more] = value as readonly number[];
  assert.ok(low <= high && more.length === 0, `${where}: ${String(value)}`);
};
/** Lines from 1, columns from 0. */
const line: Check = (value, where) => { count(value, where); assert.ok((value as number) >= 1, `${where}: ${String(value)}`); };
const place = shape({ line, startColumn: count, endLine: line, endColumn: count });

const countTotal = shape({ count: orNull(count), totalUs: orNull(time) });

const report = shape({
  schema: oneOf('fuselens/1'),
  profile: shape({
    path: text, format: text, backend: orNull(oneOf('ascend', 'cuda', 'rocm', 'mtia', 'cpu')), baseNs: orNull((value, where) => assert.match(String(value), /^-?\d+$/, where)),
    ranks: each(shape({ rank: orNull(count), label: text, device: orNull(text), host: orNull(text), steps: count, kernels: orNull(count) })),
    versions: (value, where) => assert.ok(typeof value === 'object' && value !== null && Object.values(value).every((item) => typeof item === 'string'), where),
  }),
  problems: each(shape({ kind: text, count, message: (value, where) => { text(value, where); assert.match(String(value), /\S/, where); assert.doesNotMatch(String(value), /\{\w+\}/, where); }, where: text, effect: (value, where) => { text(value, where); assert.doesNotMatch(String(value), /\{\w+\}/, where); } })),
  ranks: each(shape({
    rank: orNull(count), label: text,
    kernels: shape({
      count: orNull(count), timedCount: orNull(count), totalUs: orNull(time), spanUs: orNull(time), busyUs: orNull(time), idleUs: orNull(time), p50Us: orNull(time), p90Us: orNull(time), p99Us: orNull(time),
      minUs: orNull(time), maxUs: orNull(time), shareLe50us: orNull(share), shareLe100us: orNull(share), meanIntervalUs: orNull(time),
    }),
    lanes: shape(lanes),
    split: shape({ compute: countTotal, communication: countTotal, memcpy: countTotal, memset: countTotal }),
    streams: each(shape({ device: orNull(text), stream: orNull(text), label: text, count, totalUs: time, busyUs: orNull(time), idleUs: orNull(time), firstUs: orNull(number), lastUs: orNull(number) })),
    families: each(shape({ family: oneOf(...FAMILIES), count, totalUs: time })),
    topKernels: each(shape({ name: text, type: text, count, totalUs: time })),
    steps: each(shape({ name: text, startUs: orNull(number), durationUs: orNull(time), leadInUs: orNull(number), kernels: orNull(count), ...lanes })),
  })),
  fingerprints: each(shape({
    id: text, fusion: orNull(text), title: text, kind: oneOf('fusion', 'waste', 'unknown'), form: text, phase: oneOf('forward', 'recompute', 'backward', 'optimizer', 'unknown'),
    kernels: each(shape({ name: text, type: text, family: text, meanUs: orNull(time), term: text })),
    occurrences: count, perStep: time, perLayer: orNull(time), meanUs: time, totalUs: time, periodUs: orNull(time), gapUs: time, stallUs: orNull(time), explanation: orNull(text), recoverableDeviceUs: range, recoverableStepUs: range,
    first: shape({ startNs: number, endNs: number, event: count }),
    source: each(shape({ file: text, startLine: line, endLine: line, function: text, method: oneOf('stack', 'alignment', 'carried'), confidence: share, equals: each(text), occurrences: count, kernels: each(place) }, { through: oneOf('replay', 'compiled'), changed: oneOf(true) })),
    ranks: each(shape({ rank: orNull(count), label: text, occurrences: count, totalUs: time, recoverableDeviceUs: range })),
  }, { unit: oneOf('operator') })),
  sources: each(shape({ file: text, operators: count, holes: count })),
  findings: each(() => undefined),
});

/** Fails, naming the field, when a report breaks the contract; then the identities between its figures. */
export function holdContract(value: unknown): void {
  report(value, 'report');
  const { ranks } = value as { readonly ranks: readonly { readonly kernels: Readonly<Record<string, number | null>>; readonly lanes: Readonly<Record<string, number | null>>; readonly split: Readonly<Record<string, { readonly count: number | null }>>; readonly families: readonly { readonly count: number }[] }[] };
  for (const { kernels, lanes: lane, split, families } of ranks) {
    if (kernels.count === null) {
      // A rank whose kernels are unknown says nothing of them, and nothing of it is 0.
      assert.deepEqual([...new Set([...Object.values(kernels), ...Object.values(lane), ...Object.values(split).map((one) => one.count)]), families.length], [null, 0]);
      continue;
    }
    assert.equal((split.compute.count ?? NaN) + (split.communication.count ?? NaN), kernels.count);
    assert.equal(families.reduce((sum, family) => sum + family.count, 0), kernels.count);
    const sum = (...names: readonly string[]): number => names.reduce((total, name) => total + Math.round((lane[name] ?? 0) * 1000), 0);
    if (kernels.spanUs !== null) {
      assert.equal(Math.round(kernels.spanUs * 1000), sum('computeBusyUs', 'computeIdleUs'));
      assert.equal(sum('computeIdleUs'), sum('exposedCommunicationUs', 'exposedCopyUs', 'freeUs'));
    }
  }
}
