/**
 * One entry of the catalogue. Its eager form is a Python snippet, lowered by the same code as the user's source, so that
 * there is no second pattern language: parameters of the snippet are the roles.
 */

export interface EagerForm {
  /** What sets this spelling apart, for messages and tests. */
  readonly name: string;
  /** A function `eager(…)`; its parameters are the roles. `torch` and `F` are imported for it. */
  readonly python: string;
}

export interface Fusion {
  /** Stable, kebab-case; part of fingerprint ids and of settings. */
  readonly id: string;
  /** English name, translated by the l10n bundle. */
  readonly title: string;
  /** Family that kernels of a recognised chain take. */
  readonly family: string;
  /** `fusion`: a fused operator replaces the chain. `waste`: the work need not be done where it is done. */
  readonly kind: 'fusion' | 'waste';
  readonly forms: readonly EagerForm[];
  /** Tokens of the kernels that do the whole form at once, in runs that are already patched. */
  readonly fused?: readonly string[];
  /**
   * How many times in a row, or per step, makes it worth a report; 1 where a single one is. A per-parameter loop is one
   * chain repeated: it counts only in numbers.
   */
  readonly minimumPerStep?: number;
}

/** Where forms are lowered: the imports every snippet may use. */
export const SNIPPET_PRELUDE = 'import torch\nimport torch.nn.functional as F\n';
