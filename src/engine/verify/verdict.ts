import { figureText } from '../../protocol/figureText';
import type { Differences, HelperAnswer, HelperCase, HelperRan, HelperResult, HelperTensor, VerifyDtype, VerifyReport, VerifyRow, VerifySubject } from '../../protocol/verify';

/** Unit roundoff: half a unit in the last place, relative to the value. */
const UNIT: Readonly<Record<VerifyDtype, number>> = { bfloat16: 2 ** -8, float16: 2 ** -11, float32: 2 ** -24 };

/**
 * How far a whole tensor may lie from the eager one: a unit in the last place. In fp32 the order of sums and the digits of
 * written-out constants count too.
 */
const NORM_LIMIT: Readonly<Record<VerifyDtype, number>> = { bfloat16: 2 * UNIT.bfloat16, float16: 2 * UNIT.float16, float32: 2e-5 };

/** Where one element may be: no further from the exact value than twice the eager form's own worst, or these many units of the largest. */
const ELEMENT_UNITS: Readonly<Record<VerifyDtype, number>> = { bfloat16: 4, float16: 4, float32: 64 };

/** Without an exact run: largest relative difference of one element. */
const BLIND_UNITS: Readonly<Record<VerifyDtype, number>> = { bfloat16: 16, float16: 16, float32: 512 };

export interface RunConditions {
  readonly host?: string;
  /** Shape of x in the profile. */
  readonly profileShape?: readonly number[];
}

/** The report on one case: the figures per dtype and layout, and whether the promise holds. */
export function verifyReport(subject: VerifySubject, answer: Pick<HelperAnswer, 'python' | 'torch' | 'device'> | undefined, ran: HelperCase, { host, profileShape }: RunConditions = {}): VerifyReport {
  const { file, function: name, startLine, endLine, fusion, backend, promise } = subject;
  const base = {
    schema: 'fuselens-verify/1' as const, file, function: name, startLine, endLine, fusion, backend, promise,
    python: answer?.python ?? null, torch: answer?.torch ?? null, device: answer?.device ?? null, host: host ?? null,
  };
  if (ran.status === 'failed') {
    return { ...base, verdict: 'failed', whole: null, inputsFrom: null, inputs: [], cutFrom: null, references: [], rows: [], skipped: [], failure: { code: ran.code, args: ran.args } };
  }
  const rows = ran.results.map((result) => verifyRow(result, promise));
  const { whole, inputsFrom, inputs, references, skipped } = ran;
  const nothing = rows.length === 0 ? { code: 'runs-nowhere', args: { file, function: name, reason: skipped[0]?.reason ?? '' } } : null;
  return {
    ...base, verdict: nothing !== null ? 'failed' : rows.every(({ within }) => within) ? 'verified' : 'differs', whole, inputsFrom, inputs, references, rows, skipped,
    cutFrom: inputsFrom === 'profile' && profileShape !== undefined && isCut(ran, profileShape) ? profileShape : null, failure: nothing,
  };
}

const numel = (shape: readonly number[]): number => shape.reduce((product, length) => product * length, 1);

const isCut = ({ inputs }: HelperRan, profileShape: readonly number[]): boolean => inputs.length > 0 && Math.max(...inputs.map(({ shape }) => numel(shape))) < numel(profileShape);

function verifyRow(result: HelperResult, promise: string): VerifyRow {
  const { dtype, layout, variant, error, tensors } = result;
  const outputs = tensors.filter(({ name }) => name.startsWith('output'));
  const gradients = tensors.filter(({ name }) => name.startsWith('gradient'));
  const row = { dtype, layout, variant, output: largest(outputs), gradient: largest(gradients) };
  if (error !== null) {
    return { ...row, within: false, worst: { name: '', why: 'stopped', detail: error } };
  }
  for (const tensor of tensors) {
    const why = outside(tensor, dtype, promise);
    if (why !== undefined) {
      return { ...row, within: false, worst: { name: tensor.name, ...why } };
    }
  }
  return { ...row, within: true, worst: null };
}

/** Why a tensor is outside the promise; undefined when it is inside. */
export function outside(tensor: HelperTensor, dtype: VerifyDtype, promise: string): { readonly why: string; readonly detail: string } | undefined {
  const { before = '', after = '', maxAbs, maxRel, normRel, errorBefore, errorAfter, truthMax } = tensor;
  if (tensor.missing) {
    return { why: 'missing', detail: '' };
  }
  if (tensor.sameShape === false) {
    return { why: 'shape', detail: '' };
  }
  if (tensor.finite === false || !isNumber(maxAbs) || !isNumber(maxRel) || !isNumber(normRel)) {
    return { why: 'not-finite', detail: '' };
  }
  if (promise === 'exact') {
    return before !== after ? { why: 'dtype', detail: `${before} → ${after}` } : maxAbs === 0 ? undefined : { why: 'not-exact', detail: figureText(maxAbs) };
  }
  // Beside a weight of a wider dtype a fused operator answers in the dtype of x; that is part of the promise.
  if (before !== after && after !== dtype) {
    return { why: 'dtype', detail: `${before} → ${after}` };
  }
  const known = isNumber(errorBefore?.norm) && isNumber(errorAfter?.norm);
  if (normRel > NORM_LIMIT[dtype] && !(known && errorAfter.norm <= errorBefore.norm)) {
    return { why: 'too-far', detail: figureText(normRel) };
  }
  if (isNumber(errorBefore?.max) && isNumber(errorAfter?.max) && isNumber(truthMax)) {
    const allowed = Math.max(2 * errorBefore.max, ELEMENT_UNITS[dtype] * UNIT[dtype] * truthMax);
    return errorAfter.max > allowed ? { why: 'element', detail: figureText(errorAfter.max) } : undefined;
  }
  return maxRel > BLIND_UNITS[dtype] * UNIT[dtype] ? { why: 'element', detail: figureText(maxAbs) } : undefined;
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number';

function largest(tensors: readonly HelperTensor[]): Differences | null {
  if (tensors.length === 0) {
    return null;
  }
  const most = (values: readonly (number | null | undefined)[]): number | null => (values.every(isNumber) ? Math.max(...values.filter(isNumber)) : null);
  return { maxAbs: most(tensors.map(({ maxAbs }) => maxAbs)), maxRel: most(tensors.map(({ maxRel }) => maxRel)) };
}

