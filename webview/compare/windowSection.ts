import type { CompareWindow, WindowPair } from '../../src/protocol/compare';
import type { Side } from '../../src/protocol/compareView';
import { rowName } from '../../src/protocol/compareWords';
import { windowTable } from '../../src/protocol/compareTables';
import { FAMILIES } from '../../src/protocol/families';
import { button } from '../shared/controls';
import { fillElement, h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import { DataTable } from '../tables/dataTable';
import { copyWith, section } from '../tables/tableSection';
import type { CompareContentOptions } from './compareContent';
import { drawWindow, shortKernelName, type DrawnWindow } from './windowDrawing';

/** Pairs of windows, one shown at a time; the page remembers which. */
export function windowSection(options: CompareContentOptions): { readonly element: HTMLElement; readonly dispose: () => void } | undefined {
  const { report, words } = options;
  if (report.windows.length === 0 || report.ranks.length === 0) {
    return undefined;
  }
  const shown = h('div', { class: 'window-pair' });
  let stop = (): void => undefined;
  let asked = 0;
  const chips = report.windows.map((pair) => h('button', { type: 'button', class: 'chip', 'aria-pressed': 'false', 'data-tip': pairName(pair, options), onclick: () => show(pair) },
    h('span', { class: 'chip-name' }, pairName(pair, options)), h('span', { class: 'chip-value' }, differenceText(pair, options))));
  const show = (pair: WindowPair): void => {
    options.onDetail({ window: pair.id });
    chips.forEach((chip, i) => chip.setAttribute('aria-pressed', String(report.windows[i] === pair)));
    const mine = ++asked;
    const timer = setTimeout(() => fillElement(shown, h('p', { class: 'note', role: 'status' }, words.t('compare.window.loading'))), 400);
    ask(pair, options).then((windows) => {
      if (mine === asked) {
        clearTimeout(timer);
        stop();
        stop = draw(shown, pair, windows, options);
      }
    }, (error: unknown) => {
      clearTimeout(timer);
      if (mine === asked) {
        fillElement(shown, h('p', { class: 'note', role: 'alert' }, error instanceof Error ? error.message : String(error)));
      }
    });
  };
  const element = section(options, { id: 'windows', title: `${words.t('compare.windows')} · ${words.t('compare.scope.oneRank')} · ${words.t(report.per === 'token' ? 'compare.perToken' : 'compare.perStep')}`, tip: words.t('compare.windows.about') }, h('div', { class: 'chips', role: 'group', 'aria-label': words.t('compare.windows') }, chips), shown);
  show(report.windows.find(({ id }) => id === options.detail().window) ?? report.windows[0]);
  return { element, dispose: () => stop() };
}

function pairName(pair: WindowPair, { words, report }: Pick<CompareContentOptions, 'words' | 'report'>): string {
  const row = report.tables.operators.find(({ key }) => pair.id === `operator ${key}`);
  const label = row === undefined ? pair.label : shortKernelName({ name: row.label, type: row.label.includes(' ') ? '' : row.label, operator: '' });
  const name = rowName({ key: pair.id, label, ...(pair.fusion === null ? {} : { fusion: pair.fusion }), ...(pair.phase === null ? {} : { phase: pair.phase }) }, 'chains', (english) => words.english(english));
  return name.length > 64 ? `${name.slice(0, 40)}…${name.slice(-22)}` : name;
}

const differenceText = ({ differenceUs }: WindowPair, { words }: CompareContentOptions): string => `${differenceUs > 0 ? '+' : '−'}${words.time(Math.abs(differenceUs))}`;

type Windows = Readonly<Record<Side, CompareWindow>>;

/** The side that has the difference says where it lies; the other is cut out at the same place of its step. */
async function ask(pair: WindowPair, { report, bridge }: CompareContentOptions): Promise<Windows> {
  const [ranks] = report.ranks;
  const request = (side: Side, place: number | null): Promise<CompareWindow> => bridge.call('comparedWindow', { side, rank: ranks[side].id, step: ranks[side].steps[0] ?? null, focus: pair[side], widthNs: pair.widthNs, place });
  const other: Side = pair.lead === 'base' ? 'candidate' : 'base';
  const lead = await request(pair.lead, null);
  const follow = await request(other, lead.place);
  return pair.lead === 'base' ? { base: lead, candidate: follow } : { base: follow, candidate: lead };
}

function draw(holder: HTMLElement, pair: WindowPair, windows: Windows, options: CompareContentOptions): () => void {
  const { words, report, bridge } = options;
  const [ranks] = report.ranks;
  const rank = ranks.rank === null ? '' : ` · ${words.t('view.rankNumber', { rank: ranks.rank })}`;
  const open = (side: Side, code: string): HTMLElement => button({
    label: words.t(code), icon: 'pulse', onClick: () => {
      const { startNs, widthNs } = windows[side];
      const step = ranks[side].steps[0];
      bridge.post({ kind: 'showSide', side, target: { rank: ranks[side].id, startNs, endNs: startNs + widthNs, ...(step === null || step === undefined ? {} : { step }) } });
    },
  });
  const details = h('p', { class: 'window-detail', role: 'status' }, ' ');
  const panels = (['base', 'candidate'] as const).map((side) => {
    const data = windows[side];
    const focus = data.focusCount === 0 ? words.t('compare.window.none', { count: data.count }) : words.t('compare.window.side', { count: data.count, focus: data.focusCount, time: words.time(data.focusNs / 1000) });
    const holderOf = h('div', { class: 'window-holder' });
    return { side, data, holderOf, element: h('div', { class: `window-side window-${side}` }, h('div', { class: 'window-head' }, h('span', { class: `side-mark side-${side}`, 'aria-hidden': 'true' }), h('strong', {}, words.t(`compare.${side}`)), ` ${report[side].name}${rank} `, h('span', { class: 'faint' }, `· ${focus} · ${words.t('compare.window.starts', { start: words.time(data.startNs / 1000) })}`)), holderOf) };
  });
  const table = windowTable(panels.map(({ side, data }) => ({ side: words.t(`compare.${side}`), kernels: data.kernels })));
  const grid = new DataTable({ table, words, label: words.t('compare.window.kernels'), maxHeight: 260, copy: copyWith(options) });
  fillElement(holder, panels.map(({ element }) => element), legend(windows, options), details, h('div', { class: 'window-tools' }, open('base', 'compare.window.openBase'), open('candidate', 'compare.window.openCandidate')),
    h('details', { class: 'twin' }, h('summary', {}, words.t('view.asTable')), grid.element));
  const paint = (): void => {
    const width = Math.max(480, holder.clientWidth);
    for (const { side, data, holderOf } of panels) {
      const label = words.t('compare.window.alt', { side: words.t(`compare.${side}`), count: data.count, width: words.time(data.widthNs / 1000), focus: data.focusCount, what: pairName(pair, options), time: words.time(data.focusNs / 1000) });
      const drawn = drawWindow(data, width, label, words);
      walkable(drawn, data, details, options);
      fillElement(holderOf, drawn.element);
    }
  };
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (holder.clientWidth !== width) {
      width = holder.clientWidth;
      paint();
    }
  });
  observer.observe(holder);
  return () => observer.disconnect();
}

