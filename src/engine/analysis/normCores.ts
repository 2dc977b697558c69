import { familyIndex } from '../../protocol/families';
import { parseAscendName } from '../operators/kernelToken';
import { EventKind, type RankData } from '../profile/columns';

/**
 * By its name a `Pows` or a `Mul` is elementwise; between a mean and an rsqrt it is a norm written out. The core of every
 * RMSNorm spelling is found by order on one stream: pow (or x·x) → mean → add eps → rsqrt (or sqrt, reciprocal) → mul. Those
 * kernels become norm; the casts and scalings round them stay what they are until chains tell more.
 */
const Role = { None: 0, Pow: 1, Mean: 2, Add: 3, Rsqrt: 4, Sqrt: 5, Reciprocal: 6, Mul: 7, Skip: 8 } as const;

const NORM = familyIndex('norm');

const WINDOW = 5;

interface StreamState {
  /** The last rows that count and their roles, newest last. */
  readonly rows: Int32Array;
  readonly roles: Uint8Array;
  expectsMul: boolean;
}

/** `keyOfRow` groups rows of equal name and type; `locked[key]` keeps rows that a user rule decided. */
export function markNormCores(data: RankData, keyOfRow: Uint32Array, locked: readonly boolean[]): void {
  const { deviceEvents: events, strings } = data;
  const roleOfKey = new Int8Array(locked.length).fill(-1);
  const states = new Map<number, StreamState>();
  const mark = (row: number): void => {
    if (!locked[keyOfRow[row]]) {
      events.family[row] = NORM;
    }
  };
  for (let row = 0; row < events.count; row++) {
    if (events.kind[row] !== EventKind.Compute) {
      continue;
    }
    const key = keyOfRow[row];
    let role = roleOfKey[key];
    if (role < 0) {
      role = roleOf(strings.get(events.name[row]), strings.get(events.type[row]));
      roleOfKey[key] = role;
    }
    if (role === Role.Skip) {
      continue;
    }
    let state = states.get(events.stream[row]);
    if (state === undefined) {
      state = { rows: new Int32Array(WINDOW).fill(-1), roles: new Uint8Array(WINDOW), expectsMul: false };
      states.set(events.stream[row], state);
    }
    if (state.expectsMul && role === Role.Mul) {
      mark(row);
    }
    state.rows.copyWithin(0, 1);
    state.roles.copyWithin(0, 1);
    state.rows[WINDOW - 1] = row;
    state.roles[WINDOW - 1] = role;
    const length = coreLength(state.roles);
    for (let i = WINDOW - length; i < WINDOW; i++) {
      mark(state.rows[i]);
    }
    state.expectsMul = length > 0;
  }
}

/** How many of the last kernels end a norm's core at the newest one; 0 when none does. */
function coreLength(roles: Uint8Array): number {
  const [a, b, c, d, e] = roles;
  if (startsCore(b) && c === Role.Mean && d === Role.Add && e === Role.Rsqrt) {
    return 4;
  }
  return startsCore(a) && b === Role.Mean && c === Role.Add && d === Role.Sqrt && e === Role.Reciprocal ? 5 : 0;
}

const startsCore = (role: number): boolean => role === Role.Pow || role === Role.Mul;

function roleOf(name: string, type: string): number {
  if (type === '' && !name.startsWith('aclnn')) {
    return cudaRole(name);
  }
  switch (parseAscendName(name, type).type) {
    case 'Pows': case 'Pow': case 'Square': return Role.Pow;
    case 'ReduceMean': case 'ReduceMeanD': return Role.Mean;
    case 'Add': case 'Adds': return Role.Add;
    case 'Rsqrt': return Role.Rsqrt;
    case 'Sqrt': return Role.Sqrt;
    case 'Reciprocal': return Role.Reciprocal;
    case 'Mul': case 'Muls': return Role.Mul;
    case 'MemSet': return Role.Skip;
    default: return Role.None;
  }
}

const ATEN_ROLES: Readonly<Record<string, number>> = { pow: Role.Pow, square: Role.Pow, mean: Role.Mean, add: Role.Add, rsqrt: Role.Rsqrt, sqrt: Role.Sqrt, reciprocal: Role.Reciprocal, mul: Role.Mul };

function cudaRole(name: string): number {
  if (name.startsWith('aten::')) { return ATEN_ROLES[name.slice(6).replace(/_$/, '')] ?? Role.None; }
  if (/pow_tensor_scalar/.test(name)) { return Role.Pow; }
  if (/reduce_kernel<.*MeanOps/.test(name)) { return Role.Mean; }
  if (/CUDAFunctorOnSelf_add|CUDAFunctor_add|BUnaryFunctor<[^<>]*AddFunctor/.test(name)) { return Role.Add; }
  if (/rsqrt_kernel/.test(name)) { return Role.Rsqrt; }
  if (/sqrt_kernel/.test(name)) { return Role.Sqrt; }
  if (/reciprocal_kernel/.test(name)) { return Role.Reciprocal; }
  return /BinaryFunctor<.*MulFunctor/.test(name) ? Role.Mul : Role.None;
}
