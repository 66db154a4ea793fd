/** Plain text for people: columns as wide as their widest cell, nothing else. */

const GAP = '  ';

/** One line for the headings and one for each row. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** The table, or a sentence when there is nothing to put in it. */
export function formatList(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  return rows.length === 0 ? none : formatTable(headings, rows);
}
