/**
 * What a counter of a trace is called and what it counts. Writers put the unit into the key of the value: `MHz`, `KB`,
 * `Read(MB/s)`, `Hit Rate(%)`; others write `value`, or the name again. A unit that nobody wrote stays unknown.
 */

export interface CounterName {
  readonly name: string;
  /** As written, but `B` for sizes (the values are turned into bytes); '' where the file does not say. */
  readonly unit: string;
  /** What values are multiplied with: a power of two, so it is exact. */
  readonly scale: number;
}

/** Keys that are a unit and nothing else; a single letter may stand for anything. */
const UNITS = /^(?:[kKMG]?Hz|[kKMGT]i?B|[Bb]ytes|%|mW|mV|mA|°C|[kKMGT]i?B\/s|B\/s|ns|us|µs|ms)$/;
/** Profilers mean 1024 by KB (2160232 KB in a text export are 2212077568 bytes in the database). */
const SIZES: Readonly<Record<string, number>> = { b: 1, byte: 1, bytes: 1, kb: 1024, kib: 1024, mb: 1024 ** 2, mib: 1024 ** 2, gb: 1024 ** 3, gib: 1024 ** 3, tb: 1024 ** 4, tib: 1024 ** 4 };

/** `key` is that of the value in `args`; `apart` are the other things that tell series of one name apart, as `acc_id 3`. */
export function counterName(name: string, key: string, apart: readonly string[]): CounterName {
  const bracketed = /^(.*?)\s*\(([^()]+)\)$/.exec(key);
  const isUnit = bracketed === null && UNITS.test(key);
  const unit = (bracketed?.[2] ?? (isUnit ? key : '')).trim();
  const stem = bracketed?.[1] ?? (isUnit ? '' : key);
  const says = stem !== '' && stem !== 'value' && !name.toLowerCase().endsWith(stem.toLowerCase());
  const scale = SIZES[unit.toLowerCase()];
  return { name: [name, ...(says ? [stem] : []), ...apart].filter((part) => part !== '').join(' · '), unit: scale === undefined ? unit : 'B', scale: scale ?? 1 };
}
