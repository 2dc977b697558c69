/**
 * Kernel names → operator tokens. Three Ascend dialects (`aclnnAdds_AddAiCore_Add`; graph names such as `trans_TransData_12`
 * or `RealDiv138`; bare types such as `RmsNorm`), CUDA and ROCm functor names of all eras, Triton and inductor names.
 */
import { OPERATORS, SATELLITE_TYPES, type OperatorRow } from './operatorTable';

export interface KernelToken {
  /** A token of the operator table, or `''` when the kernel is none we know. */
  readonly op: string;
  /** Set on a helper kernel launched for the operator of this API (`aclnnMul_SliceAiCore_Slice` is a slice for a `mul`). */
  readonly satelliteOf: string | undefined;
}

const UNKNOWN: KernelToken = { op: '', satelliteOf: undefined };

/** Parts of an Ascend kernel name. `api` and `tag` are '' where the name has none. */
export interface AscendName {
  readonly api: string;
  readonly tag: string;
  readonly type: string;
}

/** `aclnnInplaceMul_MulAiCore_Mul` → api `Mul` (in place does not change which kernel runs), tag `MulAiCore`, type `Mul`. */
export function parseAscendName(name: string, type: string): AscendName {
  const known = type === 'N/A' ? '' : type;
  const full = /^aclnn(?:Inplace)?([A-Za-z0-9]+?)_(.+)_([A-Za-z0-9]+)$/.exec(name);
  if (full !== null) {
    return { api: full[1], tag: full[2], type: known !== '' ? known : full[3] };
  }
  if (known !== '') {
    return { api: '', tag: '', type: known };
  }
  // Graph names: `trans_TransData_12`, `Conv2DBackpropFilter10_MemSet`, `RealDiv138`. A counter that belongs to the type
  // (`Conv2D`) ends in a letter, so only trailing digits go.
  const helper = /_(MemSet|TransData|Cast)(?:_\d+)?$/.exec(name);
  const bare = helper !== null ? helper[1] : name.replace(/^trans_/, '').replace(/_?\d+$/, '');
  return { api: '', tag: '', type: bare };
}

const byType = new Map<string, OperatorRow | undefined>();
const byApi = new Map<string, OperatorRow | undefined>();

function rowOf(cache: Map<string, OperatorRow | undefined>, key: string, field: 'api' | 'type'): OperatorRow | undefined {
  if (!cache.has(key)) {
    cache.set(key, OPERATORS.find((row) => row[field]?.test(key) === true));
  }
  return cache.get(key);
}

/** Reads an Ascend kernel; the API segment decides before the type, because the type cannot tell `Adds` from `Add`. */
export function ascendToken(name: string, type: string): KernelToken {
  const parsed = parseAscendName(name, type);
  const typeRow = rowOf(byType, parsed.type, 'type');
  if (parsed.api === '') {
    if (typeRow !== undefined) {
      return { op: typeRow.op, satelliteOf: undefined };
    }
    // Triton kernels carry the same names on every vendor.
    const fused = /^[a-z_]/.test(name) ? cudaToken(name) : UNKNOWN;
    return fused.op.startsWith('fused.') || fused.op.startsWith('attention') ? fused : UNKNOWN;
  }
  const apiRow = rowOf(byApi, parsed.api, 'api');
  if (apiRow?.op === 'copy') {
    // `aclnnInplaceCopy` copies, converts or slices: its own kernel says which, and none of them is a helper.
    return { op: typeRow?.op ?? 'copy', satelliteOf: undefined };
  }
  const owns = apiRow !== undefined && (apiRow.type?.test(parsed.type) === true || sameKernel(apiRow.op, parsed.type));
  if (!owns && SATELLITE_TYPES.has(parsed.type) && !(apiRow === undefined && parsed.tag.startsWith(parsed.api))) {
    // `aclnnCat_TensorMove` moves the one input that needs no joining: it *is* the cat.
    return apiRow?.op === 'cat' && parsed.type === 'TensorMove' ? { op: 'cat', satelliteOf: undefined } : { op: typeRow?.op ?? '', satelliteOf: parsed.api };
  }
  const row = apiRow ?? typeRow;
  return row === undefined ? UNKNOWN : { op: row.op, satelliteOf: undefined };
}

/** Scalar forms share the kernel of the tensor form. */
function sameKernel(op: string, type: string): boolean {
  switch (op) {
    case 'adds': return type === 'Add';
    case 'subs': case 'rsubs': return type === 'Sub';
    case 'muls': return type === 'Mul' || type === 'Muls';
    case 'divs': return type === 'RealDiv' || type === 'Muls';
    default: return false;
  }
}

/** Reads a CUDA or ROCm kernel by the functor in its name. */
export function cudaToken(name: string): KernelToken {
  const row = OPERATORS.find((candidate) => candidate.cuda?.test(name) === true);
  return row === undefined ? UNKNOWN : { op: row.op, satelliteOf: undefined };
}

/** What an operator looks like where nothing tells a scalar operand: an Ascend kernel by its type alone, an operator of the CPU. */
export const TENSOR_FORM: Readonly<Record<string, string>> = { adds: 'add', subs: 'sub', rsubs: 'sub', muls: 'mul', divs: 'div' };

/** What a CUDA trace shows for an operator: `sub` runs the add functor, `x / 3` the multiply functor. */
export function onCuda(op: string): string {
  return cudaNames.get(op) ?? op;
}

const cudaNames = new Map(OPERATORS.flatMap((row) => (row.cudaAs === undefined ? [] : [[row.op, row.cudaAs] as const])));

/** True for kernels that are themselves a fusion: recognised, never reported as something to fuse. */
export const isFused = (op: string): boolean => op.startsWith('fused.') || op === 'attention' || op === 'attentionBackward';
