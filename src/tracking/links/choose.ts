/** Chooses the links of an HTML text that are tracked. All others stay as they are. */
import { decodeHTMLAttribute } from 'entities/decode';
import type { HtmlLink, HtmlLinks } from '../../mail/links/html-links.ts';
import { MAX_LINK_CHARACTERS } from '../../mail/links/html-links.ts';
import { type Placeholder, placeholdersIn } from '../../templates/tags.ts';

/** A link that is tracked. */
type ChosenLink = Pick<HtmlLink, 'from' | 'to'> & {
  /** The address with its placeholders, without character references. */
  target: string;
};

/** An HTML text whose links were found. */
type Searched = {
  html: string;
  /** Placeholders of the text; none when they were filled in before. */
  placeholders: readonly Placeholder[];
  /** Host names of the public pages, which are not tracked. */
  ownHosts: ReadonlySet<string>;
};

/** Maximum number of tracked links of an email: a newsletter has dozens. */
const MAX_TRACKED_LINKS = 500;

/**
 * Matches an address up to the end of its host. What follows cannot change where it leads, so that the value of a placeholder
 * there cannot send readers to another site.
 */
const COMPLETE_HOST = /^[\0-\x20]*https?:[/\\]{2}[^/\\?#]+[/\\?#]/i;
/** Matches a tag of a condition, which may show a part of an address alone. */
const CONDITION_TAG = /\{\{\s*(?:#|\/|else)/;
/** Matches the start of a character reference that the value of a placeholder might complete. */
const OPEN_REFERENCE = /&#?\w*$/;

/** Returns the placeholders of a text. Text that is sent as it is has none. */
export function placeholdersOf(html: string, isTemplate: boolean): Placeholder[] {
  return isTemplate ? placeholdersIn([undefined, html]) : [];
}

/** Returns the text with letters instead of placeholders, because values never contain markup but placeholders can. */
export function withoutPlaceholders(html: string, placeholders: readonly Placeholder[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const { from, to } of placeholders) {
    parts.push(html.slice(end, from), 'x'.repeat(to - from));
    end = to;
  }
  parts.push(html.slice(end));
  return parts.join('');
}

/** Returns the links that are tracked, in the order of the text. */
export function chooseLinks({ links }: Pick<HtmlLinks, 'links'>, searched: Searched): ChosenLink[] {
  const chosen: ChosenLink[] = [];
  let next = 0;
  for (const link of links) {
    while ((searched.placeholders[next]?.to ?? Number.POSITIVE_INFINITY) <= link.from) next++;
    const target = link.isExcluded ? undefined : targetOf(link, searched, next);
    if (target !== undefined && chosen.length < MAX_TRACKED_LINKS)
      chosen.push({ from: link.from, to: link.to, target });
  }
  return chosen;
}

/** Returns the address of a link, or undefined when it is not tracked. `next` is the first placeholder that may be in it. */
function targetOf(
  { from, to, isQuoted }: HtmlLink,
  { html, placeholders, ownHosts }: Searched,
  next: number,
): string | undefined {
  if (CONDITION_TAG.test(html.slice(from, to))) return undefined;
  let target = '';
  let end = from;
  for (let index = next; (placeholders[index]?.from ?? to) < to; index++) {
    const placeholder = placeholders[index];
    if (!placeholder) break;
    const before = html.slice(end, placeholder.from);
    target += decodeHTMLAttribute(before);
    const isSafe = isQuoted && COMPLETE_HOST.test(target) && !OPEN_REFERENCE.test(before);
    // A raw value is markup, and the link to unsubscribe is never tracked.
    if (!isSafe || placeholder.isRaw || placeholder.name === 'unsubscribe_url') return undefined;
    target += html.slice(placeholder.from, placeholder.to);
    end = placeholder.to;
  }
  target += decodeHTMLAttribute(html.slice(end, to));
  return isTrackable(target, ownHosts) ? target : undefined;
}

function isTrackable(target: string, ownHosts: ReadonlySet<string>): boolean {
  if (target.length > MAX_LINK_CHARACTERS || target.includes('unsubscribe_url')) return false;
  const url = URL.parse(target);
  // Browsers warn of an address with a name or a password, because it hides where it leads.
  if (url === null) return false;
  const { protocol, username, password, hostname } = url;
  return /^https?:$/.test(protocol) && username === '' && password === '' && !ownHosts.has(hostname);
}
