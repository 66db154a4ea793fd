/**
 * Converts HTML to plain text in one pass over its characters: tags become spaces and line breaks, links keep their
 * address. It serves documents that are too large or too hostile to be laid out (html-text.ts). It is not a parser,
 * but its result is readable.
 */

import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { nextSlice } from '../../system/slices.ts';
import { SPACE, TAB } from '../octets.ts';

/** Matches elements whose content is not shown. */
const HIDDEN = /^(?:script|style|title|template|iframe)$/;
const LINE = /^(?:address|article|aside|body|center|dd|div|dt|footer|form|header|main|nav|section|tr)$/;
const PARAGRAPH = /^(?:blockquote|dl|figure|h[1-6]|ol|p|pre|table|ul)$/;
const RULE = '-'.repeat(40);
const SHOWN_LINK = /^(?:https?:|mailto:|tel:)/i;

/**
 * State of the output. Line breaks and spaces are pending until the next word, so that a text neither starts nor ends
 * with them.
 */
type Output = {
  /** Text that was written in the current turn of the event loop. */
  parts: string[];
  isEmpty: boolean;
  breaks: number;
  space: boolean;
  /** Writes marks of lists, rules and the addresses of links, which a reader of the HTML does not see as text. */
  isDecorated: boolean;
  /** The open link and the text inside it. */
  link: { address: string; text: string } | undefined;
};

/**
 * Amount of work after which the event loop runs other tasks, one or two milliseconds. A step costs its characters
 * plus a constant.
 */
const MAX_COST_PER_TURN = 50_000;
const STEP_COST = 50;

/**
 * Returns the text of a document. It takes linear time, and yields to the event loop in between. The text has no marks of lists, rules
 * and addresses of links when it is not decorated.
 */
export async function stripHtml(html: string, { isDecorated = true } = {}): Promise<string> {
  const output = newOutput({ isDecorated });
  const written: string[] = [];
  let cost = 0;
  for (const characters of readSteps(output, html)) {
    cost += characters + STEP_COST;
    if (cost < MAX_COST_PER_TURN) continue;
    cost = 0;
    written.push(output.parts.join(''));
    output.parts = [];
    await nextSlice();
  }
  return written.concat(output.parts).join('').toWellFormed();
}

/** Returns the text of a document without decoration at once, for threads that nothing else waits for. */
export function stripHtmlAtOnce(html: string): string {
  const output = newOutput({ isDecorated: false });
  for (const _ of readSteps(output, html));
  return output.parts.join('').toWellFormed();
}

function newOutput({ isDecorated }: { isDecorated: boolean }): Output {
  return { parts: [], isEmpty: true, breaks: 0, space: false, isDecorated, link: undefined };
}

/** Matches the start of a tag, comment or declaration. Any other `<` is an ordinary character. */
const MARKUP = /<[a-z/!?]/gi;
const MAX_TEXT_CHARACTERS = 16_384;
/** Length of the longest character reference, `&CounterClockwiseContourIntegral;` (HTML standard, 13.5). */
const MAX_REFERENCE_CHARACTERS = 33;

/** Reads the document in steps and yields the number of characters of each. */
function* readSteps(output: Output, html: string): Generator<number> {
  for (let at = 0; at < html.length; ) {
    MARKUP.lastIndex = at;
    const open = MARKUP.exec(html)?.index ?? html.length;
    while (at < open) {
      const end = open - at > MAX_TEXT_CHARACTERS ? cutBefore(html, at + MAX_TEXT_CHARACTERS) : open;
      addText(output, html.slice(at, end));
      yield end - at;
      at = end;
    }
    if (open === html.length) return;
    at = readMarkup(output, html, open);
    yield at - open;
  }
}

/** Returns the position at which to cut the text. It never cuts a character reference. */
function cutBefore(html: string, most: number): number {
  const reference = html.slice(most - MAX_REFERENCE_CHARACTERS, most).lastIndexOf('&');
  return reference < 0 ? most : most - MAX_REFERENCE_CHARACTERS + reference;
}

const TAG = /<(\/?)([a-z][^\s/>]*)/iy;

function readMarkup(output: Output, html: string, open: number): number {
  if (html.startsWith('<!--', open)) return after(html, '-->', open + 2);
  TAG.lastIndex = open;
  const match = TAG.exec(html);
  if (!match) return after(html, '>', open);
  const [whole, slash, rawName = ''] = match;
  const name = rawName.toLowerCase();
  const end = endOfTag(html, open + whole.length);
  if (slash !== '') closeElement(output, name);
  else if (HIDDEN.test(name)) return endOfHidden(html, name, end);
  else openElement(output, name, html.slice(open + whole.length, end));
  return end;
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from);
  return at < 0 ? html.length : at + mark.length;
}

