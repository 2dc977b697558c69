/**
 * What a file is, from its first bytes: a Kineto trace, an Ascend `trace_view.json`, or something that is not ours, with
 * the code of one sentence that says what it is and what opens it.
 */
import { isJsonObject, parseLenient } from './traceText';
import { TraceScanner, type TraceEvent } from './traceScanner';

export type TraceKind = 'kineto' | 'ascend-trace';

export interface TraceProbe {
  /** Undefined when no trace events were met in what was looked at. */
  readonly kind: TraceKind | undefined;
  readonly form: 'object' | 'array' | 'none';
  /** Top-level keys met before the events. */
  readonly keys: readonly string[];
  readonly distributedRank: number | undefined;
  readonly eventsFound: boolean;
  /** Metadata records, where the file holds nothing else. */
  readonly names: number;
  readonly empty: boolean;
}

/** Events looked at before the kind is decided. */
const ENOUGH_EVENTS = 64;
const PROBE_BYTES = 8 * 1024 * 1024;
const LARGEST_VALUE = 256 * 1024;
const ASCEND_NAMES = /^(?:Ascend Hardware|CANN|Overlap Analysis|HCCL|Communication|AI Core Freq|NPU MEM|Stars Soc Info|Acc PMU|Python GC|MindSpore)$/;

/** Looks at the beginning of a stream of uncompressed bytes (8 MiB at most); the rest is not read. */
export async function probeTrace(chunks: AsyncIterable<Uint8Array>): Promise<TraceProbe> {
  const visitor = new ProbeVisitor();
  const scanner = new TraceScanner(visitor, { maxItemBytes: 2 * LARGEST_VALUE });
  let bytes = 0;
  for await (const chunk of chunks) {
    // A port may hand over a file as one chunk: small parts let us stop early.
    for (let at = 0; at < chunk.length && visitor.events < ENOUGH_EVENTS; at += 1 << 16) {
      scanner.push(chunk.subarray(at, at + (1 << 16)));
    }
    bytes += chunk.length;
    if (visitor.events >= ENOUGH_EVENTS || bytes >= PROBE_BYTES) {
      break;
    }
  }
  const outcome = scanner.finish();
  // Names of processes and threads alone are no recording, if that is all there is.
  const onlyNames = visitor.withPhase === visitor.names && visitor.events < ENOUGH_EVENTS && bytes < PROBE_BYTES;
  const isTrace = visitor.withPhase > 0 && !onlyNames;
  return {
    kind: !isTrace ? undefined : visitor.ascend || (outcome.form === 'array' && visitor.textTimes > 0) ? 'ascend-trace' : 'kineto',
    form: outcome.form, keys: visitor.keys, distributedRank: visitor.rank, eventsFound: outcome.eventsFound, names: onlyNames ? visitor.names : 0, empty: outcome.empty,
  };
}

/** The same for bytes at hand. */
export async function sniffTrace(head: Uint8Array): Promise<TraceKind | undefined> {
  const one = async function* (): AsyncGenerator<Uint8Array> {
    yield head;
  };
  return (await probeTrace(one())).kind;
}

class ProbeVisitor {
  events = 0;
  withPhase = 0;
  names = 0;
  textTimes = 0;
  ascend = false;
  rank: number | undefined;
  readonly keys: string[] = [];

  event(event: TraceEvent): void {
    this.events++;
    this.withPhase += event.phase !== 0 ? 1 : 0;
    this.names += event.phase === 0x4d ? 1 : 0;
    if (event.timeStart > 0 && event.bytes[event.timeStart - 1] === 0x22) {
      this.textTimes++;
    }
    if (event.phase === 0x4d && event.argsStart >= 0 && event.argsEnd - event.argsStart < 4096) {
      const args = parseLenient(event.bytes, event.argsStart, event.argsEnd);
      const name = isJsonObject(args) ? args['name'] : undefined;
      this.ascend ||= typeof name === 'string' && ASCEND_NAMES.test(name);
    }
  }

  topLevel(key: string, bytes: Uint8Array, start: number, end: number): void {
    if (this.keys.length < 64) {
      this.keys.push(key);
    }
    if (key === 'distributedInfo' && end - start <= LARGEST_VALUE) {
      const value = parseLenient(bytes, start, end);
      const rank = isJsonObject(value) ? value['rank'] : undefined;
      this.rank = typeof rank === 'number' && Number.isInteger(rank) && rank >= 0 ? rank : undefined;
    }
  }
}

/**
 * Rank from a file or folder name: `rank0`, `rank-34.…`, `rank_3`, and `-TP-1` as long as no other parallel dimension is
 * above 0. `worker0` is NOT a rank: it is the tensorboard handler's worker name, and folders exist where every rank's file
 * is called worker0.
 */
export function rankOfName(name: string): number | undefined {
  const ranks = [...name.matchAll(/(?:^|[^a-z])rank[-_.\s]?(\d{1,6})(?!\d)/gi)].map(match => Number(match[1]));
  if (ranks.length > 0) {
    return ranks.every(rank => rank === ranks[0]) ? ranks[0] : undefined;
  }
  const parts = [...name.matchAll(/(?:^|[-_.])(TP|DP|PP|EP|CP)[-_]?(\d{1,6})(?!\d)/g)].map(match => ({ axis: match[1], index: Number(match[2]) }));
  const tensor = parts.find(({ axis }) => axis === 'TP');
  return tensor !== undefined && parts.every(({ axis, index }) => axis === 'TP' || index === 0) ? tensor.index : undefined;
}

