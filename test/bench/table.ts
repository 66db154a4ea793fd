/**
 * From measures to the table: medians, ranges, and the ratios between rows that do the same job. A ratio is the median
 * of the rounds' ratios, because two measures of one round are closer in time than two medians.
 */
import { median } from './percentile.ts';
import type { Measure, Role, Row } from './row.ts';

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

type Entry = RowRuns | { name: string; missing: string };

export function summarise(entries: readonly Entry[]): RowResult[] {
  return entries.map((entry) => {
    if ('missing' in entry) return entry;
    const { row, measures, failures } = entry;
    const figures = measures.map((measure) => measure.perSecond);
    const middle = measures.find((measure) => measure.perSecond === median(figures));
    if (!middle || failures.length > 0) return { name: row.name, missing: `failed: ${failures.join('; ')}` };
    return {
      name: row.name,
      unit: row.unit,
      comparison: row.comparison,
      median: middle,
      range: [Math.min(...figures), Math.max(...figures)],
      runs: figures.length,
      toBarePath: ratioTo(entries, entry, 'bare path'),
      toPeer: ratioTo(entries, entry, 'peer'),
    };
  });
}

function ratioTo(entries: readonly Entry[], { row, measures }: RowRuns, role: Role): number | undefined {
  if (!row.comparison || row.comparison.role === role) return undefined;
  const { job } = row.comparison;
  const other = entries.find(
    (entry): entry is RowRuns =>
      'row' in entry && entry.row.comparison?.job === job && entry.row.comparison.role === role,
  );
  if (!other || other.failures.length > 0) return undefined;
  return median(measures.map(({ perSecond }, round) => perSecond / (other.measures[round]?.perSecond ?? 0)));
}

/** How many measures were taken while other programs used more than `cores`, and how many there were. */
export function disturbed(entries: readonly Entry[], cores: number): { disturbed: number; all: number } {
  const all = entries
    .flatMap((entry) => ('row' in entry ? entry.measures : []))
    .filter((measure) => measure.cores);
  return { disturbed: all.filter((measure) => (measure.cores?.others ?? 0) > cores).length, all: all.length };
}

export function renderTable(results: readonly RowResult[]): string {
  const runs = Math.max(0, ...results.map((result) => ('runs' in result ? result.runs : 0)));
  const head = [
    'row',
    'median',
    `range (n=${runs})`,
    'p50 / p99 ms',
    'CPU ms/msg',
    'cores system/load/others',
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
    cores ? [cores.system, cores.load, cores.others].map((value) => value.toFixed(1)).join(' / ') : '',
    memoryMiB === undefined ? '' : whole(memoryMiB),
    result.toBarePath?.toFixed(2) ?? '',
    result.toPeer?.toFixed(2) ?? '',
  ];
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
