import { Chart, Filler, Legend, LineController, LineElement, LogarithmicScale, PointElement, Tooltip, type ChartConfiguration, type Point } from 'chart.js';
import type { OverviewData } from '../../src/protocol/overview';
import { h } from '../shared/dom';
import { onThemeChange, themeColour } from '../shared/theme';
import type { Words } from '../shared/words';

Chart.register(LineController, LineElement, PointElement, LogarithmicScale, Tooltip, Filler, Legend);

/** A chart and the way to get rid of it; chart.js keeps global references until told. */
export interface LiveChart {
  readonly element: HTMLElement;
  dispose(): void;
}

/**
 * Probability density of kernel durations, both axes logarithmic, as steps over the bins. Empty bins are gaps: zero has no
 * place on a logarithmic axis.
 */
export function densityChart(density: OverviewData['density'], words: Words): LiveChart {
  return liveChart(words.t('view.densityAlt'), () => configuration([{ density, label: '', colour: 'charts-blue' }], words));
}

/** One line of an overlay: whose densities, and the theme colour it is drawn in. */
export interface DensitySeries {
  readonly density: OverviewData['density'];
  readonly label: string;
  readonly colour: string;
  /** Tells lines apart without colour. */
  readonly dash?: readonly number[];
}

/** Several densities over one another, as in the article's figure 1. */
export function densityOverlay(series: readonly DensitySeries[], alt: string, words: Words): LiveChart {
  return liveChart(alt, () => configuration(series, words));
}

/** A chart that draws itself anew when the theme changes. */
export function liveChart(alt: string, configure: () => ChartConfiguration<'line', Point[]>): LiveChart {
  const canvas = h('canvas', { role: 'img', 'aria-label': alt });
  const element = h('div', { class: 'chart' }, canvas);
  let chart: Chart | undefined;
  const draw = (): void => {
    chart?.destroy();
    chart = new Chart(canvas, configure());
  };
  // chart.js measures its parent, so it can only start inside the page.
  const first = requestAnimationFrame(draw);
  const stop = onThemeChange(draw);
  return {
    element,
    dispose: () => {
      cancelAnimationFrame(first);
      stop();
      chart?.destroy();
    },
  };
}

function configuration(series: readonly DensitySeries[], words: Words): ChartConfiguration<'line', Point[]> {
  const text = themeColour('descriptionForeground');
  const grid = translucent(text);
  const font = { family: themeColour('font-family'), size: 11 };
  const lines = series.map(({ density, ...line }) => ({ ...line, ...density, ...outline(density.edgesUs, density.density), drawn: themeColour(line.colour, 'foreground') }));
  const filled = lines.flatMap(({ density, edgesUs }) => density.flatMap((value, i) => (value > 0 ? [{ value, from: edgesUs[i], to: edgesUs[i + 1] }] : [])));
  const axis = {
    grid: { color: grid, tickLength: 4 }, border: { color: text },
    // A line per decade; the ticks between them would be a picket fence.
    afterBuildTicks: (scale: { ticks: { value: number }[] }) => {
      scale.ticks = scale.ticks.filter(({ value }) => isPowerOfTen(value));
    },
  };
  const title = (label: string): object => ({ display: true, text: label, color: text, font });
  return {
    type: 'line',
    data: { datasets: lines.map(({ points, label, drawn, dash = [] }) => ({ data: points, label, spanGaps: false, borderColor: drawn, borderDash: [...dash], borderWidth: 1.5, backgroundColor: translucent(drawn), fill: 'start', pointRadius: 0, pointHitRadius: 8 })) },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
      // Room for half of the last label.
      layout: { padding: { right: 14, top: 4 } },
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: {
          ...axis, type: 'logarithmic', min: powerOfTen(Math.min(...filled.map(({ from }) => from), Infinity), Math.floor, 1), max: powerOfTen(Math.max(...filled.map(({ to }) => to), 0), Math.ceil, 10), title: title(words.t('view.densityX')),
          ticks: { color: text, font, maxRotation: 0, callback: (value) => decadeLabel(Number(value)) },
        },
        y: {
          ...axis, type: 'logarithmic', min: powerOfTen(Math.min(...filled.map(({ value }) => value), 1), Math.floor, 1), title: title(words.t('view.densityY')),
          ticks: { color: text, font, callback: (value) => superscript(Number(value)) },
        },
      },
      plugins: {
        legend: { display: series.length > 1, labels: { color: text, font, boxWidth: 18, boxHeight: 1 } },
        tooltip: {
          displayColors: false, animation: false,
          callbacks: {
            title: () => '',
            label: ({ dataIndex, datasetIndex }) => {
              const { bins, edgesUs, counts, label } = lines[datasetIndex];
              const bin = bins[dataIndex];
              const what = words.t('view.densityTooltip', { from: words.time(edgesUs[bin]), to: words.time(edgesUs[bin + 1]), count: words.count(counts[bin]) });
              return label === '' ? what : `${label}: ${what}`;
            },
          },
        },
      },
    },
  };
}

/** The flat top of each filled bin, with a gap where a bin is empty; `bins` says which bin a point belongs to. */
function outline(edgesUs: readonly number[], density: readonly number[]): { readonly points: Point[]; readonly bins: readonly number[] } {
  const points: Point[] = [];
  const bins: number[] = [];
  density.forEach((value, bin) => {
    const y = value > 0 ? value : NaN;
    points.push({ x: edgesUs[bin], y }, { x: edgesUs[bin + 1], y });
    bins.push(bin, bin);
  });
  return { points, bins };
}

/** `otherwise` where there is nothing to round. */
const powerOfTen = (value: number, round: (value: number) => number, otherwise: number): number =>
  value > 0 && Number.isFinite(value) ? 10 ** round(Math.log10(value) + (round === Math.floor ? 1e-9 : -1e-9)) : otherwise;

const isPowerOfTen = (value: number): boolean => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-6;

/** 10 µs, 1 ms, 100 ms, 1 s. */
function decadeLabel(us: number): string {
  return us < 1000 ? `${us} µs` : us < 1_000_000 ? `${us / 1000} ms` : `${us / 1_000_000} s`;
}

const SUPERSCRIPTS: Readonly<Record<string, string>> = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };

const superscript = (value: number): string => `10${[...String(Math.round(Math.log10(value)))].map((digit) => SUPERSCRIPTS[digit]).join('')}`;

const translucent = (colour: string): string => `color-mix(in srgb, ${colour} 20%, transparent)`;