/** Maximum number of quotes in one tag. No real tag has as many. */
const MAX_QUOTES = 1_000;

/**
 * Returns the position after the `>` that ends the tag, outside quoted values. A quote that is never closed is
 * ignored; at most one search for each kind of quote fails, so the function takes linear time.
 */
function endOfTag(html: string, from: number): number {
  const mark = /[>"']/g;
  mark.lastIndex = from;
  for (let quotes = 0; quotes < MAX_QUOTES; quotes++) {
    const match = mark.exec(html);
    if (!match) return html.length;
    if (match[0] === '>') return mark.lastIndex;
    const close = followsEquals(html, match.index) ? html.indexOf(match[0], mark.lastIndex) : -1;
    if (close >= 0) mark.lastIndex = close + 1;
  }
  return after(html, '>', mark.lastIndex);
}

function followsEquals(html: string, at: number): boolean {
  let before = at - 1;
  while (html[before] === ' ') before--;
  return html[before] === '=';
}

function endOfHidden(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}[^>]*>?`, 'gi');
  close.lastIndex = from;
  return close.test(html) ? close.lastIndex : html.length;
}

function openElement(output: Output, name: string, attributes: string): void {
  if (name === 'br') output.breaks = Math.min(output.breaks + 1, 2);
  else if (name === 'img') addText(output, attributeOf(attributes, ALT));
  else if (name === 'td' || name === 'th') output.space = true;
  else if (name === 'a') output.link = { address: attributeOf(attributes, HREF), text: '' };
  else if (name === 'li') {
    owe(output, 1);
    if (output.isDecorated) addText(output, '* ');
  } else if (name === 'hr') {
    owe(output, 2);
    if (output.isDecorated) addText(output, RULE);
    owe(output, 2);
  } else oweFor(output, name);
}

function closeElement(output: Output, name: string): void {
  if (name === 'a') closeLink(output);
  else oweFor(output, name);
}

function closeLink(output: Output): void {
  const { link } = output;
  output.link = undefined;
  if (!output.isDecorated || !link || !SHOWN_LINK.test(link.address)) return;
  const address = link.address.replace(/^mailto:/i, '');
  const text = link.text.trim();
  if (text !== address) addText(output, text === '' ? address : ` [${address}]`);
}

function oweFor(output: Output, name: string): void {
  if (PARAGRAPH.test(name)) owe(output, 2);
  else if (LINE.test(name) || name === 'li') owe(output, 1);
}

function owe(output: Output, breaks: number): void {
  output.breaks = Math.max(output.breaks, breaks);
}

const ALT = /(?:^|\s)alt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;
const HREF = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

function attributeOf(attributes: string, pattern: RegExp): string {
  const [, double, single, bare] = pattern.exec(attributes) ?? [];
  return decodeHTMLAttribute(double ?? single ?? bare ?? '').trim();
}

/** Matches white space as HTML defines it (HTML standard, 1.2.3). A run of it is shown as one space. */
const SPACES = /[ \t\r\n\f]+/g;

function addText(output: Output, source: string): void {
  const text = cleanText(decodeHTML(source)).replace(SPACES, ' ');
  const words = trimPadding(text.trimStart());
  if (words === '') {
    output.space ||= text !== '';
    return;
  }
  if (!output.isEmpty && output.breaks > 0) write(output, '\n'.repeat(output.breaks));
  else if (!output.isEmpty && (output.space || text.startsWith(' '))) write(output, ' ');
  write(output, words);
  output.isEmpty = false;
  output.breaks = 0;
  output.space = text.endsWith(' ');
}

function write({ parts, link }: Output, piece: string): void {
  parts.push(piece);
  // The text of the link is only compared with its address, so a longer text is not stored.
  if (link && link.text.length <= link.address.length) link.text += piece;
}

/** Matches control characters that a line of text may not contain: C0 except line feed and tab, DEL and C1. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;
/** Matches soft hyphens, zero-width spaces and grapheme joiners. Newsletters pad their first line with them. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

function cleanText(text: string): string {
  return text.replace(CONTROLS, '').replace(INVISIBLE, '').replaceAll('\u00a0', ' ');
}

const NON_JOINER = 0x200c;

/**
 * Removes white space and zero-width non-joiners at the end of a line. Inside a word a non-joiner is significant and
 * stays.
 */
function trimPadding(line: string): string {
  let end = line.length;
  while (end > 0 && [SPACE, TAB, NON_JOINER].includes(line.charCodeAt(end - 1))) end--;
  return line.slice(0, end);
}

/**
 * Cleans a text that was laid out: it has no padding, no trailing spaces, at most one empty line in a row, and
 * well-formed Unicode.
 */
export function tidyText(text: string): string {
  return cleanText(text)
    .split('\n')
    .map(trimPadding)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .toWellFormed();
}
