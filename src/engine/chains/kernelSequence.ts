/**
 * Kernels of a rank as sequences of operator tokens, one per stream, in device order, with helper kernels folded into the
 * operator they were launched for.
 */
import { atenToken } from '../operators/atenToken';
import { ascendToken, cudaToken, type KernelToken } from '../operators/kernelToken';
import { EventKind, type RankData } from '../profile/columns';

/** Names of one operator that patterns do not tell apart. */
const SAME: Readonly<Record<string, string>> = { bmm: 'matmul', square: 'pow', addv2: 'add' };

export const canonicalOperator = (op: string): string => SAME[op] ?? op;

/** Interned operator names; id 0 = a kernel no row of the operator table knows. */
export class TokenNames {
  readonly names: string[] = [''];
  private readonly ids = new Map<string, number>([['', 0]]);

  id(name: string): number {
    const known = this.ids.get(name);
    if (known !== undefined) {
      return known;
    }
    this.ids.set(name, this.names.length);
    this.names.push(name);
    return this.names.length - 1;
  }

  has(name: string): number {
    return this.ids.get(name) ?? -1;
  }
}

export interface KernelSequence {
  /** Index into `RankData.streams`. */
  readonly stream: number;
  /** Device event indices of the stream's compute kernels by start, helpers included. */
  readonly order: Uint32Array;
  /** Positions in `order` of the operators (helpers left out). */
  readonly positions: Uint32Array;
  /** Token of each operator, parallel to `positions`. */
  readonly tokens: Uint16Array;
}

export interface RankSequences {
  readonly names: TokenNames;
  readonly sequences: readonly KernelSequence[];
}

/** Sequences of all streams, the one with most compute first. Kernels without a known start are left out: they have no order. */
export function kernelSequences(rank: RankData, names = new TokenNames()): RankSequences {
  const { deviceEvents: events } = rank;
  const tokenOf = kernelTokens(rank);
  const byStream = rank.streams.map(() => 0);
  for (let i = 0; i < events.count; i++) {
    if (events.kind[i] === EventKind.Compute && !Number.isNaN(events.startNs[i])) {
      byStream[events.stream[i]]++;
    }
  }
  const orders = byStream.map((count) => new Uint32Array(count));
  const filled = byStream.map(() => 0);
  const sorted = rank.streams.map(() => true);
  for (let i = 0; i < events.count; i++) {
    if (events.kind[i] !== EventKind.Compute || Number.isNaN(events.startNs[i])) {
      continue;
    }
    const stream = events.stream[i];
    const at = filled[stream]++;
    orders[stream][at] = i;
    if (at > 0 && events.startNs[orders[stream][at - 1]] > events.startNs[i]) {
      sorted[stream] = false;
    }
  }
  const sequences = orders.map((order, stream) => {
    if (!sorted[stream]) {
      order.sort((a, b) => events.startNs[a] - events.startNs[b] || a - b);
    }
    return fold(stream, order, tokenOf, names);
  });
  return { names, sequences: sequences.filter((sequence) => sequence.order.length > 0).sort((a, b) => b.order.length - a.order.length) };
}

function fold(stream: number, order: Uint32Array, tokenOf: (event: number) => KernelToken, names: TokenNames): KernelSequence {
  const positions = new Uint32Array(order.length);
  const tokens = new Uint16Array(order.length);
  let count = 0;
  for (let i = 0; i < order.length; i++) {
    const token = tokenOf(order[i]);
    if (token.satelliteOf !== undefined || token.op === 'memset') {
      continue;
    }
    positions[count] = i;
    tokens[count] = names.id(canonicalOperator(token.op));
    count++;
  }
  return { stream, order, positions: positions.slice(0, count), tokens: tokens.slice(0, count) };
}

/** Token of each device event, computed once per distinct name and type. */
export function kernelTokens(rank: RankData): (event: number) => KernelToken {
  const { deviceEvents: events, strings } = rank;
  const known = new Map<number, KernelToken>();
  const width = strings.size;
  return (event) => {
    const key = events.name[event] * width + events.type[event];
    let token = known.get(key);
    if (token === undefined) {
      const name = strings.get(events.name[event]);
      token = rank.backend === 'ascend' ? ascendToken(name, strings.get(events.type[event])) : rank.backend === 'cpu' ? atenToken(name) : cudaToken(name);
      known.set(key, token);
    }
    return token;
  };
}
