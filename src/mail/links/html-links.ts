/**
 * Finds the web links of an HTML document. It reads the document with a tokenizer for HTML, so that a link in a comment, a script
 * or a text is no link. Positions count UTF-16 units of the document, so that a caller can replace a link and nothing else.
 */
import { decodeHTMLAttribute } from 'entities/decode';
import { QuoteType, Tokenizer } from 'htmlparser2';

/** The value of an `href`, without its quotation marks. */
export type HtmlLink = {
  /** Start of the value, and the position after its end. */
  from: number;
  to: number;
  isQuoted: boolean;
  /** True for a link of an element with `clicktracking="off"`. */
  isExcluded: boolean;
};

export type HtmlLinks = {
  /** Links of `a` and `area` elements to absolute http(s) addresses, in the order of the document. */
  links: HtmlLink[];
  /** Start of the last `</body>`; null when there is none. */
  bodyEnd: number | null;
};

/** Maximum length of a link, about what browsers and servers agree on. Longer ones are not found. */
export const MAX_LINK_CHARACTERS = 4_096;
/** Maximum number of links that are found in a document. */
const MAX_LINKS = 1_000;

/** Matches an absolute address. Browsers ignore control characters and spaces before it, and read `\` as `/`. */
const ABSOLUTE = /^[\0-\x20]*https?:[/\\]{2}/i;
/** Matches the line breaks and tabs that browsers remove from an address (URL standard, basic URL parser). */
const REMOVED = /[\t\n\r]/g;

/** The open tag that is being read. */
type Tag = { isLink: boolean; href: Omit<HtmlLink, 'isExcluded'> | undefined; isExcluded: boolean };

/** An attribute that is being read. */
type Attribute = { name: string; from: number; to: number };

/** Returns the links of a document. The first `href` of an element counts (HTML standard, 13.2.5.33). */
export function findHtmlLinks(html: string): HtmlLinks {
  const links: HtmlLink[] = [];
  let bodyEnd: number | null = null;
  let tag: Tag = { isLink: false, href: undefined, isExcluded: false };
  let attribute: Attribute = { name: '', from: 0, to: 0 };
  const nameAt = (from: number, to: number) => html.slice(from, to).toLowerCase();
  const endTag = () => {
    const { href, isExcluded } = tag;
    if (href && links.length < MAX_LINKS && isAbsolute(html, href)) links.push({ ...href, isExcluded });
    tag = { isLink: false, href: undefined, isExcluded: false };
  };
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(from, to) {
        const isLink = to - from <= 'area'.length && ['a', 'area'].includes(nameAt(from, to));
        tag = { isLink, href: undefined, isExcluded: false };
      },
      onattribname(from, to) {
        attribute = { name: tag.isLink ? nameAt(from, to) : '', from: to, to };
      },
      onattribdata(from, to) {
        attribute.from = from;
        attribute.to = to;
      },
      onattribend(quote) {
        const { name, from, to } = attribute;
        const isQuoted = quote === QuoteType.Single || quote === QuoteType.Double;
        if (name === 'href') tag.href ??= { from, to, isQuoted };
        if (name === 'clicktracking' && nameAt(from, to) === 'off') tag.isExcluded = true;
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag(from, to) {
        if (to - from === 'body'.length && nameAt(from, to) === 'body') bodyEnd = html.lastIndexOf('<', from);
      },
      oncdata: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onattribentity: ignore,
      ontext: ignore,
      ontextentity: ignore,
      onend: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return { links, bodyEnd };
}

function isAbsolute(html: string, { from, to }: Pick<HtmlLink, 'from' | 'to'>): boolean {
  if (to - from > MAX_LINK_CHARACTERS) return false;
  return ABSOLUTE.test(decodeHTMLAttribute(html.slice(from, to)).replace(REMOVED, ''));
}
