/**
 * Finds out whether a placeholder stands in a URL, and in which part of it. Only the text before the placeholder is read: up to the tag whose
 * attribute contains it in HTML, and up to the last white space in text.
 */

/**
 * Part of a URL in which a value stands. `whole`: the value is the whole URL. `start`: it begins the URL. `scheme`: it follows another value, and
 * may still be part of the scheme. `host`: the name of the host. `opaque`: behind `mailto:` and the like. `component`: a path, a query or a
 * fragment, in which a value is percent-encoded.
 */
type UrlPart = 'whole' | 'start' | 'scheme' | 'host' | 'opaque' | 'component';

/** `isCss` is true in `url(…)`, where a value must not end the parenthesis. */
export type UrlPlace = { part: UrlPart; isCss: boolean };

type Range = { from: number; to: number };

/** Maximum number of characters before a placeholder that are read. Our own limit: a URL in mail is seldom longer than 2,000. */
const MAX_LOOK_BACK_CHARACTERS = 4_096;
/** Attributes whose value is one URL (HTML standard, 3.2.6, and the older `background`). */
const URL_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...[
    'href',
    'src',
    'action',
    'formaction',
    'background',
    'poster',
    'cite',
    'data',
    'longdesc',
    'xlink:href',
  ],
]);

/** Returns the place of a placeholder in a URL; undefined when it stands elsewhere. */
export function findUrlPlace(source: string, range: Range, form: 'html' | 'text'): UrlPlace | undefined {
  const start = Math.max(0, range.from - MAX_LOOK_BACK_CHARACTERS);
  return form === 'html' ? placeInHtml(source, range, start) : placeInText(source, range, start);
}

/** Matches a text that begins with a web address, or with a value and a query behind it. */
const URL_IN_TEXT = /(?:https?:\/\/|mailto:)\S*$|(?:^|\s)\0\S*\?\S*$/i;

function placeInText(source: string, { from }: Range, start: number): UrlPlace | undefined {
  const before = withoutTags(source.slice(start, from));
  const [url] = URL_IN_TEXT.exec(before.slice(before.search(/[^\s<>"]*$/))) ?? [];
  return url === undefined ? undefined : { part: partOf(url), isCss: false };
}

function placeInHtml(source: string, { from, to }: Range, start: number): UrlPlace | undefined {
  const open = source.lastIndexOf('<', from - 1);
  if (open < start) return undefined;
  const tag = readOpenTag(source, open, from);
  if (!tag) return undefined;
  if (tag.attribute === undefined)
    return tag.name === 'style' ? placeInCss(source, { from, to }, tag.from) : undefined;
  if (tag.attribute === 'style') return placeInCss(source, { from, to }, tag.from);
  const isSet = tag.attribute === 'srcset' || tag.attribute === 'imagesrcset';
  if (!isSet && !URL_ATTRIBUTES.has(tag.attribute)) return undefined;
  const value = withoutTags(source.slice(tag.from, from));
  const url = isSet ? value.slice(value.search(/[^\s]*$/)) : value.trimStart();
  const next = source.slice(to, to + 1);
  const isEnd = tag.quote === '' ? /^[\s>]?$/.test(next) : next === tag.quote;
  const isWhole = isEnd || (isSet && /^[\s,]?$/.test(next));
  return { part: url === '' && isWhole ? 'whole' : partOf(url), isCss: false };
}

/** Returns the place in the last `url(` of a style that is still open. */
function placeInCss(source: string, { from, to }: Range, start: number): UrlPlace | undefined {
  const before = withoutTags(source.slice(start, from));
  const [, url] = /url\(\s*(?:["']|&quot;|&#39;)?([^)"']*)$/i.exec(before) ?? [];
  if (url === undefined) return undefined;
  const isWhole = url === '' && /^\s*(?:["']|&quot;|&#39;)?\s*\)/.test(source.slice(to, to + 16));
  return { part: isWhole ? 'whole' : partOf(url), isCss: true };
}

/** `url` is the text of a URL before a value; other values in it are NUL. */
function partOf(url: string): UrlPart {
  if (url === '') return 'start';
  if (/[?#]/.test(url)) return 'component';
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:/i.exec(url) ?? [];
  const rest = url.slice(scheme.length);
  if (/^[/\\]{2}/.test(rest)) return /[/\\]/.test(rest.slice(2)) ? 'component' : 'host';
  if (scheme !== '') return 'opaque';
  return /^\0[^/\\&=]*$/.test(url) ? 'scheme' : 'component';
}

/** Matches the first part of a condition, when the second one follows, with the tags around it. */
const FIRST_PART = /\{\{\s*#if\s[^{}]*\}\}(?:(?!\{\{\s*[#/])[\s\S])*?\{\{\s*else\s*\}\}/g;

/** Returns the text with NUL for each value in it, and without the tags of conditions and the first of their two parts. */
function withoutTags(text: string): string {
  if (!text.includes('{{')) return text;
  const chosen = text.includes('#if') ? text.replace(FIRST_PART, '') : text;
  return chosen.replace(/\{\{\{?[^{}]*\}\}\}?/g, (tag) =>
    /^\{\{\s*(?:[#/]|else\s*\})/.test(tag) ? '' : '\0',
  );
}

type OpenTag = {
  name: string;
  /** Attribute in whose value `end` lies, in lower case; undefined behind the tag. */
  attribute?: string;
  /** Quotation mark around the value; empty when there is none. */
  quote: string;
  /** Start of the value, or the position behind the tag. */
  from: number;
};

const TAG_NAME = /[a-zA-Z][^\s/>]*/y;
const ATTRIBUTE_NAME = /[\s/]*([^\s/>="']*)\s*/y;

/** Reads a tag from its `<` up to `end`. Returns undefined when `end` lies elsewhere than in a value or behind the tag. */
function readOpenTag(source: string, open: number, end: number): OpenTag | undefined {
  const name = match(TAG_NAME, source, open + 1)?.[0];
  if (name === undefined) return undefined;
  let at = open + 1 + name.length;
  while (at < end) {
    if (source[at] === '>') return { name: name.toLowerCase(), quote: '', from: at + 1 };
    const tagEnd = source.startsWith('{{', at) ? source.indexOf('}}', at) : -1;
    if (tagEnd >= 0) {
      at = tagEnd + 2;
      continue;
    }
    const found = match(ATTRIBUTE_NAME, source, at);
    const attribute = (found?.[1] ?? '').toLowerCase();
    at += found?.[0].length ?? 0;
    if (source[at] !== '=') {
      if (found === undefined || found[0] === '') at++;
      continue;
    }
    const from = skipSpace(source, at + 1);
    const quote = source[from] === '"' || source[from] === "'" ? (source[from] ?? '') : '';
    const valueFrom = from + quote.length;
    const valueEnd = endOfValue(source, valueFrom, quote);
    if (valueEnd >= end) return valueFrom <= end ? { name, attribute, quote, from: valueFrom } : undefined;
    at = valueEnd + quote.length;
  }
  return undefined;
}

/** Returns the end of a value. Tags of the template in it may contain quotation marks. */
function endOfValue(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at++) {
    const character = source.charAt(at);
    if (quote === '' ? /[\s>]/.test(character) : character === quote) return at;
    if (character === '{' && source.startsWith('{{', at)) {
      const end = source.indexOf('}}', at);
      if (end > 0 && end - at < MAX_LOOK_BACK_CHARACTERS) at = end + 1;
    }
  }
  return source.length;
}

function skipSpace(source: string, from: number): number {
  let at = from;
  while (/\s/.test(source.charAt(at))) at++;
  return at;
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}
