/** Writes a value into a URL, so that it stays one value there and cannot choose what a link does. */
import type { Placeholder } from './tags.ts';

/** Schemes by which a value would run a program or show a page of its own. */
const DANGEROUS_SCHEME =
  /^(?:javascript|vbscript|livescript|mocha|data|file|filesystem|blob|about|view-source):/i;
/** Browsers ignore these characters before and in a scheme (URL standard, basic URL parser). */
const IGNORED = /[\0-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029\ufeff]/g;
/** Matches one value that is percent-encoded already (RFC 3986 section 2.1). The delimiters of a query are not in it. */
const ENCODED = /^(?:[A-Za-z0-9\-._~!*'(),;:@/+]|%[0-9A-Fa-f]{2})*$/;

/**
 * Returns the form of a value at the place of its placeholder, before it is escaped for HTML. In mail to many readers (`isMarketing`), whose values
 * come from contacts, each value is encoded, and none can begin a link with a scheme that runs a program. In other mail the sender may have
 * encoded the value already. `isOwn` is true for a fallback, which the author has written for this place.
 */
export function urlValue(
  value: string,
  { encoding, place, isRaw }: Pick<Placeholder, 'encoding' | 'place' | 'isRaw'>,
  { isMarketing, isOwn }: { isMarketing: boolean; isOwn: boolean },
): string {
  if (encoding === 'url') return encodeComponent(value);
  if (!place) return value;
  // Three braces say that the value is ready for its place.
  const isReady = encoding === 'raw' || isRaw || (!(isMarketing && !isOwn) && isEncoded(value));
  const guarded = isMarketing && !isOwn;
  switch (place.part) {
    case 'whole':
    case 'start':
      if (guarded && DANGEROUS_SCHEME.test(value.replace(IGNORED, ''))) return encodeComponent(value);
      return place.isCss ? encodeForCss(value) : value;
    case 'scheme':
      return guarded ? value.replaceAll(':', '%3A') : value;
    case 'host':
      return value;
    case 'opaque':
      return isReady ? value : encodeComponent(value).replaceAll('%40', '@').replaceAll('%2B', '+');
    case 'component':
      return isReady ? value : encodeComponent(value);
  }
}

function isEncoded(value: string): boolean {
  return value.includes('%') && ENCODED.test(value);
}

/** Returns the percent-encoded form in which only unreserved characters stay (RFC 3986 section 2.3). */
function encodeComponent(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, percent);
}

/** Encodes what could end `url(…)`. */
function encodeForCss(value: string): string {
  return value.replace(/[\s'"()\\<>]/g, percent);
}

function percent(character: string): string {
  return encodeURIComponent(character) === character
    ? `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    : encodeURIComponent(character);
}
