import { UNKNOWN, type Words } from '../shared/words';

interface Unit {
  readonly name: 'ns' | 'µs' | 'ms' | 's';
  readonly ns: number;
}

const UNITS: readonly Unit[] = [{ name: 's', ns: 1e9 }, { name: 'ms', ns: 1e6 }, { name: 'µs', ns: 1e3 }, { name: 'ns', ns: 1 }];

/** A duration with the unit that suits it and no digit that was not recorded. */
export function formatNs(words: Words, ns: number | null | undefined): string {
  if (ns === null || ns === undefined || Number.isNaN(ns)) {
    return UNKNOWN;
  }
  const size = Math.abs(ns);
  const unit = UNITS.find((candidate) => size >= candidate.ns) ?? UNITS[3];
  const value = ns / unit.ns;
  const digits = unit.ns === 1 ? (Number.isInteger(ns) ? 0 : 1) : Math.abs(value) >= 100 ? 1 : Math.abs(value) >= 10 ? 2 : 3;
  return `${words.number(value, digits)} ${unit.name}`;
}

/** Short form for labels inside bars: `32 µs`, `1.2 ms`. */
export function formatShortNs(ns: number): string {
  const unit = UNITS.find((candidate) => ns >= candidate.ns) ?? UNITS[3];
  const value = ns / unit.ns;
  return `${value >= 10 || unit.ns === 1 ? Math.round(value) : value.toFixed(1)} ${unit.name}`;
}

/** Exact: every nanosecond of a point in time. */
export function formatExactNs(words: Words, ns: number): string {
  return Number.isNaN(ns) ? UNKNOWN : `${words.number(ns / 1000, 3)} µs`;
}

/** Both ends of a stretch in one unit, with as many digits as tell them apart. */
export function formatEnds(words: Words, from: number, to: number): readonly [string, string] {
  const unit = UNITS.find((candidate) => Math.max(Math.abs(from), Math.abs(to)) >= candidate.ns * 10) ?? UNITS[3];
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(Math.max(to - from, 1) / 1000 / unit.ns))));
  return [`${words.number(from / unit.ns, digits)} ${unit.name}`, `${words.number(to / unit.ns, digits)} ${unit.name}`];
}

export interface Tick {
  readonly at: number;
  readonly label: string;
}

/** Round ticks over `[from, to]`, about one every `spacing` of `width` pixels; the unit follows the span and is always written. */
export function ticks(words: Words, from: number, to: number, width: number, spacing = 110): readonly Tick[] {
  const span = Math.max(to - from, 1e-3);
  const rough = (span * spacing) / Math.max(width, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const unit = UNITS.find((candidate) => span >= candidate.ns * 2) ?? UNITS[3];
  const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / unit.ns) + 1e-9)));
  const first = Math.ceil(from / step);
  const result: Tick[] = [];
  // Far from zero at a deep zoom only the first tick is written in full.
  const long = Math.abs(from) / unit.ns >= 1e6;
  const base = first * step;
  for (let i = first; i * step <= to && result.length < 200; i++) {
    const at = i * step;
    const label = long && i > first ? `+${words.number((at - base) / unit.ns, digits)} ${unit.name}` : long ? formatBase(words, at) : `${words.number(at / unit.ns, digits)} ${unit.name}`;
    result.push({ at, label });
  }
  return result;
}

function formatBase(words: Words, ns: number): string {
  return `${words.number(ns / 1e6, 6).replace(/[.,]?0+$/, '')} ms`;
}

/**
 * What a bar has room to say of a kernel's name: `aclnnAdds_AddAiCore_Add` → `Adds`, C++ without namespaces, return type and
 * template arguments. The whole name is one hover away.
 */
export function shortName(name: string): string {
  const ascend = /^aclnn(\w+?)_/.exec(name);
  if (ascend !== null) {
    return ascend[1];
  }
  const frame = /\.pyx?\(\d+\): (.*)$/.exec(name);
  if (frame !== null) {
    return frame[1];
  }
  const plain = name.replace(/^void /, '').replace(/^aten::/, '');
  const cut = plain.search(/[<(]/);
  const head = cut > 0 ? plain.slice(0, cut) : plain;
  return head.slice(head.lastIndexOf('::') < 0 ? 0 : head.lastIndexOf('::') + 2) || plain;
}
