import type { OverviewData } from '../../protocol/overview';
import { text, type Translate } from '../../protocol/text';
import type { ReportDocument } from './document';
import { definitionsOf } from './markdown';
import type { Section } from './sections';

/** One file that needs nothing else: no script, no font, no request; it prints well and follows the reader's colour scheme. */
export function htmlReport(document: ReportDocument, translate: Translate, language: string): string {
  const say = (code: string): string => escapeHtml(text(code, undefined, translate));
  const body: string[] = [`<h1>${escapeHtml(document.title)}</h1>\n<p>${escapeHtml(document.summary)}</p>`];
  body.push(...document.overview.map((each) => section(each, 'h2')));
  for (const { heading, sections, leftOut, assumptions, page } of document.pages) {
    body.push(`<h2>${escapeHtml(heading)}</h2>`, ...sections.map((each) => section(each, 'h3')), leftOut === '' ? '' : `<p>${escapeHtml(leftOut)}</p>`, densityChart(page.overview.density, say('report.density'), say('report.densityAxes')));
    if (assumptions.length > 0) {
      body.push(`<h3>${say('report.assumptions')}</h3>${bullets(assumptions)}`);
    }
  }
  body.push(`<h2>${say('report.problems')}</h2>`, document.problems.length === 0
    ? `<p>${say('report.noProblems')}</p>`
    : bullets(document.problems.map(({ message, effect }) => effect === '' ? message : `${message} ${effect}`)));
  const definitions = definitionsOf(document);
  if (definitions.length > 0) {
    body.push(`<h2>${say('report.definitions')}</h2><dl>${definitions.map(([name, about]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(about)}</dd>`).join('')}</dl>`);
  }
  body.push(...document.notes.map((note) => `<p>${escapeHtml(note)}</p>`));
  return `<!DOCTYPE html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(document.title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body.join('\n')}
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid; } h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { border-bottom: 1px solid; white-space: nowrap; } .right { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
meter { width: 10rem; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 0; } [title] { cursor: help; }
svg { display: block; max-width: 100%; } svg text { font-size: 11px; fill: currentColor; }
`;

function section({ title, columns, rows, notes }: Section, heading: string): string {
  const bars = rows.some(({ share }) => share !== undefined);
  const classOf = (i: number): string => columns[i].align === 'right' ? ' class="right"' : '';
  const head = `<tr>${columns.map(({ title: name }, i) => `<th scope="col"${classOf(i)}>${escapeHtml(name)}</th>`).join('')}${bars ? '<th></th>' : ''}</tr>`;
  const lines = rows.map(({ cells, share, about }) => {
    const tip = about === undefined ? '' : ` title="${escapeHtml(about)}"`;
    const meter = !bars ? '' : `<td>${share === undefined ? '' : `<meter min="0" max="1" value="${share.toFixed(4)}">${(share * 100).toFixed(1)} %</meter>`}</td>`;
    return `<tr${tip}>${columns.map((_column, i) => `<td${classOf(i)}>${escapeHtml(cells[i] ?? '')}</td>`).join('')}${meter}</tr>`;
  });
  return `<${heading}>${escapeHtml(title)}</${heading}>\n<table>\n${head}\n${lines.join('\n')}\n</table>${notes.map((note) => `<p>${escapeHtml(note)}</p>`).join('')}`;
}

const WIDTH = 640;
const HEIGHT = 220;
const MARGIN = 40;

/** Log-log density as one SVG path; its numbers stand in the tables. */
function densityChart({ edgesUs, density }: OverviewData['density'], title: string, axes: string): string {
  const points = density.flatMap((value, i) => value > 0 ? [{ x: Math.log10(Math.sqrt(edgesUs[i] * edgesUs[i + 1])), y: Math.log10(value) }] : []);
  if (points.length < 2) {
    return '';
  }
  const low = { x: Math.floor(Math.min(...points.map(({ x }) => x))), y: Math.floor(Math.min(...points.map(({ y }) => y))) };
  const high = { x: Math.ceil(Math.max(...points.map(({ x }) => x))), y: Math.ceil(Math.max(...points.map(({ y }) => y))) };
  const px = (x: number): string => (MARGIN + ((x - low.x) / Math.max(1, high.x - low.x)) * (WIDTH - MARGIN - 10)).toFixed(1);
  const py = (y: number): string => (HEIGHT - 24 - ((y - low.y) / Math.max(1, high.y - low.y)) * (HEIGHT - 40)).toFixed(1);
  const ticks: string[] = [];
  for (let decade = low.x; decade <= high.x; decade++) {
    ticks.push(`<text x="${px(decade)}" y="${HEIGHT - 6}" text-anchor="middle">${decadeLabel(decade)}</text>`);
  }
  const path = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${px(x)} ${py(y)}`).join(' ');
  return `<h3>${title}</h3>\n<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${title}"><path d="${path}" fill="none" stroke="currentColor" stroke-width="1.5"/>${ticks.join('')}</svg><p>${axes}</p>`;
}

function decadeLabel(decade: number): string {
  return decade >= 6 ? `${10 ** (decade - 6)} s` : decade >= 3 ? `${10 ** (decade - 3)} ms` : decade >= 0 ? `${10 ** decade} µs` : `${10 ** (decade + 3)} ns`;
}

function bullets(lines: readonly string[]): string {
  return `<ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`;
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
