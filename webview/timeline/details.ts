import type { EventDetail, EventLink, FlowResult, StackFrame } from '../../src/protocol/timeline';
import { fillElement, h, icon } from '../shared/dom';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';
import { formatExactNs, formatNs } from './format';
import { familyName } from './legend';
import { facts } from './panel';

export interface DetailActions {
  readonly goTo: (link: EventLink) => void;
  readonly openSource: (file: string, line: number) => void;
  readonly copy: (text: string) => void;
  readonly zoomTo: (startNs: number, durationNs: number) => void;
}

/** The frame Enter and double-click open: the innermost of the user's own, library code only if there is nothing else. */
export function sourceFrame(frames: readonly StackFrame[]): StackFrame | undefined {
  const placed = frames.filter((frame) => frame.file !== undefined && frame.line !== undefined);
  return placed.findLast(({ isUser }) => isUser) ?? placed.at(-1);
}

/** Everything known about the selected event. */
export function drawDetails(body: HTMLElement, words: Words, originNs: number, detail: EventDetail, flow: FlowResult | undefined, actions: DetailActions): void {
  const link = (target: EventLink | undefined): Node | undefined => target === undefined ? undefined
    : h('button', { class: 'link', onclick: () => actions.goTo(target) }, `${target.name} (${formatNs(words, target.durationNs)})`);
  const isGap = detail.side === 'gap';
  const name = isGap ? words.t(`timeline.lane.${detail.kind}`) : detail.name;
  const kernels = flow === undefined || flow.total === 0 || (detail.side === 'device' && flow.total === 1) ? undefined
    : h('span', {}, words.t('timeline.kernelsLaunched', { count: words.number(flow.total) }), ' ', flow.kernels.slice(0, 8).map((kernel) => h('button', { class: 'link', onclick: () => actions.goTo(kernel) }, `${kernel.name} `)));
  const left = facts(words, [
    ['timeline.detail.type', detail.type],
    ['timeline.detail.family', h('span', {}, h('span', { class: 'swatch', style: `background:${familyColour(detail.family)}` }), familyName(words, detail.family), detail.mixed ? ` · ${words.t('timeline.detail.mixed')}` : '')],
    ['timeline.detail.chain', detail.chain === undefined ? undefined : detail.chain === '' ? words.t('timeline.detail.unknownChain') : words.t(`fusion.${detail.chain}`)],
    ['timeline.detail.core', detail.core],
    ['timeline.detail.stream', detail.stream],
    ['timeline.detail.thread', detail.thread],
    ['timeline.detail.start', bothForms(words, detail.startNs - originNs)],
    ['timeline.detail.duration', bothForms(words, detail.durationNs)],
    ['timeline.detail.step', detail.step],
    ['timeline.detail.shapes', detail.shapes],
    ['timeline.detail.dtypes', detail.dtypes],
  ]);
  const right = facts(words, [
    ['timeline.detail.launch', link(detail.launch)],
    ['timeline.detail.launchDelay', detail.launchDelayNs === undefined ? undefined : formatNs(words, detail.launchDelayNs)],
    ['timeline.detail.graph', detail.graphReplay ? words.t('timeline.detail.graphReplay') : undefined],
    ['timeline.detail.operator', link(detail.operator)],
    ['timeline.detail.forward', link(detail.forwardOperator)],
    ['timeline.detail.kernels', kernels],
  ]);
  const title = h('div', { class: 'detail-title' }, h('strong', { class: 'detail-name' }, name),
    h('button', { class: 'icon-button', 'aria-label': words.t('timeline.copyDetails'), 'data-tip': words.t('timeline.copyDetails'), onclick: () => actions.copy(detailText(words, originNs, detail)) }, icon('copy')),
    Number.isNaN(detail.startNs) ? undefined : h('button', { class: 'icon-button', 'aria-label': words.t('timeline.zoomToEvent'), 'data-tip': words.t('timeline.zoomToEvent'), onclick: () => actions.zoomTo(detail.startNs, detail.durationNs) }, icon('zoom-in')));
  fillElement(body, title, h('div', { class: 'detail-columns' }, left, right, frames(words, detail, actions), args(words, detail)));
}

/** Long times as one reads them, and exactly. */
function bothForms(words: Words, ns: number): string {
  const exact = formatExactNs(words, ns);
  return Math.abs(ns) >= 1e6 ? `${formatNs(words, ns)} (${exact})` : exact;
}

function frames(words: Words, { frames: list, framesFrom, side, alignedConfidence, carriedShare }: EventDetail, actions: DetailActions): HTMLElement | undefined {
  if (list.length === 0) {
    return side === 'device' ? h('div', { class: 'detail-block muted' }, words.t('timeline.noFrames')) : undefined;
  }
  const best = sourceFrame(list);
  return h('div', { class: 'detail-block' }, h('div', { class: 'detail-heading' }, alignedConfidence !== undefined ? words.t(framesFrom === 'forward' ? 'timeline.alignedForward' : 'timeline.aligned', { confidence: words.number(alignedConfidence * 100) }) : carriedShare !== undefined ? words.t('timeline.carried') : words.t(framesFrom === 'forward' ? 'timeline.framesForward' : 'timeline.frames')),
    h('ol', { class: 'frames' }, [...list].reverse().map((frame) => {
      const { file, line } = frame;
      return h('li', frame === best ? { class: 'best' } : {}, file === undefined || line === undefined ? frame.text : h('button', { class: 'link', onclick: () => actions.openSource(file, line) }, frame.text));
    })));
}

function args(words: Words, detail: EventDetail): HTMLElement | undefined {
  return detail.args === undefined || detail.args.length === 0 ? undefined
    : h('div', { class: 'detail-block' }, h('div', { class: 'detail-heading' }, words.t('timeline.args')), h('dl', { class: 'facts' }, detail.args.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])));
}

/** The same as text, tab-separated. */
function detailText(words: Words, originNs: number, detail: EventDetail): string {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['timeline.detail.name', detail.name], ['timeline.detail.type', detail.type], ['timeline.detail.family', familyName(words, detail.family)], ['timeline.detail.core', detail.core],
    ['timeline.detail.stream', detail.stream], ['timeline.detail.thread', detail.thread], ['timeline.detail.start', formatExactNs(words, detail.startNs - originNs)],
    ['timeline.detail.duration', formatExactNs(words, detail.durationNs)], ['timeline.detail.step', detail.step], ['timeline.detail.shapes', detail.shapes], ['timeline.detail.dtypes', detail.dtypes],
    ['timeline.detail.launch', detail.launch?.name], ['timeline.detail.operator', detail.operator?.name], ['timeline.detail.forward', detail.forwardOperator?.name],
  ];
  const lines = rows.filter(([, value]) => value !== undefined && value !== '').map(([code, value]) => `${words.t(code)}\t${value ?? ''}`);
  return [...lines, ...detail.frames.map((frame) => `\t${frame.text}`), ...(detail.args ?? []).map(([name, value]) => `${name}\t${value}`)].join('\n');
}
