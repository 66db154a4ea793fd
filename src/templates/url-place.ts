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

/** Form of a text. `url` is a text that is one URL as a whole, white space included. */
export type Form = 'html' | 'text' | 'url';

type Range = { from: number; to: number };

/** Maximum number of characters before a placeholder that are read. A URL in mail is seldom longer than 2,000. */
const MAX_LOOK_BACK_CHARACTERS = 4_096;
/** Maximum number of characters before all placeholders of a text that are read, which takes 20 ms. */
const MAX_SEARCHED_CHARACTERS = 1024 * 1024;
/** Maximum number of characters behind a placeholder that are read: a closing quotation mark and parenthesis. */
const MAX_LOOK_AHEAD_CHARACTERS = 16;
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

/**
 * Returns the function that finds the place of each placeholder of a text; undefined when it stands elsewhere than in a URL, and for the last ones
 * of a text in which more than `MAX_SEARCHED_CHARACTERS` lie between placeholders and the tags around them.
 */
export function createPlaceFinder(source: string, form: Form): (range: Range) => UrlPlace | undefined {
  let left = MAX_SEARCHED_CHARACTERS;
  return ({ from, to }) => {
    const near = source.slice(Math.max(0, from - MAX_LOOK_BACK_CHARACTERS), from);
    const start = startOf(near, form);
    const searched = near.slice(start);
    if (start < 0 || (form === 'text' && !mayEndInUrl(searched))) return undefined;
    left -= searched.length;
    if (left < 0) return undefined;
    const before = withoutTags(searched);
    if (form === 'url') return { part: partOf(before), isCss: false };
    return form === 'text'
      ? placeInText(before)
      : placeInHtml(before, source.slice(to, to + MAX_LOOK_AHEAD_CHARACTERS));
  };
}

function startOf(near: string, form: Form): number {
  if (form === 'url') return 0;
  return form === 'html' ? startOfTag(near) : near.lastIndexOf('\n') + 1;
}

/** Matches a `<` that begins a tag or a comment (HTML standard, 13.2.5.6). */
const BEGINS_TAG = /^<[a-zA-Z/!?]/;
/** Maximum number of other `<` that an attribute before the URL may contain, as in `title="1 < 2"`. */
const MAX_PLAIN_ANGLES = 3;

/** Returns the position of the last `<` that may begin the tag around the end of a text; -1 when there is none. */
function startOfTag(text: string): number {
  let at = text.lastIndexOf('<');
  if (text.includes('>', at)) return at;
  for (let plain = 0; at > 0 && plain < MAX_PLAIN_ANGLES; plain++) {
    if (BEGINS_TAG.test(text.slice(at, at + 2))) break;
    at = text.lastIndexOf('<', at - 1);
  }
  return at;
}

/** Returns false for most lines that do not end in a URL: their last word has no scheme, no query and no value. */
function mayEndInUrl(line: string): boolean {
  const word = line.slice(line.lastIndexOf(' ') + 1);
  return ['://', 'mailto:', '?', '}}'].some((mark) => word.includes(mark));
}

