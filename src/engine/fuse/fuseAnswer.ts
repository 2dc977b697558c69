import type { Parser } from 'web-tree-sitter';
import type { FuseAnswer, FusePlace } from '../../protocol/fuse';
import { FUSE_BACKENDS } from '../fusions/fusion';
import { ModuleSet } from '../python/program';
import { scopeOf, type SourceIndex } from '../python/sourceIndex';
import { mergedEdits } from './plan';
import { planFusions } from './planFusions';

export interface FuseQuestion {
  readonly file: string;
  readonly text: string;
  /** Folders of the workspace; a file outside them is not edited. */
  readonly sources: readonly string[];
  readonly places: readonly FusePlace[];
}

/** Plans for the text as it is now, beside the indexed rest of the workspace; `device` is the profile's. */
export function fuseAnswer({ file, text, sources, places }: FuseQuestion, index: SourceIndex | undefined, device: string | undefined, parser: Parser): FuseAnswer {
  const root = sources.find((folder) => file.startsWith(folder));
  const scope = scopeOf(file, root ?? '', text, parser);
  const program = new ModuleSet([...(index?.scopes ?? []).filter((other) => other.file !== file), scope]);
  const backend = FUSE_BACKENDS.find((known) => known === device) ?? 'torch';
  const inWorkspace = root !== undefined && !/[\\/](site|dist)-packages[\\/]/.test(file);
  const plans = planFusions(scope, program, backend, parser, { inWorkspace })
    .filter((plan) => places.some((place) => place.fusion === plan.fusion.id && place.startLine <= plan.endLine && plan.startLine <= place.endLine));
  const { edits, used } = mergedEdits(plans.filter(({ status }) => status === 'fixable'));
  return {
    entries: plans.map((plan) => ({ fusion: plan.fusion.id, startLine: plan.startLine, endLine: plan.endLine, status: plan.status, reason: plan.reason, remedy: plan.remedy, promise: plan.promise, replacement: plan.replacement, edits: plan.edits })),
    together: { edits, count: used.length },
  };
}
