/**
 * Draws the charts of a page from the tables that hold their numbers, so that the same numbers are there without JavaScript. The first column
 * of a table has the times. `data-columns` names the columns that are series, by their positions, and is all of them without it; `data-lines`
 * has values that are drawn as horizontal lines; `data-unit="percent"` shows shares as per cent.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import uPlot from 'uplot';

const HEIGHT = 220;
/** Colours of the series, which differ in lightness too. */
const COLOURS = ['#2f6fde', '#1d8a5b', '#c4452f', '#9a6a00', '#7a4fc0'];
const LINE_COLOUR = '#b02a37';

function drawAll(): void {
  for (const chart of document.querySelectorAll<HTMLElement>('[data-chart]')) {
    const table = document.getElementById(chart.dataset['chart'] ?? '');
    if (table instanceof HTMLTableElement) draw(chart, table);
  }
}

drawAll();
// The content of the page was replaced by the answer to a form.
addEventListener('content', drawAll);

function numbersIn(text: string | undefined): number[] {
  return (text ?? '').split(' ').filter(Boolean).map(Number);
}

function draw(chart: HTMLElement, table: HTMLTableElement): void {
  const { columns, lines, unit } = chart.dataset;
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent ?? '');
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  const valuesOf = (index: number) =>
    rows.map((row) =>
      Number(row.cells[index]?.querySelector<HTMLElement>('[data-value]')?.dataset['value'] ?? NaN),
    );
  const shown = columns === undefined ? names.map((_, index) => index).slice(1) : numbersIn(columns);
  const limits = numbersIn(lines);
  const formats = new Intl.NumberFormat(document.documentElement.lang, {
    style: unit === 'percent' ? 'percent' : 'decimal',
    maximumFractionDigits: 2,
  });
  const colour = getComputedStyle(chart).color;
  const axis = { stroke: colour, grid: { stroke: '#8886' } };
  const value = (_: uPlot, raw: number | null) => (raw === null ? '' : formats.format(raw));
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: HEIGHT,
      axes: [axis, { ...axis, size: 60, values: (_, ticks) => ticks.map((tick) => formats.format(tick)) }],
      scales: {
        y: { range: (_, least, most) => [Math.min(0, least), Math.max(most, ...limits) * 1.05 || 1] },
      },
      series: [
        {},
        ...shown.map((index, position) => ({
          label: names[index] ?? '',
          stroke: COLOURS[position % COLOURS.length] ?? colour,
          width: 2,
          value,
        })),
        ...limits.map((limit) => ({
          label: formats.format(limit),
          stroke: LINE_COLOUR,
          dash: [6, 4],
          width: 1,
          points: { show: false },
          value,
        })),
      ],
    },
    [valuesOf(0), ...shown.map(valuesOf), ...limits.map((limit) => rows.map(() => limit))],
    chart,
  );
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: HEIGHT })).observe(chart);
}
