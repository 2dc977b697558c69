/** Threads and streams of a trace, numbered as they are met; names from `M` events, which may come anywhere in the file. */
import type { StreamInfo, ThreadInfo } from '../profile/columns';
import { StringTable } from '../profile/strings';
import type { TraceEvent } from './traceScanner';

/** Indexes of threads and streams are 16 bits wide; what comes later shares the last one. */
const MAX_ROWS = 65_535;

/** Remembers one short byte range and tells whether the next is the same. */
export class SameBytes {
  private readonly bytes = new Uint8Array(64);
  private length = -1;

  matches(bytes: Uint8Array, start: number, end: number): boolean {
    const length = start < 0 ? 0 : end - start;
    if (length === this.length) {
      let i = 0;
      while (i < length && this.bytes[i] === bytes[start + i]) {
        i++;
      }
      if (i === length) {
        return true;
      }
    }
    this.length = length <= 64 ? length : -1;
    for (let i = 0; i < this.length; i++) {
      this.bytes[i] = bytes[start + i];
    }
    return false;
  }
}

export class ThreadRegistry {
  private readonly texts = new StringTable();
  private readonly indexes = new Map<number, number>();
  private readonly list: { readonly process: number; readonly thread: number }[] = [];
  private readonly threadNames = new Map<number, string>();
  private readonly processNames = new Map<number, string>();
  private lastIndex = -1;
  private readonly lastProcess = new SameBytes();
  private readonly lastThread = new SameBytes();
  /** Threads beyond what a column can number. */
  overflow = 0;

  indexOf(event: TraceEvent): number {
    // Neighbouring events mostly lie on one thread: comparing a dozen bytes is cheaper than looking two ids up.
    const sameProcess = this.lastProcess.matches(event.bytes, event.processStart, event.processEnd);
    if (this.lastThread.matches(event.bytes, event.threadStart, event.threadEnd) && sameProcess && this.lastIndex >= 0) {
      return this.lastIndex;
    }
    const key = this.keyOf(event);
    let index = this.indexes.get(key);
    if (index === undefined) {
      if (this.list.length === MAX_ROWS) {
        this.overflow++;
        this.lastIndex = -1;
        return MAX_ROWS - 1;
      }
      index = this.list.length;
      this.indexes.set(key, index);
      this.list.push({ process: Math.floor(key / 2 ** 26), thread: key % 2 ** 26 });
    }
    this.lastIndex = index;
    return index;
  }

  nameThread(event: TraceEvent, name: string): void {
    this.threadNames.set(this.keyOf(event), name);
  }

  nameProcess(event: TraceEvent, name: string): void {
    this.processNames.set(this.processId(event), name);
  }

  /** Process number (not the pid) of a thread, for keys that count per process. */
  processOf(thread: number): number {
    return this.list[thread]?.process ?? 0;
  }

  toArray(): readonly ThreadInfo[] {
    const processes = new Set(this.list.map(({ process }) => process));
    return this.list.map(({ process, thread }) => {
      const pid = this.texts.get(process);
      const tid = this.texts.get(thread);
      const own = this.threadNames.get(process * 2 ** 26 + thread) ?? (/^-?\d+$/.test(tid) ? `thread ${tid}` : tid);
      const owner = this.processNames.get(process);
      const label = processes.size > 1 ? `${owner === undefined ? pid : `${owner} ${pid}`} · ${own}` : own;
      return { process: pid, thread: tid, label };
    });
  }

  private keyOf(event: TraceEvent): number {
    const thread = event.threadStart < 0 ? 0 : this.texts.internBytes(event.bytes, event.threadStart, event.threadEnd);
    return this.processId(event) * 2 ** 26 + thread;
  }

  private processId(event: TraceEvent): number {
    return event.processStart < 0 ? 0 : this.texts.internBytes(event.bytes, event.processStart, event.processEnd);
  }
}

export class StreamRegistry {
  private readonly texts = new StringTable();
  private readonly indexes = new Map<number, number>();
  private readonly list: { readonly device: string; readonly stream: string }[] = [];
  private readonly byText = new Map<string, number>();
  private readonly lastDevice = new SameBytes();
  private readonly lastStream = new SameBytes();
  private lastIndex = -1;

  /** Stream of a device event: `args.device` and `args.stream`, else pid and tid (`stream 7` in 2020-2021). -1 ranges are absent. */
  indexOf(bytes: Uint8Array, deviceStart: number, deviceEnd: number, streamStart: number, streamEnd: number): number {
    const sameDevice = this.lastDevice.matches(bytes, deviceStart, deviceEnd);
    if (this.lastStream.matches(bytes, streamStart, streamEnd) && sameDevice && this.lastIndex >= 0) {
      return this.lastIndex;
    }
    const device = deviceStart < 0 ? 0 : this.texts.internBytes(bytes, deviceStart, deviceEnd);
    const stream = streamStart < 0 ? 0 : this.texts.internBytes(bytes, streamStart, streamEnd);
    const key = device * 2 ** 26 + stream;
    let index = this.indexes.get(key);
    if (index === undefined) {
      const names = { device: this.texts.get(device), stream: this.texts.get(stream).replace(/^stream /, '') };
      const text = `${names.device}\0${names.stream}`;
      index = this.byText.get(text) ?? Math.min(this.list.length, MAX_ROWS - 1);
      this.byText.set(text, index);
      this.indexes.set(key, index);
      if (index === this.list.length) {
        this.list.push(names);
      }
    }
    this.lastIndex = index;
    return index;
  }

  toArray(): readonly StreamInfo[] {
    const devices = new Set(this.list.map(({ device }) => device));
    return this.list.map(({ device, stream }) => {
      const own = stream === '' ? 'stream ?' : `stream ${stream}`;
      return {
        device: /^-?\d+$/.test(device) ? Number(device) : undefined,
        stream: stream === '' ? undefined : stream,
        label: devices.size > 1 ? `device ${device} · ${own}` : own,
      };
    });
  }

  devices(): readonly string[] {
    return [...new Set(this.list.map(({ device }) => device).filter(device => device !== ''))];
  }
}
