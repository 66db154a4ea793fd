/**
 * Draws the charts of a page from the tables that hold their numbers, so that the same numbers are there without JavaScript: the first column
 * of a table has the times, and each other one a series.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import uPlot from 'uplot';

const HEIGHT = 220;
/** Colours of the series, which differ in lightness too. */
const COLOURS = ['#2f6fde', '#c4452f', '#1d8a5b', '#9a6a00', '#7a4fc0'];

for (const chart of document.querySelectorAll<HTMLElement>('[data-chart]')) {
  const table = document.getElementById(chart.dataset['chart'] ?? '');
  if (table instanceof HTMLTableElement) draw(chart, table);
}

function draw(chart: HTMLElement, table: HTMLTableElement): void {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent ?? '');
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  const valueAt = (row: HTMLTableRowElement, index: number) =>
    Number(row.cells[index]?.dataset['value'] ?? NaN);
  const data = names.map((_, index) => rows.map((row) => valueAt(row, index)));
  const colour = getComputedStyle(chart).color;
  const axis = { stroke: colour, grid: { stroke: `${colour}22` } };
  const plot = new uPlot(
    {
      width: chart.clientWidth,
      height: HEIGHT,
      axes: [axis, { ...axis, size: 60 }],
      series: names.map((label, index) =>
        index === 0 ? {} : { label, stroke: COLOURS[(index - 1) % COLOURS.length] ?? colour, width: 2 },
      ),
    },
    data as unknown as uPlot.AlignedData,
    chart,
  );
  new ResizeObserver(() => plot.setSize({ width: chart.clientWidth, height: HEIGHT })).observe(chart);
}
