import type { ProfileSummary, RankSummary } from '../../src/protocol/engine';
import { groupNames } from '../../src/protocol/groupNames';
import { button, dropdown } from './controls';
import { h } from './dom';
import type { Words } from './words';

export interface HeaderOptions {
  readonly profile: ProfileSummary;
  readonly rank: RankSummary;
  readonly step: number | undefined;
  readonly words: Words;
  readonly onRank: (id: string) => void;
  readonly onStep: (step: number | undefined) => void;
  /** Ways on from here, the most wanted first. */
  readonly actions: readonly { readonly label: string; readonly icon: string; readonly run: () => void }[];
}

const WHOLE = 'whole';

const BACKENDS: Readonly<Record<string, string>> = { ascend: 'Ascend', cuda: 'CUDA', rocm: 'ROCm', mtia: 'MTIA', cpu: 'CPU' };

/** "Rank 3", with the run or step folder where the profile has several. */
export function rankName(rank: RankSummary, profile: ProfileSummary, words: Words): string {
  const name = rank.rank === undefined ? rank.label : words.t('view.rankNumber', { rank: rank.rank });
  const folders = groupNames(profile.ranks.map(({ group }) => group));
  return folders.size < 2 || rank.group === '' ? name : `${name} · ${folders.get(rank.group) ?? rank.group}`;
}

/** Name of the profile, and which rank and step of it is shown. */
export function rankHeader({ profile, rank, step, words, onRank, onStep, actions }: HeaderOptions): HTMLElement {
  const steps = (rank.loaded?.steps ?? []).filter(({ source }) => source !== 'window');
  const backend = rank.loaded?.backend ?? profile.backend ?? '';
  const { device, host } = rank.loaded ?? {};
  const place = [BACKENDS[backend] ?? backend, device === undefined ? '' : words.t('view.device', { device }), host ?? ''].filter((part) => part !== '').join(' · ');
  return h('header', { class: 'view-head' },
    h('div', { class: 'view-name' }, h('h1', { title: profile.path }, profile.name), h('span', { class: 'faint' }, place)),
    h('div', { class: 'view-tools' },
      dropdown(words.t('view.rank'), profile.ranks.map((each) => ({
        value: each.id, label: each.readable ? rankName(each, profile, words) : words.t('view.rankUnreadable', { name: rankName(each, profile, words) }), disabled: !each.readable,
      })), rank.id, onRank),
      steps.length === 0 ? undefined : dropdown(words.t('view.step'), [
        { value: WHOLE, label: words.t('view.wholeRecording') }, ...steps.map(({ index, name }) => ({ value: String(index), label: name })),
      ], step === undefined ? WHOLE : String(step), (value) => onStep(value === WHOLE ? undefined : Number(value))),
      actions.map(({ label, icon, run }, i) => button({ label, icon, look: i === 0 ? 'primary' : 'secondary', onClick: run }))));
}
