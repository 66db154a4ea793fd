/**
 * From measures to the table: medians, ranges, and the ratios between rows that do the same job. A ratio is the median
 * of the rounds' ratios, because two measures of one round are closer in time than two medians.
 * Where there are several peers, the better one of each round counts.
 */
import { median } from './percentile.ts';
import type { Measure, Role, Row } from './row.ts';

export type RowResult =
  | {
      name: string;
      unit: Row['unit'];
      comparison: Row['comparison'];
      aim: Row['aim'];
      /** The run in the middle, by figure: all its columns belong together. */
      median: Measure;
      range: [number, number];
      runs: number;
      details: readonly Detail[];
      toBarePath: number | undefined;
      toPeer: number | undefined;
    }
  | { name: string; missing: string };

/** Median and range of its own, not those of the run in the middle. */
type Detail = { name: string; median: number; range: [number, number] };

export type RowRuns = { row: Row; measures: Measure[]; failures: string[] };

type Entry = RowRuns | { name: string; missing: string };

export function summarise(entries: readonly Entry[]): RowResult[] {
  return entries.map((entry) => {
    if ('missing' in entry) return entry;
    const { row, measures, failures } = entry;
    const figures = measures.map((measure) => measure.figure);
    const middle = measures.find((measure) => measure.figure === median(figures));
    if (!middle || failures.length > 0) return { name: row.name, missing: `failed: ${failures.join('; ')}` };
    return {
      name: row.name,
      unit: row.unit,
      comparison: row.comparison,
      aim: row.aim,
      median: middle,
      range: [Math.min(...figures), Math.max(...figures)],
      runs: figures.length,
      details: summariseDetails(measures),
      toBarePath: ratioTo(entries, entry, 'bare path'),
      toPeer: ratioTo(entries, entry, 'peer'),
    };
  });
}

function summariseDetails(measures: readonly Measure[]): Detail[] {
  const names = Object.keys(measures[0]?.details ?? {});
  return names.map((name) => {
    const values = measures.flatMap((measure) => measure.details?.[name] ?? []);
    return { name, median: median(values), range: [Math.min(...values), Math.max(...values)] };
  });
}

function ratioTo(entries: readonly Entry[], { row, measures }: RowRuns, role: Role): number | undefined {
  if (!row.comparison || row.comparison.role === role) return undefined;
  const { job } = row.comparison;
  const others = entries.filter(
    (entry): entry is RowRuns =>
      'row' in entry && entry.row.comparison?.job === job && entry.row.comparison.role === role,
  );
  if (others.length === 0 || others.some(({ failures }) => failures.length > 0)) return undefined;
  const best = row.unit.endsWith('/s') ? Math.max : Math.min;
  const bestOf = (round: number) => best(...others.map((other) => other.measures[round]?.figure ?? 0));
  return median(measures.map(({ figure }, round) => figure / bestOf(round)));
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
    'loop p99 / max ms',
    'cores system/load/others',
    'MiB PSS / RSS',
    'x bare path',
    'x peer',
    'aim',
  ];
  const lines = results.flatMap((result) =>
    'missing' in result
      ? [[result.name, result.missing]]
      : [columns(result), ...result.details.map(detailColumns)],
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
  const { figure, p50Ms, p99Ms, cpuMsPerMessage, loop, cores, memory } = result.median;
  return [
    result.name,
    `${rounded(figure)} ${result.unit}`,
    `${rounded(result.range[0])} - ${rounded(result.range[1])}`,
    p50Ms === undefined || p99Ms === undefined ? '' : `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`,
    cpuMsPerMessage?.toFixed(2) ?? '',
    loop ? `${loop.p99Ms.toFixed(0)} / ${loop.maxMs.toFixed(0)}` : '',
    cores ? [cores.system, cores.load, cores.others].map((value) => value.toFixed(1)).join(' / ') : '',
    memory ? `${whole(memory.proportionalMiB)} / ${whole(memory.residentMiB)}` : '',
    result.toBarePath?.toFixed(2) ?? '',
    result.toPeer?.toFixed(2) ?? '',
    result.aim ?? '',
  ];
}

/** Of a line with nothing else. */
function detailColumns({ name, median, range }: Detail): string[] {
  const cells = [`  ${name}`, whole(median), `${whole(range[0])} - ${whole(range[1])}`];
  return [...cells, '', '', '', '', '', '', '', ''];
}

/** Small figures have one decimal. */
function rounded(value: number): string {
  return value < 20 ? value.toFixed(1) : whole(value);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
