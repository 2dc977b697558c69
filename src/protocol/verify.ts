/** Verifying a fusion, as it crosses a border: what to run, what was measured, what that means. */

export type VerifyDtype = 'bfloat16' | 'float16' | 'float32';

/** Shapes and dtype of the chain's inputs in a profile, by role; only roles that the kernels show. */
export interface ProfileShapes {
  readonly shapes: Readonly<Record<string, readonly number[]>>;
  readonly dtype: VerifyDtype | undefined;
}

export interface VerifyMethods {
  /** Shapes of the inputs of a chain, from one occurrence: the device event it starts with, and how many kernels it has. Undefined where the profile has none. */
  chainShapes: {
    readonly params: { readonly rank: string; readonly fusion: string; readonly event: number; readonly kernels: number };
    readonly result: ProfileShapes | undefined;
  };
}

/** What is verified, and where it stands. */
interface VerifiedFusion {
  readonly file: string;
  /** Qualified name. */
  readonly function: string;
  /** Lines of the form in the original, from 1. */
  readonly startLine: number;
  readonly endLine: number;
  /** Catalogue id. */
  readonly fusion: string;
  readonly backend: string;
  /** `fuse.promise.<promise>`. */
  readonly promise: string;
}

/** Original and fused text of one function, with what is known of its inputs. */
export interface VerifySubject extends VerifiedFusion {
  readonly original: string;
  readonly fused: string;
  /** Role → Python text where the result is computed. */
  readonly roles: Readonly<Record<string, string>>;
}

/** What the helper in `media/python/verify` answers; figures are plain numbers, null where not finite. */
export interface HelperAnswer {
  readonly python: string;
  readonly torch: string | null;
  readonly device: string | null;
  readonly cases: readonly HelperCase[];
}

export type HelperCase = HelperRan | HelperFailed;

export interface HelperFailed {
  readonly name: string;
  readonly status: 'failed';
  /** `verify.failure.<code>`. */
  readonly code: string;
  readonly args: Readonly<Record<string, string>>;
}

export interface HelperRan {
  readonly name: string;
  readonly status: 'ran';
  /** False: only the replaced lines were run. */
  readonly whole: boolean;
  readonly inputsFrom: 'profile' | 'roles';
  /** Packages a stand-in answered for. */
  readonly references: readonly string[];
  readonly inputs: readonly { readonly name: string; readonly shape: readonly number[] }[];
  readonly results: readonly HelperResult[];
  /** What the original itself could not do here. */
  readonly skipped: readonly { readonly dtype: VerifyDtype; readonly layout: string; readonly reason: string }[];
}

export interface HelperResult {
  readonly dtype: VerifyDtype;
  readonly layout: 'contiguous' | 'sliced' | 'transposed';
  /** `portable`: the branch that the edit keeps for other devices. */
  readonly variant: 'fused' | 'portable';
  /** Why the fused code stopped. */
  readonly error: string | null;
  readonly tensors: readonly HelperTensor[];
}

interface ErrorSize {
  readonly max: number | null;
  readonly norm: number | null;
}

export interface HelperTensor {
  /** `output`, `output 2`, `gradient of x`. */
  readonly name: string;
  /** The fused code gives no such result. */
  readonly missing: boolean;
  readonly before?: string;
  readonly after?: string;
  readonly sameShape?: boolean;
  readonly finite?: boolean;
  readonly maxAbs?: number | null;
  /** Relative to the element, or to the tensor's root mean square where the element is smaller. */
  readonly maxRel?: number | null;
  /** Of the whole tensor: norm of the difference over the norm. */
  readonly normRel?: number | null;
  /** Distance from a run in fp64; absent where the original cannot run so. */
  readonly errorBefore?: ErrorSize;
  readonly errorAfter?: ErrorSize;
  readonly truthMax?: number | null;
}

/** Largest differences over some tensors; null when one is not a number. */
export interface Differences {
  readonly maxAbs: number | null;
  readonly maxRel: number | null;
}

/** One dtype, layout and variant. */
export interface VerifyRow {
  readonly dtype: VerifyDtype;
  readonly layout: HelperResult['layout'];
  readonly variant: HelperResult['variant'];
  readonly within: boolean;
  readonly output: Differences | null;
  readonly gradient: Differences | null;
  /** First thing outside the promise: a tensor's name, and why (`verify.why.<code>`). */
  readonly worst: { readonly name: string; readonly why: string; readonly detail: string } | null;
}

export type VerifyVerdict = 'verified' | 'differs' | 'failed';

/** What `fuselens verify --json` prints. */
export interface VerifyReport extends VerifiedFusion {
  readonly schema: 'fuselens-verify/1';
  readonly verdict: VerifyVerdict;
  readonly python: string | null;
  readonly torch: string | null;
  readonly device: string | null;
  /** Undefined: this machine. */
  readonly host: string | null;
  readonly whole: boolean | null;
  readonly inputsFrom: 'profile' | 'roles' | null;
  readonly inputs: readonly { readonly name: string; readonly shape: readonly number[] }[];
  /** Shape of x in the profile, where it was too large and fewer tokens were run. */
  readonly cutFrom: readonly number[] | null;
  readonly references: readonly string[];
  readonly rows: readonly VerifyRow[];
  readonly skipped: HelperRan['skipped'];
  /** Set when nothing could be run. */
  readonly failure: { readonly code: string; readonly args: Readonly<Record<string, string>> } | null;
}
