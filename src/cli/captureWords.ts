import path from 'node:path';
import { EngineSession } from '../engine/session';
import { engineEnvironment } from '../node/environment';
import { defaultCacheFolder } from '../node/settings';
import { text } from '../protocol/text';
import type { CapturedPass } from '../run/captureRun';
import { ExitCode } from './exitCode';
import type { CommandContext } from './io';

const CACHE_LIMIT = 2 * 1024 ** 3;

/** Engines that look through what a capture left. */
export function inspectionSession({ io }: CommandContext): () => EngineSession {
  const cacheFolder = defaultCacheFolder(io.environment);
  return () => new EngineSession(engineEnvironment(cacheFolder === undefined ? {} : { cacheFolder, cacheLimitBytes: CACHE_LIMIT }));
}

/** What a pass left, in words. */
export function wordsOf({ pass, run, state, inspection, output: folder }: CapturedPass, { translate }: CommandContext): string {
  const say = (code: string, args: Readonly<Record<string, string | number>> = {}): string => text(code, args, translate);
  const { provenance } = run.record;
  const lines = [say(provenance?.commit === undefined ? 'capture.done.no-commit' : provenance.diffHash === undefined ? 'capture.done.clean' : 'capture.done.changed', { id: run.id, commit: provenance?.commit?.slice(0, 12) ?? '', count: provenance?.changedFiles?.length ?? 0 })];
  if (state.exit !== 0) {
    lines.push(state.exit === undefined ? say('capture.done.command-lost', { id: run.id }) : say('capture.done.command-failed', { exit: state.exit }));
  }
  lines.push(...inspection.findings.map(({ code, args }) => say(code, args)));
  if (inspection.profile !== undefined) {
    lines.push(say(pass.name === 'only' ? 'capture.done.profile' : `capture.done.${pass.name}`, { folder: inspection.profile }));
    lines.push(...inspection.ranks.map(({ rank, label, steps, kernels, stacks }) => say('capture.done.rank', { rank: rank ?? label, steps: steps.length === 0 ? '–' : steps.join(', '), kernels, stacks: say(stacks ? 'capture.done.with-stacks' : 'capture.done.without-stacks') })));
    lines.push(say('capture.done.open', { folder: path.relative(process.cwd(), inspection.profile) || folder }));
  }
  return `${lines.join('\n')}\n`;
}

/** Sentences stay English in JSON; what is unknown is null. */
export function jsonOf({ pass, run, state, inspection, output: folder }: CapturedPass): Readonly<Record<string, unknown>> {
  return {
    pass: pass.name, run: run.id, output: folder, profile: inspection.profile ?? null, exit: state.exit ?? null, commit: run.record.provenance?.commit ?? null, diffHash: run.record.provenance?.diffHash ?? null,
    ranks: inspection.ranks.map(({ rank, label, steps, kernels, stacks }) => ({ rank: rank ?? null, label, steps, kernels, stacks })),
    findings: inspection.findings.map(({ code, args, severity }) => ({ code, severity, message: text(code, args) })),
  };
}

/** 0 as asked, 1 recorded with something amiss, 2 nothing recorded. */
export function exitOf(passes: readonly CapturedPass[]): ExitCode {
  if (passes.some(({ inspection }) => inspection.ranks.length === 0)) {
    return ExitCode.Unreadable;
  }
  const amiss = passes.some(({ state, inspection }) => state.exit !== 0 || inspection.findings.some(({ severity }) => severity === 'error'));
  return amiss ? ExitCode.Failed : ExitCode.Done;
}
