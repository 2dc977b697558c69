import { UNKNOWN, type Words } from '../shared/words';

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const LARGEST_PLAIN = 1e15;
const SMALLEST_PLAIN = 1e-6;

/** A counter's value, short: three or four digits and the unit; sizes in B, kB, MB, GB. Unknown is a dash. */
export function formatCounter(words: Words, value: number, unit: string): string {
  return formatTogether(words, [value], unit, Math.abs(value) / 1000)[0];
}

/** Lowest and highest in one unit, with as many digits as tell them apart; one text when they are the same. */
export function formatScale(words: Words, low: number, high: number, unit: string): string {
  if (Number.isNaN(low)) {
    return '';
  }
  return low === high ? formatCounter(words, low, unit) : formatTogether(words, [low, high], unit, (high - low) / 100).join(' – ');
}

/** Every digit that was recorded, behind the short form where that has fewer. */
export function formatCounterExact(words: Words, value: number, unit: string): string {
  const short = formatCounter(words, value, unit);
  if (Number.isNaN(value)) {
    return short;
  }
  const digits = (/\.(\d+)$/.exec(String(value))?.[1] ?? '').length;
  const exact = withUnit(/e/.test(String(value)) ? String(value) : words.number(value, Math.min(digits, 20)), unit);
  return exact === short ? short : `${short} (${exact})`;
}

/** `step`: the smallest difference that must show. */
function formatTogether(words: Words, values: readonly number[], unit: string, step: number): readonly string[] {
  const largest = Math.max(...values.map(Math.abs));
  const isSize = unit === 'B' || unit === 'B/s';
  const power = isSize && largest >= 1000 ? Math.min(SIZES.length - 1, Math.floor(Math.log10(largest) / 3)) : 0;
  const divisor = 1000 ** power;
  const whole = values.every((value) => Number.isInteger(value / divisor));
  const digits = whole || !(step > 0) ? 0 : Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / divisor))));
  return values.map((value) => {
    const size = Math.abs(value);
    const plain = value === 0 || (size < LARGEST_PLAIN && size >= SMALLEST_PLAIN) || isSize;
    return Number.isNaN(value) ? UNKNOWN : withUnit(plain ? words.number(value / divisor, digits) : value.toExponential(3), isSize ? unit.replace('B', SIZES[power]) : unit);
  });
}

function withUnit(text: string, unit: string): string {
  return unit === '' ? text : `${text} ${unit}`;
}
