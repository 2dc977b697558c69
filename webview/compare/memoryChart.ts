import { Chart, LinearScale, type ChartConfiguration, type Point } from 'chart.js';
import type { MemoryDigest } from '../../src/protocol/compare';
import { liveChart, type LiveChart } from '../charts/densityChart';
import { themeColour } from '../shared/theme';
import type { Words } from '../shared/words';
import { SIDE_COLOURS, SIDE_DASHES } from './sides';

Chart.register(LinearScale);

/** Reserved memory of both sides over time, as in the left of the article's figure 15: a constant gap between them is seen at once. */
export function memoryChart(memory: { readonly base: MemoryDigest | null; readonly candidate: MemoryDigest | null }, words: Words): LiveChart {
  return liveChart(words.t('compare.memoryAlt'), () => configuration(memory, words));
}

function configuration(memory: { readonly base: MemoryDigest | null; readonly candidate: MemoryDigest | null }, words: Words): ChartConfiguration<'line', Point[]> {
  const text = themeColour('descriptionForeground');
  const font = { family: themeColour('font-family'), size: 11 };
  const grid = { color: `color-mix(in srgb, ${text} 20%, transparent)`, tickLength: 4 };
  return {
    type: 'line',
    data: {
      datasets: (['base', 'candidate'] as const).filter((side) => memory[side] !== null).map((side) => ({
        label: words.t(`compare.${side}`), data: (memory[side]?.curve ?? []).map(([x, y]) => ({ x, y })), borderColor: themeColour(SIDE_COLOURS[side], 'foreground'), borderDash: [...SIDE_DASHES[side]], borderWidth: 1.5, pointRadius: 0, pointHitRadius: 8, stepped: true,
      })),
    },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true, layout: { padding: { right: 14, top: 4 } }, interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: { type: 'linear', grid, border: { color: text }, title: { display: true, text: words.t('compare.memory.axis'), color: text, font }, ticks: { color: text, font, maxRotation: 0, callback: (value) => words.time(Number(value) * 1000) } },
        // A level line is to lie inside the chart, not on its edge.
        y: { type: 'linear', grace: '8%', grid, border: { color: text }, ticks: { color: text, font, callback: (value) => `${words.number(Number(value) / 1e9, 2)} GB` } },
      },
      plugins: {
        legend: { display: true, labels: { color: text, font, boxWidth: 18, boxHeight: 1 } },
        tooltip: { animation: false, callbacks: { title: () => '', label: ({ dataset, parsed }) => `${dataset.label ?? ''}: ${words.number((parsed.y ?? 0) / 1e9, 2)} GB · ${words.time((parsed.x ?? 0) * 1000)}` } },
      },
    },
  };
}
