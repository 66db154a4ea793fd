/** Writes rows as CSV (RFC 4180), for errors of imports and for exports. */

/** Cells that need quotes (RFC 4180 sections 2.5 to 2.7). Spaces at the ends are quoted because a reader might trim them. */
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/** Returns a line that ends with CRLF (RFC 4180 section 2.1). The caller guards cells that look like a formula (cells.ts). */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