/** The families that are drawn, in the order of every table. */
function legend({ base, candidate }: Windows, { words }: CompareContentOptions): HTMLElement {
  const drawn = new Set([...base.kernels, ...candidate.kernels].map(({ family }) => family));
  return h('ul', { class: 'window-legend' }, FAMILIES.filter((family) => drawn.has(family)).map((family) => h('li', {}, h('span', { class: 'swatch', style: `background: ${familyColour(family)}`, 'aria-hidden': 'true' }), words.maybe(`family.${family}`, family))));
}

/** Arrow keys go from kernel to kernel; what is marked is said below. Home and End go to the first and last. */
function walkable({ element, mark }: DrawnWindow, { kernels }: CompareWindow, details: HTMLElement, { words }: CompareContentOptions): void {
  let at: number | undefined;
  element.addEventListener('keydown', (event) => {
    const moves: Readonly<Record<string, number>> = { ArrowRight: (at ?? -1) + 1, ArrowLeft: (at ?? kernels.length) - 1, Home: 0, End: kernels.length - 1 };
    const to = moves[event.key] as number | undefined;
    if (to === undefined || kernels.length === 0) {
      return;
    }
    event.preventDefault();
    at = Math.max(0, Math.min(kernels.length - 1, to));
    const kernel = kernels[at];
    mark(at);
    details.textContent = `${at + 1} / ${kernels.length} · ${kernel.name} · ${words.time(kernel.startNs / 1000)} · ${words.time(kernel.durationNs / 1000)} · ${words.maybe(`family.${kernel.family}`, kernel.family)}`;
  });
  element.addEventListener('blur', () => mark(undefined));
}
