/** Lanes of an Ascend trace: (process, thread) pairs, and what each process is. Names come in `M` events anywhere in the file. */
import type { TraceEvent } from './traceScanner';
import { IdKeys } from './traceNumbers';

export type LaneKind = 'python' | 'gc' | 'cann' | 'hardware' | 'communication' | 'marks' | 'other' | 'unnamed';

export interface Lane {
  readonly processKey: number;
  readonly process: string;
  readonly threadKey: number;
  readonly thread: string;
}

/** Process name → what it holds. `HCCL` became `Communication`; MindSpore writes its host side as `CPU` or `MindSpore`. */
function kindOf(name: string | undefined): LaneKind {
  switch (name?.toLowerCase()) {
    case undefined:
      return 'unnamed';
    case 'python':
    case 'mindspore':
    case 'cpu':
    case 'cpu op':
      return 'python';
    case 'python gc':
      return 'gc';
    case 'cann':
      return 'cann';
    case 'ascend hardware':
      return 'hardware';
    case 'hccl':
    case 'communication':
      return 'communication';
    case 'mstx':
    case 'msproftx':
      return 'marks';
    default:
      return 'other';
  }
}

export class LaneRegistry {
  readonly list: Lane[] = [];
  private readonly keys = new IdKeys();
  private readonly byProcess = new Map<number, Map<number, number>>();
  private readonly processNames = new Map<number, string>();
  private readonly threadNames = new Map<string, string>();
  /** Kinds asked for since the last process was named. */
  private readonly kinds: (LaneKind | undefined)[] = [];
  private lastProcess = NaN;
  private lastThread = NaN;
  private lastIndex = -1;

  /** Index of the event's lane. */
  indexOf(event: TraceEvent): number {
    const process = this.keys.keyOf(event.bytes, event.processStart, event.processEnd);
    const thread = this.keys.keyOf(event.bytes, event.threadStart, event.threadEnd);
    if (process === this.lastProcess && thread === this.lastThread) {
      return this.lastIndex;
    }
    let threads = this.byProcess.get(process);
    if (threads === undefined) {
      threads = new Map();
      this.byProcess.set(process, threads);
    }
    let index = threads.get(thread);
    if (index === undefined) {
      index = this.list.length;
      threads.set(thread, index);
      this.list.push({ processKey: process, process: textOf(event.bytes, event.processStart, event.processEnd), threadKey: thread, thread: textOf(event.bytes, event.threadStart, event.threadEnd) });
    }
    this.lastProcess = process;
    this.lastThread = thread;
    this.lastIndex = index;
    return index;
  }

  nameProcess(event: TraceEvent, name: string): void {
    this.processNames.set(this.keys.keyOf(event.bytes, event.processStart, event.processEnd), name);
    this.kinds.length = 0;
  }

  nameThread(event: TraceEvent, name: string): void {
    this.threadNames.set(`${this.keys.keyOf(event.bytes, event.processStart, event.processEnd)}\0${this.keys.keyOf(event.bytes, event.threadStart, event.threadEnd)}`, name);
  }

  /** What the lane holds, as far as names were read. */
  kind(index: number): LaneKind {
    return (this.kinds[index] ??= kindOf(this.processName(index)));
  }

  processName(index: number): string | undefined {
    return this.processNames.get(this.list[index].processKey);
  }

  threadName(index: number): string | undefined {
    const { processKey, threadKey } = this.list[index];
    return this.threadNames.get(`${processKey}\0${threadKey}`);
  }

  /**
   * Device of a hardware lane under the newer process numbers, `host pid << 10 | sort index << 5 | device`; undefined under
   * other schemes. The host pid must be one of the file's own processes.
   */
  device(index: number): number | undefined {
    const process = this.list[index].processKey;
    const isScheme = Math.floor(process / 32) % 32 === 13 && this.byProcess.has(Math.floor(process / 1024));
    return isScheme ? process % 32 : undefined;
  }
}

const decoder = new TextDecoder('utf-8');

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return start < 0 ? '' : decoder.decode(bytes.subarray(start, end));
}
