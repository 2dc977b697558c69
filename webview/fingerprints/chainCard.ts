import type { FingerprintEntry } from '../../src/protocol/fingerprints';
import { wasteExplanation } from '../../src/protocol/wasteText';
import { button } from '../shared/controls';
import { h } from '../shared/dom';
import { familyColour } from '../shared/theme';
import { UNKNOWN } from '../shared/words';
import { section } from '../tables/tableSection';
import { chainName, type FingerprintsOptions } from './fingerprintsContent';

/** How wide the windows of the article's zoom are, in ns. */
const ZOOMS = [40e6, 4e6, 1e6] as const;

/** One chain in full: its kernels to scale with their terms, its figures, its lines, and the way into the timeline. */
export function chainCard(entry: FingerprintEntry, options: FingerprintsOptions): HTMLElement {
  const { words, post, rank, step } = options;
  const target = (startNs: number, endNs: number): void => post({ kind: 'show', view: 'timeline', target: { rank, event: entry.first.event, startNs, endNs, ...(step === undefined ? {} : { step }) } });
  const { startNs, endNs } = entry.first;
  const middle = (startNs + endNs) / 2;
  const zooms = ZOOMS.map((width) => button({ label: words.t('fingerprints.zoom', { ms: width / 1e6 }), icon: 'zoom-in', onClick: () => target(middle - width / 2, middle + width / 2) }));
  const figures: readonly (readonly [string, string])[] = [
    ['report.phase', words.t(`phase.${entry.phase}`)],
    ['report.times', words.count(entry.occurrences)],
    ['report.mean', words.time(entry.meanUs)],
    ['report.kernelTime', words.time(entry.totalUs)],
    ['fingerprints.perLayer', entry.perLayer === null ? UNKNOWN : words.number(entry.perLayer, Number.isInteger(entry.perLayer) ? 0 : 1)],
    ['fingerprints.period', words.time(entry.periodUs)],
    ['fingerprints.gaps', words.time(entry.gapUs)],
    ['fingerprints.recoverableDevice', range(entry.recoverableDeviceUs, options)],
    ['fingerprints.recoverableStep', range(entry.recoverableStepUs, options)],
  ];
  const explanation = wasteExplanation(entry, (code, args) => words.t(code, args));
  return section(options, { id: 'chain', title: `${chainName(entry, options)} · ${words.t('fingerprints.kernels', { count: entry.kernels.length })}` },
    h('div', { class: 'chain-tools' }, button({ label: words.t('fingerprints.showFirst'), icon: 'pulse', look: 'primary', onClick: () => target(startNs - (endNs - startNs), endNs + (endNs - startNs)) }), ...zooms),
    explanation === undefined ? undefined : h('p', { class: 'note' }, explanation),
    strip(entry, options),
    h('div', { class: 'columns' },
      h('dl', { class: 'chain-figures' }, figures.map(([code, value]) => h('div', {}, h('dt', {}, words.t(code)), h('dd', { class: 'number' }, value)))),
      sources(entry, options)));
}

const range = ([low, high]: readonly [number, number], { words }: FingerprintsOptions): string => `${words.time(low)} – ${words.time(high)}`;

/** The chain as in the article's figure 3C: each kernel as wide as it lasts, its name, mean and term beneath. */
function strip(entry: FingerprintEntry, { words }: FingerprintsOptions): HTMLElement {
  const total = entry.kernels.reduce((sum, { meanUs }) => sum + (meanUs ?? 0), 0);
  return h('div', { class: 'strip-holder' },
    h('div', { class: 'strip', role: 'img', 'aria-label': entry.kernels.map(({ type, name, meanUs }) => `${type === '' ? name : type} ${words.time(meanUs)}`).join(', ') },
      entry.kernels.map(({ type, name, family, meanUs }) => h('div', { class: 'strip-piece', style: `flex-grow: ${total === 0 ? 1 : Math.max(0.5, ((meanUs ?? 0) / total) * 100)}; background: ${familyColour(family)}`, 'data-tip': `${name}\n${words.time(meanUs)} · ${words.maybe(`family.${family}`, family)}` }, h('span', {}, shortName(type, name))))),
    h('p', { class: 'strip-legend faint' },
      [...new Set(entry.kernels.map(({ family }) => family))].map((family) => h('span', { class: 'strip-key' }, h('span', { class: 'swatch', style: `background: ${familyColour(family)}`, 'aria-hidden': 'true' }), words.maybe(`family.${family}`, family))),
      h('span', {}, words.t('fingerprints.toScale'))),
    h('table', { class: 'plain-table chain-kernels' },
      h('thead', {}, h('tr', {}, h('th', { class: 'number' }, '#'), h('th', { class: 'text' }, words.t('report.name')), h('th', { class: 'number' }, words.t('report.mean')), h('th', { class: 'text' }, words.t('fingerprints.term')))),
      h('tbody', {}, entry.kernels.map(({ type, name, meanUs, term }, i) => h('tr', {}, h('td', { class: 'number' }, String(i + 1)), h('td', { class: 'text', title: name }, shortName(type, name)), h('td', { class: 'number' }, words.time(meanUs)), h('td', { class: 'text term', title: term }, term))))));
}

/** The operator type, else the functor in a C++ name: `…rsqrt_kernel_cuda…`. */
function shortName(type: string, name: string): string {
  if (type !== '' && type !== 'N/A') {
    return type;
  }
  return /(\w+)_kernel_(?:cuda|impl)/.exec(name)?.[1] ?? /(\w+)Functor/.exec(name)?.[1] ?? name.replace(/^void /, '').replace(/[<(].*$/, '').split('::').pop() ?? name;
}

function sources({ source }: FingerprintEntry, { words, post }: FingerprintsOptions): HTMLElement {
  if (source.length === 0) {
    return h('p', { class: 'note' }, words.t('fingerprints.noSource'));
  }
  return h('ul', { class: 'chain-sources' }, source.map((place) => h('li', {},
    button({ label: `${place.file.split(/[\\/]/).slice(-2).join('/')}:${place.startLine}`, icon: 'go-to-file', onClick: () => post({ kind: 'openSource', file: place.file, line: place.startLine }) }),
    h('span', { class: 'faint' }, ` ${place.function} · ${words.t(`fingerprints.method.${place.method}`, { confidence: Math.round(place.confidence * 100) })}${place.through === undefined ? '' : ` · ${words.t(`fingerprints.through.${place.through}`)}`}${place.equals.length > 0 ? ` · ${words.t('fingerprints.equals', { count: place.equals.length })}` : ''}${place.changed === true ? ` · ${words.t('fingerprints.changed')}` : ''}`))));
}
