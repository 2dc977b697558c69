import type { FuseBackend, Fusion } from '../fusions/fusion';
import type { FrameworkSwitch } from './switches';

/** Replaces a range of the text, UTF-16 offsets, end exclusive. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type FuseStatus = 'fixable' | 'advice' | 'refused';

/** What can be done about one eager form in one file. */
export interface FusePlan {
  readonly fusion: Fusion;
  readonly backend: FuseBackend;
  readonly file: string;
  /** Qualified name of the function. */
  readonly functionName: string;
  readonly startLine: number;
  readonly endLine: number;
  /** Role → Python text; empty where it cannot be quoted. */
  readonly roles: Readonly<Record<string, string>>;
  readonly status: FuseStatus;
  /** `fuse.reason.<reason>`: why it is not fixable; undefined when it is. */
  readonly reason: string | undefined;
  /** `train.py:12`: argument `place` of a reason that stands elsewhere. */
  readonly reasonPlace: string | undefined;
  /** `fuse.remedy.<remedy>`: what to do by hand. */
  readonly remedy: string | undefined;
  /** `fuse.promise.<promise>`. */
  readonly promise: string | undefined;
  /** Oldest version that has the operator, `torch 2.4`. */
  readonly requires: string | undefined;
  /** Whether the installed version is new enough; undefined where it is not known: then it is a condition to tell. */
  readonly requirementMet: boolean | undefined;
  /** `fuse.caution.<caution>`: what to know before. */
  readonly cautions: readonly string[];
  /** Switches of the code's own framework, which come before an edit. */
  readonly switches: readonly FrameworkSwitch[];
  /** The new expression. */
  readonly replacement: string | undefined;
  /** Apart from each other, in order. */
  readonly edits: readonly TextEdit[];
  /** Edits that the file would get were it the user's: for a patch module beside it. Empty otherwise. */
  readonly patch: readonly TextEdit[];
}

/** Text after edits that do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** The edits of several plans as one: an edit that two of them want (an import) is made once; a plan that overlaps an earlier one waits. */
export function mergedEdits(plans: readonly FusePlan[]): { readonly edits: readonly TextEdit[]; readonly used: readonly FusePlan[] } {
  const edits: TextEdit[] = [];
  const used: FusePlan[] = [];
  for (const plan of plans) {
    const fresh = plan.edits.filter((edit) => !edits.some((other) => same(edit, other)));
    if (plan.edits.length > 0 && !fresh.some((edit) => edits.some((other) => overlaps(edit, other)))) {
      edits.push(...fresh);
      used.push(plan);
    }
  }
  return { edits, used };
}

const same = (a: TextEdit, b: TextEdit): boolean => a.start === b.start && a.end === b.end && a.text === b.text;
const overlaps = (a: TextEdit, b: TextEdit): boolean => (a.start === a.end || b.start === b.end ? a.start <= b.end && b.start <= a.end : a.start < b.end && b.start < a.end);
