import { figureText } from './figureText';
import { MESSAGES, text, type Translate } from './text';
import type { Differences, VerifyReport, VerifyRow } from './verify';

const SHORT: Readonly<Record<string, string>> = { bfloat16: 'bf16', float16: 'fp16', float32: 'fp32' };

/** The largest of outputs and gradients of some rows. */
function largest(rows: readonly VerifyRow[]): Differences {
  const all = rows.flatMap(({ output, gradient }) => [output, gradient]).filter((one) => one !== null);
  const most = (values: readonly (number | null)[]): number | null => (values.length === 0 || values.includes(null) ? null : Math.max(...values.filter((value) => value !== null)));
  return { maxAbs: most(all.map(({ maxAbs }) => maxAbs)), maxRel: most(all.map(({ maxRel }) => maxRel)) };
}

/** "verified: max abs 0.0078, max rel 0.0039 (bf16)" for the dtype that was run first, which is the profile's where one is known. */
export function verifyHeadline(report: VerifyReport, translate: Translate): string {
  if (report.failure !== null) {
    return text(`verify.failure.${report.failure.code}`, report.failure.args, translate);
  }
  const bad = report.rows.find(({ within }) => !within);
  const dtype = bad?.dtype ?? report.rows[0]?.dtype ?? 'float32';
  const { maxAbs, maxRel } = largest(report.rows.filter((row) => row.dtype === dtype));
  return text(bad === undefined ? 'verify.headline.verified' : 'verify.headline.differs', { maxAbs: figureText(maxAbs), maxRel: figureText(maxRel), dtype: SHORT[dtype] ?? dtype, promise: text(`verify.promise.${report.promise}`, undefined, translate) }, translate);
}

/** Name of the fusion; one of the workspace's own is named by its id. */
export function verifyFusionName({ fusion }: VerifyReport, translate: Translate): string {
  const code = fusion === 'none' ? 'verify.by-hand' : `fusion.${fusion}`;
  return code in MESSAGES ? text(code, undefined, translate) : fusion;
}

/** With the backend it is for; what was changed by hand is for none. */
export function verifySubject(report: VerifyReport, translate: Translate): string {
  const name = verifyFusionName(report, translate);
  return report.fusion === 'none' ? name : `${name} (${report.backend})`;
}

/** Everything that has to be said beside the table, one sentence each. */
export function verifySentences(report: VerifyReport, translate: Translate): readonly string[] {
  const say = (code: string, args?: Readonly<Record<string, string | number>>): string => text(code, args, translate);
  const onHost = report.host === null ? [] : [say('verify.on-host', { host: report.host })];
  if (report.failure !== null) {
    return [verifyHeadline(report, translate), ...(report.failure.args.host === undefined ? onHost : [])];
  }
  const inputs = report.inputs.map(({ name, shape }) => `${name} ${shape.join('×')}`).join(', ');
  const bad = report.rows.find(({ within }) => !within);
  return [
    say(report.whole === false ? 'verify.ran-lines' : 'verify.ran-function', { function: report.function, torch: report.torch ?? '', device: report.device ?? '' }),
    ...onHost,
    say(report.inputsFrom === 'profile' ? 'verify.inputs-profile' : 'verify.inputs-roles', { inputs }),
    ...(report.cutFrom === null ? [] : [say('verify.inputs-cut', { shape: report.cutFrom.join('×') })]),
    ...report.references.map((name) => say('verify.reference', { module: name })),
    ...(report.rows.some(({ variant }) => variant === 'portable') ? [say('verify.both-branches')] : []),
    ...report.skipped.slice(0, 1).map(({ dtype, layout, reason }) => say('verify.skipped', { dtype: SHORT[dtype] ?? dtype, layout: say(`verify.layout.${layout}`), reason, count: report.skipped.length })),
    ...(bad?.worst === null || bad?.worst === undefined ? [] : [say(`verify.why.${bad.worst.why}`, { name: bad.worst.name, detail: bad.worst.detail, dtype: SHORT[bad.dtype] ?? bad.dtype, layout: say(`verify.layout.${bad.layout}`) })]),
    say(`fuse.promise.${report.promise}`),
  ];
}
