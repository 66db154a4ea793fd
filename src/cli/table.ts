/** Formats tables as plain text. Columns are as wide as their widest cell. */

const GAP = '  ';

/** Returns one line for the headings and one for each row. */
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

/** Returns the table, or the text `none` when there are no rows. */
export function formatList(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string {
  return rows.length === 0 ? none : formatTable(headings, rows);
}

/** Characters that would move the cursor, change the terminal, or reorder the text (Unicode Standard Annex 9). */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Returns text of a stranger so that it stays in its cell and cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '\ufffd');
}

/** Returns a number with its noun, such as `1 file` and `2 files`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
