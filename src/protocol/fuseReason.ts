import { text, type Translate } from './text';

/** Reasons that a user who knows better can waive (`--allow`, `fuselens.fuse.allow`), in the order the manifest names them. */
export const WAIVABLE_REASONS = ['compiled', 'autocast', 'dtensor', 'checkpoint-policy'] as const;

/** Why a form is left as it is, with the place where that stands and the way round it, where there are such. */
export function fuseReason(reason: string | undefined, place: string | undefined, translate?: Translate): string {
  const code = reason ?? 'no-replacement';
  const waivable = WAIVABLE_REASONS.find((one) => one === code.replace(/-there$/, ''));
  const sentence = text(`fuse.reason.${code}`, { place: place ?? '' }, translate);
  return waivable === undefined ? sentence : `${sentence} ${text('fuse.waive', { reason: waivable }, translate)}`;
}
