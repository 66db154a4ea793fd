/**
 * HTML as plain text by one pass over its characters: tags become spaces and line breaks, links keep their address. For
 * what is too large, or too hostile, to be laid out (html-text.ts). Not a parser: good enough to read.
 */
import { nextTurn } from '../../system/next-turn.ts';
import { decodeEntities } from './html-text-entities.ts';

/** Elements whose content is not for readers. */
const HIDDEN = /^(?:script|style|title|template|iframe)$/;
const LINE = /^(?:address|article|aside|body|center|dd|div|dt|footer|form|header|main|nav|section|tr)$/;
const PARAGRAPH = /^(?:blockquote|dl|figure|h[1-6]|ol|p|pre|table|ul)$/;
const RULE = '-'.repeat(40);
const SHOWN_LINK = /^(?:https?:|mailto:|tel:)/i;

/** Line breaks and spaces are owed until the next word: at the start and at the end of a text there are none. */
type Output = {
  /** Written since the last turn. */
  parts: string[];
  isEmpty: boolean;
  breaks: number;
  space: boolean;
  /** The open link and the words in it. */
  link: { address: string; text: string } | undefined;
};

/** After so much work others have their turn: a millisecond or two. A step costs its characters and the same for all. */
const TURN_COST = 50_000;
const STEP_COST = 50;

/** Takes time in proportion to its length, a little at a time. */
export async function stripHtml(html: string): Promise<string> {
  const output: Output = { parts: [], isEmpty: true, breaks: 0, space: false, link: undefined };
  const written: string[] = [];
  let cost = 0;
  for (const characters of readSteps(output, html)) {
    cost += characters + STEP_COST;
    if (cost < TURN_COST) continue;
    cost = 0;
    written.push(output.parts.join(''));
    output.parts = [];
    await nextTurn();
  }
  return written.concat(output.parts).join('').toWellFormed();
}

/** A `<` before anything else is a character like others. */
const MARKUP = /<[a-z/!?]/gi;
const MAX_TEXT_CHARACTERS = 16_384;
const MAX_REFERENCE = 10;

/** Reads piece by piece; yields how many characters each had. */
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

/** Never within a character reference. */
function cutBefore(html: string, most: number): number {
  const reference = html.slice(most - MAX_REFERENCE, most).lastIndexOf('&');
  return reference < 0 ? most : most - MAX_REFERENCE + reference;
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

/** A tag with more is not one that anybody wrote. */
const MAX_QUOTES = 1_000;

/**
 * After the `>` that stands in no quoted value. A quote that is never closed is none; at most one search for each kind
 * of quote fails, so this too takes linear time.
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
    addText(output, '* ');
  } else if (name === 'hr') {
    owe(output, 2);
    addText(output, RULE);
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
  if (!link || !SHOWN_LINK.test(link.address)) return;
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
  return decodeEntities(double ?? single ?? bare ?? '').trim();
}

/** White space of HTML (its standard, 1.2.3), which says no more than one space. */
const SPACES = /[ \t\r\n\f]+/g;

function addText(output: Output, source: string): void {
  const text = cleanText(decodeEntities(source)).replace(SPACES, ' ');
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
  // Only to be compared with the address: no more of it is needed.
  if (link && link.text.length <= link.address.length) link.text += piece;
}

/** C0 but for line feed and tab, DEL and C1: nothing that a line of text may hold. */
const CONTROLS = /[^\P{Cc}\n\t]/gu;
/** Soft hyphens, zero-width spaces and joiners of graphemes: what newsletters pad their first line with. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

function cleanText(text: string): string {
  return text.replace(CONTROLS, '').replace(INVISIBLE, '').replaceAll('\u00a0', ' ');
}

const SPACE = 0x20;
const TAB = 0x09;
const NON_JOINER = 0x200c;

/** Non-joiners too: padding at the end of a line, but letters' business within a word. */
function trimPadding(line: string): string {
  let end = line.length;
  while (end > 0 && [SPACE, TAB, NON_JOINER].includes(line.charCodeAt(end - 1))) end--;
  return line.slice(0, end);
}

/** For what was laid out: no padding, no trailing spaces, one empty line at most, well-formed Unicode. */
export function tidyText(text: string): string {
  return cleanText(text)
    .split('\n')
    .map(trimPadding)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .toWellFormed();
}
