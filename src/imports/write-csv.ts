/** Rows as text (RFC 4180), for errors of imports and for exports. */

/** RFC 4180 2.5 to 2.7, and spaces that a reader might trim. */
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/** Ends with CRLF (RFC 4180 2.1). What looks like a formula is the caller's to guard (cells.ts). */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
