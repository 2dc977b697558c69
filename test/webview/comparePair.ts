/** Two profiles on disk behind the Compare view, as the host puts them there. `npx tsx test/webview/comparePair.ts BASE CANDIDATE FOLDER` writes pictures. */
import { mkdirSync } from 'node:fs';
import * as path from 'node:path';
import { EngineSession } from '../../src/engine/session';
import { engineEnvironment } from '../../src/node/environment';
import type { CompareOptions, CompareWindowParams, RankDigest } from '../../src/protocol/compare';
import type { CompareDetail, Side } from '../../src/protocol/compareView';
import { startHarness, type Subject } from './harness';
import { THEMES } from './themes';

export async function comparePair(base: string, candidate: string, options: { readonly ranks?: number; readonly detail?: CompareDetail; readonly sources?: readonly string[] } = {}): Promise<Subject> {
  const sides: Partial<Record<Side, { readonly session: EngineSession; readonly name: string; readonly digests: readonly RankDigest[] }>> = {};
  for (const [side, file] of [['base', base], ['candidate', candidate]] as const) {
    const session = new EngineSession(engineEnvironment({}));
    const profile = await session.call('open', { path: file });
    const digests: RankDigest[] = [];
    for (const rank of profile.ranks.filter(({ readable }) => readable).slice(0, options.ranks ?? 99)) {
      digests.push(await session.call('compareDigest', { rank: rank.id, ...(digests.length === 0 && options.sources !== undefined ? { sources: options.sources } : {}) }));
    }
    sides[side] = { session, name: profile.name, digests };
  }
  const of = (side: Side): NonNullable<(typeof sides)[Side]> => sides[side] as NonNullable<(typeof sides)[Side]>;
  const call = (method: string, params: unknown): unknown => {
    if (method === 'compareReport') {
      const input = (side: Side): { readonly name: string; readonly runs: readonly (readonly RankDigest[])[] } => ({ name: of(side).name, runs: [of(side).digests] });
      return of('candidate').session.call('compareDigests', { base: input('base'), candidate: input('candidate'), options: (params as { readonly options: CompareOptions }).options });
    }
    const { side, ...rest } = params as CompareWindowParams & { readonly side: Side };
    return of(side).session.call('compareWindow', rest);
  };
  const state = { version: 1, view: 'compare', base: { path: base }, candidate: { path: candidate }, ...(options.detail === undefined ? {} : { detail: options.detail }) };
  return {
    profile: { path: base, name: of('base').name, format: '', backend: undefined, ranks: [], problems: [], alternative: undefined }, state: { version: 1, path: base, view: 'overview' }, call,
    init: { state, base: { name: of('base').name, path: base }, candidate: { name: of('candidate').name, path: candidate } },
  };
}

async function pictures(base: string, candidate: string, folder: string, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const harness = await startHarness(await comparePair(base, candidate), 'compare');
  for (const theme of THEMES) {
    const page = await harness.open({ theme, width: 1400, height: 900 });
    page.on('pageerror', (error) => console.error(error));
    page.on('console', (message) => { if (message.type() === 'error') { console.error(message.text()); } });
    await page.locator('.window-drawing').first().waitFor();
    await page.waitForTimeout(500);
    await page.screenshot({ path: path.join(folder, `${name}-${theme}.png`), fullPage: true });
    await page.close();
  }
  await harness.close();
}

if (process.argv[1]?.endsWith('comparePair.ts') === true) {
  const [base, candidate, folder = '.', name = 'compare'] = process.argv.slice(2);
  void pictures(base, candidate, folder, name);
}