/** Rank of a trace: what the file says of itself, else its name, else the folder it lies in; never a guess. */
export function traceRank(path: string, distributedRank: number | undefined): number | undefined {
  const parts = path.split(/[\\/]/).filter(part => part !== '');
  const name = parts[parts.length - 1] ?? '';
  const folder = parts[parts.length - 2] ?? '';
  return distributedRank ?? rankOfName(name) ?? (/^(?:.*[-_.])?rank[-_.]?\d+(?:[-_.].*)?$/i.test(folder) ? rankOfName(folder) : undefined);
}

/** How a trace without a rank is called: `worker0`, else its name without what all traces are called. */
export function traceLabel(name: string): string {
  const worker = /(?:^|[^a-z])(worker[-_]?\d+)(?!\d)/i.exec(name);
  if (worker !== null) {
    return worker[1];
  }
  const bare = name.replace(/\.(?:gz|zip|tar|tgz)$/i, '').replace(/\.json$/i, '').replace(/\.trace$/i, '').replace(/\.pt$/i, '');
  return bare === '' ? name : bare;
}

/**
 * Code of the sentence for a file that is no trace, going by its first bytes; undefined when they may begin a trace.
 * Codes: `error.trace-empty-file`, `error.trace-blank`, `error.foreign-…`, `error.trace-not-json`.
 */
export function classifyForeign(head: Uint8Array): string | undefined {
  if (head.length === 0) {
    return 'error.trace-empty-file';
  }
  if (isWideText(head)) {
    return 'error.foreign-utf16';
  }
  // Before JSON: the length behind a protobuf's first byte, a line break to text, may read as a bracket.
  if (head[0] === 0x0a && hasBinary(head.subarray(0, 16))) {
    return XPLANE.test(new TextDecoder('latin1').decode(head.subarray(0, 64))) ? 'error.foreign-xplane' : 'error.foreign-protobuf';
  }
  let p = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  while (p < head.length && (head[p] === 0x20 || head[p] === 0x09 || head[p] === 0x0a || head[p] === 0x0d)) {
    p++;
  }
  if (p >= head.length) {
    return 'error.trace-blank';
  }
  const text = new TextDecoder('latin1').decode(head.subarray(p, p + 4096));
  if (/^<(?:!doctype|html|head|body|\?xml|!--)/i.test(text)) {
    return /<title>[^<]*memory timeline/i.test(text) ? 'error.foreign-memory-page' : 'error.foreign-html';
  }
  if (head[0] === 0x80 && head[1] >= 2 && head[1] <= 5) {
    return 'error.foreign-pickle';
  }
  if (head[0] === 0x50 && head[1] === 0x4b) {
    return undefined;
  }
  if (text.startsWith('{') || text.startsWith('[')) {
    return foreignJson(text);
  }
  if (text.startsWith('NVIDIA') || text.includes('QDSTRM')) {
    return 'error.foreign-nsys-report';
  }
  return !hasBinary(head) ? 'error.trace-not-json' : head[0] === 0x0a ? 'error.foreign-protobuf' : 'error.foreign-binary';
}

/** An `XSpace` begins with a plane: its length, perhaps its id (`08`), and its name (`12`), such as `/host:CPU`. */
const XPLANE = /^\n[^]{1,5}?(?:\x08[^]{1,9}?)?\x12[^]\/(?:host|device):/;

/** UTF-16 or UTF-32, as some shells write what is redirected into a file: a byte order mark, or an opening bracket with zero bytes round it. */
function isWideText(head: Uint8Array): boolean {
  const opens = (byte: number): boolean => byte === 0x7b || byte === 0x5b;
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff) || (opens(head[0]) && head[1] === 0) || (head[0] === 0 && head.length > 3 && (opens(head[1]) || opens(head[3])));
}

function foreignJson(text: string): string | undefined {
  if (/^\[\s*\[/.test(text)) {
    return 'error.foreign-memory-timeline';
  }
  if (/"device_traces"\s*:/.test(text) || /^\{\s*"segments"\s*:/.test(text)) {
    return 'error.foreign-memory-snapshot';
  }
  if (/"schema"\s*:\s*"[^"]*"/.test(text) && (/"nodes"\s*:/.test(text) || /chakra/i.test(text)) && !/"traceEvents"/.test(text)) {
    return 'error.foreign-execution-trace';
  }
  if (/^\{[^{}]*"\$schema"\s*:\s*"[^"]*speedscope/.test(text)) {
    return 'error.foreign-speedscope';
  }
  return undefined;
}

function hasBinary(head: Uint8Array): boolean {
  const length = Math.min(head.length, 4096);
  for (let i = 0; i < length; i++) {
    if (head[i] < 0x09 || (head[i] > 0x0d && head[i] < 0x20 && head[i] !== 0x1b)) {
      return true;
    }
  }
  return false;
}
