/** Reads the HTML of an email once, from its beginning to its end, and checks its elements, its images, its links and its CSS. */
import { Parser } from 'htmlparser2';
import { checkCss } from './check-css.ts';
import { checkImage, checkLink } from './check-link.ts';
import { ELEMENTS, SCRIPT_FEATURE, STYLE_IN_BODY, STYLESHEET_LINK } from './client-support.ts';
import { type Findings, MAX_PLACE_CHARACTERS } from './findings.ts';
import { LineCounter } from './lines.ts';

/** A link as a reader sees it. */
type Link = { url: string; text: string; line: number };
export type Links = { listed: Link[]; omitted: number };

/** Maximum number of links that are listed, and length of an address that is shown. */
const MAX_LISTED_LINKS = 100;
const MAX_SHOWN_URL_CHARACTERS = 2_048;
/** Number of letters below which an email with images counts as one of images alone: a sentence or two. */
const MIN_TEXT_CHARACTERS = 100;
/** Elements whose text is not shown. */
const UNSHOWN: ReadonlySet<string> = new Set(['style', 'script', 'title', 'head', 'template']);

/** Checks an HTML document and returns its links. `ownUrl` is a link of ours, which is listed and not checked. */
export function checkHtml(findings: Findings, html: string, ownUrl: string | null): Links {
  const reader = new HtmlReader(findings, html, ownUrl);
  const parser: Parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes, parser.startIndex),
      ontext: (text) => reader.text(text),
      onclosetag: (name) => reader.close(name),
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return reader.end();
}

type Attributes = Readonly<Record<string, string>>;
type OpenLink = { href: string; text: string; line: number };

class HtmlReader {
  readonly #findings: Findings;
  readonly #html: string;
  readonly #ownUrl: string | null;
  readonly #links: Links = { listed: [], omitted: 0 };
  readonly #lines: LineCounter;
  #unshown = 0;
  #textCharacters = 0;
  #images = 0;
  #isInBody = false;
  #style: { css: string; line: number } | undefined;
  #link: OpenLink | undefined;

  constructor(findings: Findings, html: string, ownUrl: string | null) {
    this.#findings = findings;
    this.#html = html;
    this.#ownUrl = ownUrl;
    this.#lines = new LineCounter(html);
  }

  open(name: string, attributes: Attributes, position: number): void {
    const line = this.#lines.lineOf(position);
    const place = {
      line,
      text: this.#tagAt(position),
    };
    const feature = ELEMENTS.get(name);
    if (feature) this.#findings.add('unsupported_element', place, feature);
    if (UNSHOWN.has(name)) this.#unshown++;
    const style = attributes['style'];
    if (style !== undefined) checkCss(this.#findings, style, line);
    if (Object.keys(attributes).some((attribute) => /^on[a-z]+$/.test(attribute)))
      this.#findings.add('unsupported_element', place, SCRIPT_FEATURE);
    switch (name) {
      case 'html':
        if (!attributes['lang']?.trim()) this.#findings.add('language_missing', place);
        break;
      case 'body':
        this.#isInBody = true;
        // The end of the head may be left out.
        this.#unshown = 0;
        break;
      case 'style':
        if (this.#isInBody) this.#findings.add('unsupported_element', place, STYLE_IN_BODY);
        this.#style = { css: '', line };
        break;
      case 'link':
        if (/\bstylesheet\b/i.test(attributes['rel'] ?? ''))
          this.#findings.add('unsupported_element', place, STYLESHEET_LINK);
        break;
      case 'img':
        this.#images++;
        if (attributes['alt'] === undefined) this.#findings.add('image_without_alt', place);
        else if (this.#link) this.#link.text += ` ${attributes['alt']}`;
        checkImage(this.#findings, attributes['src'], place);
        break;
      case 'a':
      case 'area':
        this.#openLink(name, attributes, line);
        break;
    }
  }

  text(text: string): void {
    if (this.#style) this.#style.css += text;
    if (this.#unshown > 0) return;
    this.#textCharacters += text.replace(/\s+/g, '').length;
    if (this.#link && this.#link.text.length < MAX_SHOWN_URL_CHARACTERS) this.#link.text += text;
  }

  close(name: string): void {
    if (UNSHOWN.has(name) && this.#unshown > 0) this.#unshown--;
    if (name === 'style' && this.#style) {
      checkCss(this.#findings, this.#style.css, this.#style.line);
      this.#style = undefined;
    }
    if (name === 'a') this.#endLink();
  }

  end(): Links {
    this.#endLink();
    if (this.#images > 0 && this.#textCharacters < MIN_TEXT_CHARACTERS) this.#findings.add('image_only');
    return this.#links;
  }

  /** Returns the beginning of the tag at a position. */
  #tagAt(position: number): string {
    const tag = this.#html.slice(position, position + MAX_PLACE_CHARACTERS);
    const end = tag.indexOf('>');
    return end < 0 ? tag : tag.slice(0, end + 1);
  }

  /** An anchor without an address is a target of links. */
  #openLink(name: string, { href, alt, name: anchor, id }: Attributes, line: number): void {
    this.#endLink();
    if (href === undefined && (anchor !== undefined || id !== undefined)) return;
    this.#link = { href: href ?? '', text: alt ?? '', line };
    if (name === 'area') this.#endLink();
  }

  #endLink(): void {
    if (!this.#link) return;
    const { href, text: written, line } = this.#link;
    this.#link = undefined;
    const text = written.replace(/\s+/g, ' ').trim();
    if (href !== this.#ownUrl)
      checkLink(this.#findings, { href, text }, { line, text: href === '' ? text : href });
    const { listed } = this.#links;
    if (listed.length < MAX_LISTED_LINKS)
      listed.push({
        url: href.slice(0, MAX_SHOWN_URL_CHARACTERS),
        text: text.slice(0, MAX_PLACE_CHARACTERS),
        line,
      });
    else this.#links.omitted++;
  }
}