/** Matches a tag of a template. */
const TAG = /\{\{\{?[^{}]*\}\}\}?/g;
/** Matches a tag of a condition. */
const CONDITION_TAG = /^\{\{\s*(?:[#/]|else\s*\})/;
/** Matches the first part of a condition, when the second one follows, with the tags around it. */
const FIRST_PART = /\{\{\s*#if\s[^{}]*\}\}(?:(?!\{\{\s*[#/])[\s\S])*?\{\{\s*else\s*\}\}/g;

/** Returns the text with NUL for each value in it, and without the tags of conditions and the first of their two parts. */
function withoutTags(text: string): string {
  if (!text.includes('{{')) return text;
  const chosen = text.includes('#if') ? text.replace(FIRST_PART, '') : text;
  return chosen.replace(TAG, (tag) => (CONDITION_TAG.test(tag) ? '' : '\0'));
}

/** Matches a text that begins with a web address, or with a value and a query behind it. */
const URL_IN_TEXT = /(?:https?:\/\/|mailto:).*$|^\0.*\?.*$/is;
const ENDS_URL_IN_TEXT = /[\s<>"]/;

function placeInText(before: string): UrlPlace | undefined {
  const word = before.slice(endOfLast(before, ENDS_URL_IN_TEXT));
  const [url] = URL_IN_TEXT.exec(word) ?? [];
  return url === undefined ? undefined : { part: partOf(url), isCss: false };
}

/** Returns the position behind the last character that matches; 0 when none does. */
function endOfLast(text: string, character: RegExp): number {
  for (let at = text.length; at > 0; at--) if (character.test(text.charAt(at - 1))) return at;
  return 0;
}

/** `before` begins with the `<` of a tag, and `after` is the beginning of what follows the placeholder. */
function placeInHtml(before: string, after: string): UrlPlace | undefined {
  const tag = readOpenTag(before);
  if (!tag) return undefined;
  const value = before.slice(tag.from);
  if (tag.attribute === 'style' || (tag.attribute === undefined && tag.name === 'style'))
    return placeInCss(value, after);
  const isSet = tag.attribute === 'srcset' || tag.attribute === 'imagesrcset';
  if (!isSet && !URL_ATTRIBUTES.has(tag.attribute ?? '')) return undefined;
  const url = isSet ? value.slice(endOfLast(value, /\s/)) : value.trimStart();
  const next = after.charAt(0);
  const isEnd = tag.quote === '' ? /^[\s>]?$/.test(next) : next === tag.quote;
  const isWhole = isEnd || (isSet && /^[\s,]?$/.test(next));
  return { part: url === '' && isWhole ? 'whole' : partOf(url), isCss: false };
}

/** Matches what stands in `url(…)` before a value, up to its end if it has one. */
const CSS_URL = /^url\(\s*(?:["']|&quot;|&#39;)?([^)"']*)$/i;
const ENDS_CSS_URL = /^\s*(?:["']|&quot;|&#39;)?\s*\)/;

/** Returns the place in the last `url(` of a style that is still open. */
function placeInCss(before: string, after: string): UrlPlace | undefined {
  const start = before.toLowerCase().lastIndexOf('url(');
  const [, url] = (start < 0 ? null : CSS_URL.exec(before.slice(start))) ?? [];
  if (url === undefined) return undefined;
  return { part: url === '' && ENDS_CSS_URL.test(after) ? 'whole' : partOf(url), isCss: true };
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

type OpenTag = {
  name: string;
  /** Attribute in whose value the text ends, in lower case; undefined when it ends behind the tag. */
  attribute?: string;
  /** Quotation mark around the value; empty when there is none. */
  quote: string;
  /** Start of the value, or the position behind the tag. */
  from: number;
};

const TAG_NAME = /[a-zA-Z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>="'][^\s/>=]*)?(?:\s*=\s*(["']?))?/y;

/** Reads the tag with which a text begins. Returns undefined when the text ends elsewhere than in the value of an attribute or behind the tag. */
function readOpenTag(text: string): OpenTag | undefined {
  const [name] = match(TAG_NAME, text, 1);
  if (name === undefined) return undefined;
  let at = 1 + name.length;
  while (at < text.length) {
    if (text[at] === '>') return { name: name.toLowerCase(), quote: '', from: at + 1 };
    const [whole = '', attribute = '', quote] = match(ATTRIBUTE, text, at);
    at += Math.max(1, whole.length);
    if (quote === undefined) continue;
    const end = endOfValue(text, at, quote);
    if (end < 0) return { name, attribute: attribute.toLowerCase(), quote, from: at };
    at = end + quote.length;
  }
  return undefined;
}

/** Returns the end of a value; -1 when the text ends in it. */
function endOfValue(text: string, from: number, quote: string): number {
  if (quote !== '') return text.indexOf(quote, from);
  const end = text.slice(from).search(/[\s>]/);
  return end < 0 ? -1 : from + end;
}

function match(pattern: RegExp, text: string, at: number): readonly (string | undefined)[] {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? [];
}
