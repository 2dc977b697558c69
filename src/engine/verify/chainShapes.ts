import type { ProfileShapes, VerifyDtype } from '../../protocol/verify';
import type { Explanation } from '../attribution/explain';
import { EventKind, type RankData } from '../profile/columns';

/** Names of dtypes as torch_npu and PyTorch profiles write them. */
const DTYPES: Readonly<Record<string, VerifyDtype>> = {
  DT_BF16: 'bfloat16', BF16: 'bfloat16', 'c10::BFloat16': 'bfloat16', bfloat16: 'bfloat16', FLOAT16: 'float16', DT_FLOAT16: 'float16', 'c10::Half': 'float16', half: 'float16', FLOAT: 'float32', DT_FLOAT: 'float32', float: 'float32',
};

interface KernelInputs {
  readonly shapes: readonly (readonly number[])[];
  readonly dtypes: readonly string[];
}

/**
 * Shapes of the inputs of one occurrence of a chain, by role. Its kernels tell them: x is the first input of the first kernel
 * that reads a tensor of the chain's full size, cos and sin of a rotation stand beside x in its first product. Undefined where
 * the profile has no shapes.
 */
export function chainShapes({ deviceEvents, strings }: RankData, events: ArrayLike<number>, fusion: string): ProfileShapes | undefined {
  const kernels = Array.from(events, (event): KernelInputs => ({ shapes: readShapes(strings.get(deviceEvents.shapes[event])), dtypes: strings.get(deviceEvents.dtypes[event]).split(';') }));
  const full = Math.max(0, ...kernels.flatMap(({ shapes }) => shapes.map(size)));
  const first = kernels.find(({ shapes }) => shapes.some((shape) => size(shape) === full));
  if (first === undefined || full <= 1) {
    return undefined;
  }
  const at = first.shapes.findIndex((shape) => size(shape) === full);
  const x = first.shapes[at];
  const shapes: Record<string, readonly number[]> = fusion === 'attention' ? { query: kernels[0].shapes[0] ?? x } : { x };
  const table = fusion === 'rope' ? first.shapes.find((shape, i) => i !== at && shape.at(-1) === x.at(-1)) : undefined;
  return { shapes: table === undefined ? shapes : { ...shapes, cos: table, sin: table }, dtype: DTYPES[first.dtypes[at]?.trim() ?? ''] };
}

/** The compute kernels of one stream from an event on. */
export function occurrenceFrom({ deviceEvents }: RankData, event: number, count: number): readonly number[] {
  const found: number[] = [];
  for (let i = event; i < deviceEvents.count && found.length < count; i++) {
    if (deviceEvents.stream[i] === deviceEvents.stream[event] && deviceEvents.kind[i] === EventKind.Compute) {
      found.push(i);
    }
  }
  return found;
}

/** Shapes of the chain of one fusion that lies at these lines. */
export function shapesAt(rank: RankData, { fingerprints }: Explanation, at: { readonly fusion: string; readonly file: string; readonly startLine: number; readonly endLine: number }): ProfileShapes | undefined {
  const chain = fingerprints.find(({ fingerprint, sources }) => fingerprint.fusion?.id === at.fusion
    && sources.some(({ file, equals, startLine, endLine }) => [file, ...equals].includes(at.file) && startLine <= at.endLine && at.startLine <= endLine));
  return chain === undefined ? undefined : chainShapes(rank, chain.fingerprint.events[0] ?? [], at.fusion);
}

const size = (shape: readonly number[]): number => (shape.length === 0 ? 0 : shape.reduce((product, length) => product * length, 1));

/** `4096,16,128;128` → [[4096, 16, 128], [128]]; a scalar's place stays empty. */
function readShapes(text: string): readonly (readonly number[])[] {
  return text === '' ? [] : text.split(';').map((shape) => (/^\d+(,\d+)*$/.test(shape.trim()) ? shape.trim().split(',').map(Number) : []));
}
