import * as vscode from 'vscode';
import type { CompareOptions, CompareReport, RankDigest } from '../../protocol/compare';
import { measuredFusions } from '../../protocol/measuredFusions';
import type { RunSettings } from '../../run/runSettings';
import type { Profile } from '../profile';
import { sourceRequest } from '../sourceRequest';
import { isCancelled, sentenceOf } from '../sentences';
import type { RunContext } from './runContext';

/** One side of a comparison: several runs of the same settings are samples of one thing. */
export interface ProfileSide {
  readonly name: string;
  readonly profiles: readonly Profile[];
  /** Of the runs that made them, where known: a verdict needs to know how much work a step holds. */
  readonly settings: RunSettings | undefined;
}

export function compareOptions(base: RunSettings | undefined, candidate: RunSettings | undefined): CompareOptions {
  const ranksPerCard = candidate?.ranksPerCard ?? base?.ranksPerCard;
  return {
    ...(base?.tokensPerStep === undefined ? {} : { tokensBase: base.tokensPerStep }), ...(candidate?.tokensPerStep === undefined ? {} : { tokensCandidate: candidate.tokensPerStep }),
    ...(ranksPerCard === undefined ? {} : { ranksPerCard }),
  };
}

/** Compares by the engine, which boils each rank down and compares the digests. Rejects with its error; nothing is shown. */
export async function compareProfiles(base: ProfileSide, candidate: ProfileSide, signal: AbortSignal): Promise<CompareReport> {
  const runs = async ({ profiles }: ProfileSide): Promise<readonly (readonly RankDigest[])[]> => {
    const read: (readonly RankDigest[])[] = [];
    for (const profile of profiles) {
      read.push(await digestsOf(profile, signal));
    }
    return read;
  };
  const sides = { base: { name: base.name, runs: await runs(base) }, candidate: { name: candidate.name, runs: await runs(candidate) } };
  return candidate.profiles[0].call('compareDigests', { ...sides, options: compareOptions(base.settings, candidate.settings) }, { signal });
}

async function digestsOf(profile: Profile, signal: AbortSignal): Promise<readonly RankDigest[]> {
  const use = profile.use();
  try {
    await profile.open({ signal });
    const digests: RankDigest[] = [];
    let last: Error | undefined;
    for (const [place, rank] of profile.rankSummaries().filter(({ readable }) => readable).entries()) {
      try {
        // Lines on the first rank only: the others would tell the same.
        digests.push(await profile.call('compareDigest', { rank: rank.id, ...(place === 0 ? sourceRequest() : {}) }, { signal }));
      } catch (error) {
        if (isCancelled(error)) {
          throw error;
        }
        last = error instanceof Error ? error : new Error(String(error));
      }
    }
    if (digests.length === 0) {
      throw last ?? new Error(vscode.l10n.t('{0} holds no rank that can be read.', profile.name));
    }
    return digests;
  } finally {
    use.dispose();
  }
}

/**
 * What a second profile says of the fusions since the first: noted, so that lenses show it, and the two are shown beside each
 * other. Gives the report; undefined when they could not be compared, after a word why.
 */
export async function measureAgainst(context: RunContext, base: Profile, candidate: Profile): Promise<CompareReport | undefined> {
  const [before, after] = [base, candidate].map((profile) => settingsOf(context, profile));
  try {
    const report = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: vscode.l10n.t('Comparing with {0}', base.name), cancellable: true }, (_progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => abort.abort());
      return compareProfiles({ name: base.name, profiles: [base], settings: before }, { name: candidate.name, profiles: [candidate], settings: after }, abort.signal);
    });
    context.measurements.note(measuredFusions(report).map((one) => ({ ...one, base: base.path, candidate: candidate.path, at: Date.now() })));
    context.commands.compareTabs.show(base, candidate, { options: compareOptions(before, after) });
    return report;
  } catch (error) {
    if (!isCancelled(error)) {
      void vscode.window.showErrorMessage(sentenceOf(error));
    }
    return undefined;
  }
}

/** What the run that made a profile was told, where this window knows it. */
function settingsOf({ runs, commands: { store } }: RunContext, profile: Profile): RunSettings | undefined {
  return runs.all().find((entry) => entry.profile !== undefined && store.get(entry.profile) === profile)?.record?.settings;
}
