import { MESSAGES, text, translateWith } from '../../src/protocol/text';

type MessageArguments = Parameters<typeof text>[1];

/** Unknown is a dash, never a zero. */
export const UNKNOWN = '–';

/** How a column of times is written: one unit for all its cells, so that they can be compared at a glance. */
export interface TimeUnit {
  readonly name: 'µs' | 'ms' | 's';
  readonly divisor: number;
  readonly digits: number;
}

const MICROSECONDS: TimeUnit = { name: 'µs', divisor: 1, digits: 1 };
const MILLISECONDS: TimeUnit = { name: 'ms', divisor: 1000, digits: 2 };
const SECONDS: TimeUnit = { name: 's', divisor: 1_000_000, digits: 3 };

/** Unit for values up to `maxUs`. */
export function timeUnit(maxUs: number): TimeUnit {
  return maxUs < 10_000 ? MICROSECONDS : maxUs < 10_000_000 ? MILLISECONDS : SECONDS;
}

export const microseconds = MICROSECONDS;

/** The view's language: sentences from the bundle, numbers as the language writes them. */
export class Words {
  private readonly translate: (english: string) => string;
  private readonly formats = new Map<number, Intl.NumberFormat>();

  constructor(readonly language: string, bundle: Readonly<Record<string, string>>) {
    this.translate = translateWith(bundle);
  }

  t(code: string, args?: MessageArguments): string {
    return text(code, args, this.translate);
  }

  /** The sentence of a code, or the given text where there is no such code. */
  maybe(code: string, otherwise: string): string {
    return code in MESSAGES ? this.t(code) : otherwise;
  }

  /** An English text that is itself the key of the bundle. */
  english(english: string): string {
    return this.translate(english);
  }

  /** With a true minus sign, as the other signs are written. */
  number(value: number, digits = 0): string {
    let format = this.formats.get(digits);
    if (format === undefined) {
      format = new Intl.NumberFormat(this.language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
      this.formats.set(digits, format);
    }
    return format.format(value).replace(/^-/, '−');
  }

  count(value: number | null): string {
    return value === null ? UNKNOWN : this.number(value);
  }

  /** 0.624 → 62.4 %. A share that is not zero never reads 0. */
  share(value: number | null): string {
    if (value === null) {
      return UNKNOWN;
    }
    return value > 0 && value < 0.0005 ? `< ${this.number(0.1, 1)} %` : `${this.number(value * 100, 1)} %`;
  }

  /** −0.123 → −12.3 %, the sign always written. */
  change(value: number | null): string {
    if (value === null) {
      return UNKNOWN;
    }
    const sign = value > 0 ? '+' : value < 0 ? '−' : '';
    const size = Math.abs(value);
    return size > 0 && size < 0.0005 ? `< ${sign}${this.number(0.1, 1)} %` : `${sign}${this.share(size)}`;
  }

  /** A time on its own, with the unit that suits it. */
  time(us: number | null): string {
    if (us === null) {
      return UNKNOWN;
    }
    const size = Math.abs(us);
    if (size === 0) {
      return '0 µs';
    }
    if (size < 1000) {
      return `${this.number(us, size < 10 ? 2 : 1)} µs`;
    }
    return size < 10_000_000 ? `${this.number(us / 1000, size < 1_000_000 ? 1 : 0)} ms` : `${this.number(us / 1_000_000, 2)} s`;
  }

  /** A time in a column's unit, without writing the unit. */
  timeIn(us: number | null, unit: TimeUnit): string {
    if (us === null) {
      return UNKNOWN;
    }
    const smallest = 10 ** -unit.digits;
    const value = us / unit.divisor;
    return value > 0 && value < smallest / 2 ? `< ${this.number(smallest, unit.digits)}` : this.number(value, unit.digits);
  }

  bytes(value: number): string {
    const power = value < 1e3 ? 0 : value < 1e6 ? 1 : value < 1e9 ? 2 : 3;
    return `${this.number(value / 1000 ** power, power > 1 ? 1 : 0)} ${['B', 'kB', 'MB', 'GB'][power]}`;
  }
}
