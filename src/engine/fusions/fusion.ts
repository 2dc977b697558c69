/**
 * One entry of the catalogue. Its eager form is a Python snippet, lowered by the same code as the user's source, so that
 * there is no second pattern language: parameters of the snippet are the roles.
 */

import type { WasteFinder } from '../chains/wasteView';
import type { OperatorGraph } from '../python/operatorGraph';

export interface EagerForm {
  /** What sets this spelling apart, for messages and tests. */
  readonly name: string;
  /** A function `eager(…)`; its parameters are the roles. `torch` and `F` are imported for it. */
  readonly python: string;
  /** Tokens that this form does not follow: what runs right before tells it from another use of the same operators. */
  readonly notAfter?: readonly string[];
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
  /** The same written as a loop, for the source alone: its kernels are those of `forms`, as often as the loop turns. */
  readonly loops?: readonly EagerForm[];
  /** Tokens of the kernels that do the whole form at once, in runs that are already patched. */
  readonly fused?: readonly string[];
  /**
   * How many times in a row, or per step, makes it worth a report; 1 where a single one is. A per-parameter loop is one
   * chain repeated: it counts only in numbers.
   */
  readonly minimumPerStep?: number;
  /** What to write instead, per backend; a backend that is missing has advice only (`fuse.remedy.<id>`). */
  readonly replacements?: Partial<Readonly<Record<FuseBackend, Replacement>>>;
  /** `fuse.caution.<code>` to give where the workspace shows its sign, beside those that every edit has. */
  readonly cautions?: readonly string[];
  /** Advice in the words of the workspace that added the fusion; the catalogue's own stands under `fuse.remedy.<id>`. */
  readonly note?: string;
  /** Forms that look like this one and must not be replaced, each with the reason. */
  readonly nearMisses?: readonly NearMiss[];
  /** Whether a match in the source is what the fusion is about, by what its operators read, where they alone do not tell. */
  readonly meant?: (graph: OperatorGraph, operators: readonly number[]) => boolean;
  /** Finds a waste that is no fixed chain of operators, among kernels that no chain has taken. `forms` is empty then. */
  readonly find?: WasteFinder;
}

export const FUSE_BACKENDS = ['ascend', 'cuda', 'torch'] as const;
export type FuseBackend = (typeof FUSE_BACKENDS)[number];

export interface NearMiss extends EagerForm {
  /** `fuse.reason.<reason>`. */
  readonly reason: string;
}

/** A match as a replacement sees it: its roles as Python text that may stand where the result is computed. */
export interface BoundForm {
  /** Name of the eager form that matched. */
  readonly form: string;
  /** Text of a role. */
  readonly text: (role: string) => string;
  /** The number that the form adds (`eps`), as Python text. */
  readonly eps: () => string;
  /** `F`, or whatever names `torch.nn.functional` in the file. */
  readonly functional: string;
  /** The form converts x to fp32 and nothing rounds its result inside the form. */
  readonly fp32Result: boolean;
  /** A cast that follows the replaced expression in the source rounds the result. */
  readonly roundedAfter: boolean;
  /** The form reads the halves of one tensor (role `whole`): which of them goes through the activation. */
  readonly gateHalf: 0 | 1 | undefined;
  /** Text of a role under a transposition of its last two dimensions. */
  readonly untransposed: (role: string) => string;
  /** `approximate` of the GELU in the form. */
  readonly mode: string | undefined;
  /** Source text of what the form's operators of one kind read at a place (default the first): the slice under a negation. A part of a split is marked by its number, `x.chunk(2, -1)#1`. */
  readonly sources: (op: string, operand?: number) => readonly string[];
}

/** What a template answers: Python text, or why it has none for this match (`fuse.reason.<reason>`). */
export type Written = { readonly python: string } | { readonly reason: string };

/** A fused form for one backend. Only forms whose gradient is defined are listed: the edit goes into training code. */
export interface Replacement {
  readonly write: (bound: BoundForm) => Written;
  /** The module the text needs besides torch. */
  readonly module?: string;
  /** What is promised of the numbers: `fuse.promise.<promise>`. */
  readonly promise: 'exact' | 'rounding' | 'fp32Inside';
  /** `fuse.caution.<code>`: what the operator wants that the source does not tell. */
  readonly cautions?: readonly string[];
  /** Oldest versions that have the operator, for people. */
  readonly requires: string;
}

/** Where forms are lowered: the imports every snippet may use. */
export const SNIPPET_PRELUDE = 'import torch\nimport torch.nn.functional as F\n';
