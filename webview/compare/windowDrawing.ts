import type { CompareWindow, WindowBracket, WindowKernel } from '../../src/protocol/compare';
import { familyColour } from '../shared/theme';
import type { Words } from '../shared/words';
import { svg } from './svg';

/** Heights in CSS pixels. */
const BRACKET = 24;
const LANE = 26;
const THIN = 12;
const GAP = 4;
const AXIS = 20;
/** Room for the lane names at the left. */
const LABELS = 112;
/** About as wide as a character of a label is. */
const CHARACTER = 6.2;

export interface DrawnWindow {
  readonly element: SVGSVGElement;
  /** Marks a kernel, undefined for none. */
  readonly mark: (index: number | undefined) => void;
}

interface Lane {
  readonly id: WindowKernel['lane'];
  readonly title: string;
}

/**
 * One window: the chain in brackets above, one row per kind of stream, times without compute below. Kernels of the focus are
 * drawn full and outlined, the others faint; the scale is given, so that two windows are drawn alike.
 */
export function drawWindow(data: CompareWindow, width: number, label: string, words: Words): DrawnWindow {
  const lanes = ([['compute', 'compare.window.compute'], ['side', 'compare.window.other'], ['communication', 'compare.window.communication'], ['copy', 'compare.window.copy']] as const)
    .filter(([id]) => id === 'compute' || data.kernels.some((kernel) => kernel.lane === id)).map(([id, code]): Lane => ({ id, title: words.t(code) }));
  const scale = (width - LABELS - 8) / data.widthNs;
  const x = (ns: number): number => LABELS + Math.max(0, Math.min(data.widthNs, ns)) * scale;
  const tops = new Map(lanes.map(({ id }, i) => [id, BRACKET + i * (LANE + GAP)]));
  const idleTop = BRACKET + lanes.length * (LANE + GAP);
  const bottom = idleTop + THIN + GAP;
  const boxes = data.kernels.map((kernel) => kernelBox(kernel, x, (tops.get(kernel.lane) ?? BRACKET), words));
  const element = svg('svg', { width, height: bottom + AXIS, viewBox: `0 0 ${width} ${bottom + AXIS}`, role: 'img', 'aria-label': label, tabindex: 0, class: 'window-drawing' },
    ...axis(data.widthNs, x, bottom, words),
    ...lanes.map(({ id, title }) => svg('text', { x: 0, y: (tops.get(id) ?? 0) + LANE / 2 + 4, class: 'lane-name' }, title)),
    svg('text', { x: 0, y: idleTop + THIN - 1, class: 'lane-name' }, words.t('compare.window.idle')),
    ...data.idle.map(([start, length]) => svg('rect', { x: x(start), y: idleTop, width: Math.max(0.5, length * scale), height: THIN, class: 'idle-box', style: `fill: ${familyColour('free')}`, 'data-tip': `${words.t('compare.window.idle')}: ${words.time(length / 1000)}` })),
    ...boxes, ...bracketMarks(data.brackets, x, words));
  const marker = svg('rect', { class: 'marker', x: 0, y: 0, width: 0, height: LANE, visibility: 'hidden' });
  element.append(marker);
  return {
    element,
    mark: (index) => {
      const kernel = index === undefined ? undefined : data.kernels.at(index);
      marker.setAttribute('visibility', kernel === undefined ? 'hidden' : 'visible');
      if (kernel !== undefined) {
        const from = x(kernel.startNs);
        marker.setAttribute('x', String(from - 1));
        marker.setAttribute('y', String((tops.get(kernel.lane) ?? 0) - 1));
        marker.setAttribute('width', String(Math.max(2, x(kernel.startNs + kernel.durationNs) - from) + 2));
        marker.setAttribute('height', String(LANE + 2));
      }
    },
  };
}

function kernelBox(kernel: WindowKernel, x: (ns: number) => number, top: number, words: Words): SVGElement {
  const from = x(kernel.startNs);
  const wide = Math.max(0.75, x(kernel.startNs + kernel.durationNs) - from);
  const time = words.time(kernel.durationNs / 1000);
  const name = shortKernelName(kernel);
  const room = Math.floor((wide - 6) / CHARACTER);
  const full = `${name} ${time}`;
  const text = room >= full.length ? full : room >= 5 ? name.slice(0, room) : undefined;
  return svg('g', { class: kernel.focus ? 'box box-focus' : 'box', 'data-tip': `${kernel.name}\n${time} · ${words.maybe(`family.${kernel.family}`, kernel.family)}` },
    svg('rect', { x: from, y: top, width: wide, height: LANE, style: `fill: ${familyColour(kernel.family)}` }),
    // An inner drawing cuts off what is wider than the estimate.
    text === undefined ? undefined : svg('svg', { x: from + 3, y: top, width: wide - 5, height: LANE }, svg('text', { x: 0, y: LANE / 2 + 4, class: 'box-text' }, text)));
}

/** A bracket over each chain; its words only where they do not run into the words before. */
function bracketMarks(brackets: readonly WindowBracket[], x: (ns: number) => number, words: Words): readonly SVGElement[] {
  let free = LABELS;
  return brackets.map((bracket) => {
    const [from, to] = [x(bracket.startNs), Math.max(x(bracket.endNs), x(bracket.startNs) + 2)];
    const text = words.t('compare.window.bracket', { count: bracket.kernels, time: words.time(bracket.totalNs / 1000) });
    const width = text.length * CHARACTER;
    const start = Math.max(from, Math.min((from + to) / 2 - width / 2, x(Infinity) - width));
    const shown = start >= free;
    if (shown) {
      free = start + width + 10;
    }
    return svg('g', { class: 'bracket', 'data-tip': text }, svg('path', { d: `M${from} ${BRACKET - 2} V${BRACKET - 8} H${to} V${BRACKET - 2}` }), shown ? svg('text', { x: start, y: BRACKET - 12 }, text) : undefined);
  });
}

function axis(widthNs: number, x: (ns: number) => number, bottom: number, words: Words): readonly SVGElement[] {
  const rough = widthNs / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const ticks: SVGElement[] = [];
  for (let at = 0; at <= widthNs; at += step) {
    ticks.push(svg('line', { x1: x(at), x2: x(at), y1: BRACKET - 4, y2: bottom + 4, class: 'grid' }), svg('text', { x: x(at), y: bottom + AXIS - 4, class: 'axis-text', 'text-anchor': at === 0 ? 'start' : at > widthNs * 0.96 ? 'end' : 'middle' }, at === 0 ? '0' : words.time(at / 1000)));
  }
  return ticks;
}

/** The operator type, else the operator we know it as, else the functor in a C++ name, else the first words. */
export function shortKernelName({ name, type, operator }: Pick<WindowKernel, 'name' | 'type' | 'operator'>): string {
  const known = type !== '' && type !== 'N/A' ? type : operator;
  if (known !== '') {
    return known;
  }
  return /(\w+)_kernel_(?:cuda|impl)/.exec(name)?.[1] ?? /(\w+)Functor/.exec(name)?.[1] ?? name.replace(/^void /, '').replace(/[<(].*$/, '').split('::').pop() ?? name;
}
