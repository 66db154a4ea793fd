/** From measures to the table: medians, ranges, and the ratios between rows that do the same job. */
import { median } from './percentile.ts';
import type { Measure, Row } from './row.ts';

export type RowResult =
  | {
      name: string;
      unit: Row['unit'];
      comparison: Row['comparison'];
      /** The run in the middle, by figure: all its columns belong together. */
      median: Measure;
      range: [number, number];
      runs: number;
      toBarePath: number | undefined;
      toPeer: number | undefined;
    }
  | { name: string; missing: string };

export type RowRuns = { row: Row; measures: Measure[]; failures: string[] };

export function summarise(rows: readonly (RowRuns | { name: string; missing: string })[]): RowResult[] {
  const figures = rows.flatMap((entry) =>
    'row' in entry && entry.measures.length > 0
      ? [{ row: entry.row, figure: medianFigure(entry.measures) }]
      : [],
  );
  const figureOf = (job: string, role: string): number | undefined =>
    figures.find(({ row }) => row.comparison?.job === job && row.comparison.role === role)?.figure;
  return rows.map((entry) => {
    if ('missing' in entry) return entry;
    const { row, measures, failures } = entry;
    const figure = medianFigure(measures);
    const middle = measures.find((measure) => measure.perSecond === figure);
    if (!middle || failures.length > 0) return { name: row.name, missing: `failed: ${failures.join('; ')}` };
    const all = measures.map((measure) => measure.perSecond);
    const ratio = (role: string) => {
      const other = row.comparison && row.comparison.role !== role && figureOf(row.comparison.job, role);
      return other ? figure / other : undefined;
    };
    return {
      name: row.name,
      unit: row.unit,
      comparison: row.comparison,
      median: middle,
      range: [Math.min(...all), Math.max(...all)],
      runs: all.length,
      toBarePath: ratio('bare path'),
      toPeer: ratio('peer'),
    };
  });
}

function medianFigure(measures: readonly Measure[]): number {
  return median(measures.map((measure) => measure.perSecond));
}

export function renderTable(results: readonly RowResult[]): string {
  const runs = Math.max(0, ...results.map((result) => ('runs' in result ? result.runs : 0)));
  const head = [
    'row',
    'median',
    `range (n=${runs})`,
    'p50 / p99 ms',
    'CPU ms/msg',
    'cores system/load/all',
    'memory MiB',
    'x bare path',
    'x Postfix',
  ];
  const lines = results.map((result) =>
    'missing' in result ? [result.name, result.missing] : columns(result),
  );
  const widths = head.map((title, column) => Math.max(title.length, ...columnWidths(lines, column)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => pad(cell, widths[column] ?? 0, column === 0))
      .join(' | ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('-|-'), ...lines.map(line)].join('\n');
}

/** A row without a figure says why in its second column and must not widen it. */
function columnWidths(lines: readonly string[][], column: number): number[] {
  return lines.flatMap((cells) => (cells.length > 2 || column === 0 ? [cells[column]?.length ?? 0] : []));
}

function pad(cell: string, width: number, left: boolean): string {
  return left ? cell.padEnd(width) : cell.padStart(width);
}

function columns(result: Extract<RowResult, { runs: number }>): string[] {
  const { perSecond, p50Ms, p99Ms, cpuMsPerMessage, cores, memoryMiB } = result.median;
  return [
    result.name,
    `${whole(perSecond)} ${result.unit}`,
    `${whole(result.range[0])} - ${whole(result.range[1])}`,
    p50Ms === undefined || p99Ms === undefined ? '' : `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`,
    cpuMsPerMessage?.toFixed(2) ?? '',
    cores ? [cores.system, cores.load, cores.machine].map((value) => value.toFixed(1)).join(' / ') : '',
    memoryMiB === undefined ? '' : whole(memoryMiB),
    result.toBarePath?.toFixed(2) ?? '',
    result.toPeer?.toFixed(1) ?? '',
  ];
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
