/** What a Kineto trace says about itself: keys beside the events, in any order, before or after them. */
import type { Backend } from '../profile/columns';
import { parseLenient, type JsonValue } from './traceText';

/** Larger values (whole job environments) are not looked at. */
const LARGEST_VALUE = 1 << 20;
const LONGEST_FACT = 200;
const MOST_FACTS = 60;

type JsonObject = { readonly [key: string]: JsonValue };

export class KinetoMetadata {
  private readonly values = new Map<string, JsonValue>();
  eventsNull = false;

  add(key: string, bytes: Uint8Array, start: number, end: number): void {
    if (key === 'traceEvents') {
      this.eventsNull = true;
    } else if (end - start <= LARGEST_VALUE) {
      const value = parseLenient(bytes, start, end);
      if (value !== undefined) {
        this.values.set(key, value);
      }
    }
  }

  get size(): number {
    return this.values.size;
  }

  keys(): readonly string[] {
    return [...this.values.keys()];
  }

  /** Added to every time; an integer beyond 2^53, so it stays text until here. */
  baseTimeNs(): bigint {
    const value = this.values.get('baseTimeNanoseconds');
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
    return /^-?\d{1,30}$/.test(text) ? BigInt(text) : 0n;
  }

  rank(): number | undefined {
    const value = asObject(this.values.get('distributedInfo'))?.['rank'];
    return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
  }

  host(): string | undefined {
    const value = this.values.get('host_name');
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  deviceName(): string | undefined {
    const list = this.values.get('deviceProperties');
    const name = Array.isArray(list) ? asObject(list[0])?.['name'] : undefined;
    return typeof name === 'string' && name !== '' ? name : undefined;
  }

  isOn(key: string): boolean {
    const value = this.values.get(key);
    return value === 1 || value === true;
  }

  /** Small values worth showing: versions, switches, world size, device. */
  facts(): Record<string, string> {
    const facts: Record<string, string> = {};
    const put = (key: string, value: JsonValue | undefined): void => {
      const text = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string' ? String(value) : '';
      if (text !== '' && text.length <= LONGEST_FACT && Object.keys(facts).length < MOST_FACTS) {
        facts[key] = text;
      }
    };
    for (const [key, value] of this.values) {
      put(key, value);
    }
    const distributed = asObject(this.values.get('distributedInfo')) ?? {};
    for (const key of ['backend', 'world_size', 'pg_count', 'nccl_version']) {
      put(`distributed ${key}`, distributed[key]);
    }
    put('device name', this.deviceName());
    return facts;
  }

  /** From versions, device properties and what kinds of events there are. */
  backend(evidence: { readonly deviceEvents: number; readonly mtia: boolean; readonly hipCalls: boolean; readonly cudaCalls: boolean }): Backend {
    const keys = this.keys();
    const device = Array.isArray(this.values.get('deviceProperties')) ? asObject((this.values.get('deviceProperties') as JsonValue[])[0]) : undefined;
    if (keys.some(key => /^(?:hip|roctracer|rocprofiler)_/.test(key)) || device?.['warpSize'] === 64 || evidence.hipCalls) {
      return 'rocm';
    }
    if (evidence.mtia) {
      return 'mtia';
    }
    return evidence.deviceEvents > 0 || evidence.cudaCalls || device?.['warpSize'] === 32 || keys.some(key => /^(?:cuda|cupti)_/.test(key)) ? 'cuda' : 'cpu';
  }
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
