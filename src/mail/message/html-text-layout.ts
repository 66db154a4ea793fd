/**
 * Lays out HTML as text with lists, tables, quotations and links. Hostile input makes it slow, so only
 * html-text-thread.ts calls it.
 */
import { compile, type DomNode, type FormatCallback } from 'html-to-text';
import { tidyText } from './html-text-strip.ts';

/** Length at which lines are wrapped (RFC 5322 section 2.1.1). */
const LINE_CHARACTERS = 78;
const RULE_CHARACTERS = 40;
const MAX_COLUMN_CHARACTERS = 40;
/** Maximum number of columns or rows that a cell spans. A cell of a billion columns would exhaust memory. */
const MAX_SPAN = 50;
/**
 * Maximum length of the text. Layout can multiply text (nested quotations, Roman numerals), so a longer text comes
 * from a hostile document.
 */
const MAX_TEXT_CHARACTERS = 2 * 1024 * 1024;

const block = { leadingLineBreaks: 1, trailingLineBreaks: 1 };
const paragraph = { leadingLineBreaks: 2, trailingLineBreaks: 2 };

const convert = compile({
  wordwrap: LINE_CHARACTERS,
  formatters: { table: formatTable, cell: formatCell, alt: formatAlt },
  selectors: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
      selector,
      format: 'heading',
      options: { ...paragraph, uppercase: false },
    })),
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'img', format: 'alt' },
    { selector: 'hr', options: { ...paragraph, length: RULE_CHARACTERS } },
    { selector: 'ul', options: { ...paragraph, itemPrefix: '* ' } },
    { selector: 'table', format: 'table', options: block },
    { selector: 'tr', format: 'block', options: block },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    { selector: 'title', format: 'skip' },
    { selector: 'template', format: 'skip' },
  ],
});

/**
 * Returns the text of a document.
 * @throws Error when the text is longer than MAX_TEXT_CHARACTERS
 */
export function layOutHtml(html: string): string {
  const text = convert(html);
  if (text.length > MAX_TEXT_CHARACTERS) throw new Error('the text is far longer than the HTML');
  return tidyText(text);
}

type Format = Parameters<FormatCallback>;

const COLUMNS = { ...paragraph, maxColumnWidth: MAX_COLUMN_CHARACTERS, uppercaseHeaderCells: false };

/**
 * Formats a table. A table with header cells is data and keeps its columns; all others are page layout and become
 * lines.
 */
function formatTable(...[table, walk, builder, options]: Format): void {
  const cells = rowsOf(table).flatMap((row) => row.children);
  const isData = cells.some(({ name }) => name === 'th') && !isPresentation(table);
  for (const { attribs } of cells) limitSpans(attribs);
  const format = isData ? builder.options.formatters['dataTable'] : formatBlock;
  format?.(table, walk, builder, isData ? { ...options, ...COLUMNS } : options);
}

function formatBlock(...[element, walk, builder, options]: Format): void {
  const { leadingLineBreaks, trailingLineBreaks } = options;
  builder.openBlock({ leadingLineBreaks });
  walk(element.children, builder);
  builder.closeBlock({ trailingLineBreaks });
}

function rowsOf(table: DomNode): DomNode[] {
  const groups = ['thead', 'tbody', 'tfoot'];
  return table.children
    .flatMap((child) => (groups.includes(child.name ?? '') ? child.children : [child]))
    .filter(({ name }) => name === 'tr');
}

function isPresentation({ attribs }: DomNode): boolean {
  return ['presentation', 'none'].includes(attribs?.['role'] ?? '');
}

function limitSpans(attributes: Record<string, string> | undefined): void {
  for (const name of ['colspan', 'rowspan']) {
    const span = Number(attributes?.[name]);
    if (attributes && span > MAX_SPAN) attributes[name] = String(MAX_SPAN);
  }
}

/** Formats a cell. A space separates the words of adjacent cells. */
function formatCell(...[cell, walk, builder]: Format): void {
  builder.addInline(' ');
  walk(cell.children, builder);
}

/** Formats an image as its alternative text. Its address is of no use to a reader of text. */
function formatAlt(...[image, , builder]: Format): void {
  builder.addInline(image.attribs?.['alt'] ?? '');
}
