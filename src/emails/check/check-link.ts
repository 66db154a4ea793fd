/** Checks the addresses of links and images by reading them. Nothing is looked up or fetched. */
import { isIP } from 'node:net';
import { IMAGES } from './client-support.ts';
import type { Code, Findings, Place } from './findings.ts';

const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Schemes other than http and https that mail programs open. */
const OPENED = new Set(['mailto', 'tel', 'sms']);
/** Length that browsers and servers agree on. */
const MAX_URL_CHARACTERS = 2_048;
/** Matches names of hosts that exist in one network alone, or nowhere. */
const NOT_PUBLIC = /^(?:localhost|[^.]+)$|\.(?:localhost|local|internal|test|invalid|example)$/;
/** Widespread shorteners that everybody may use. */
const SHORTENERS = new Set([
  ...['bit.ly', 'tinyurl.com', 'goo.gl', 't.co', 'ow.ly', 'is.gd', 'buff.ly', 'rebrand.ly', 'cutt.ly'],
  ...['t.ly', 'rb.gy', 'shorturl.at', 'tiny.cc', 'bl.ink'],
]);
/** Matches a text that is an address or the name of a host. */
const LOOKS_LIKE_HOST = /^(?:https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})(?:[/?#:][^\s]*)?$/i;
/** Matches a placeholder, which is reported as such. */
const PLACEHOLDER = /\{\{|\*\||<%/;

/** Checks the address of a link and the text that readers see. */
export function checkLink(
  findings: Findings,
  { href, text }: { href: string; text: string },
  place: Place,
): void {
  const address = href.trim();
  if (PLACEHOLDER.test(address)) return;
  for (const code of codesOf(address, text.trim())) findings.add(code, place);
  if (text.trim() === '' && address !== '') findings.add('link_without_text', place);
}

function codesOf(address: string, text: string): Code[] {
  if (address === '' || address === '#') return ['link_empty'];
  // A link within the email.
  if (address.startsWith('#')) return [];
  const scheme = SCHEME.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined) return ['link_relative'];
  if (OPENED.has(scheme)) return [];
  if (scheme !== 'http' && scheme !== 'https') return ['link_scheme'];
  const url = URL.parse(address);
  if (!url) return ['link_malformed'];
  const host = url.hostname.replace(/\.$/, '');
  const isLiteral = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  return [
    ...(scheme === 'http' ? (['link_http'] as const) : []),
    ...(isLiteral ? (['link_address_literal'] as const) : []),
    ...(!isLiteral && NOT_PUBLIC.test(host) ? (['link_unreachable'] as const) : []),
    ...(url.username !== '' || url.password !== '' ? (['link_credentials'] as const) : []),
    ...(SHORTENERS.has(withoutWww(host)) ? (['link_shortened'] as const) : []),
    ...(isMisleading(host, text) ? (['link_misleading'] as const) : []),
    ...(address.length > MAX_URL_CHARACTERS ? (['link_long'] as const) : []),
  ];
}

function isMisleading(host: string, text: string): boolean {
  if (text.length > MAX_URL_CHARACTERS) return false;
  const named = LOOKS_LIKE_HOST.exec(text)?.[1];
  return named !== undefined && withoutWww(named.toLowerCase()) !== withoutWww(host);
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}

/** Checks the address of an image; undefined when it has none. */
export function checkImage(findings: Findings, src: string | undefined, place: Place): void {
  const address = src?.trim() ?? '';
  if (PLACEHOLDER.test(address)) return;
  if (address === '') {
    findings.add('image_empty', place);
    return;
  }
  const beginning = address.slice(0, MAX_URL_CHARACTERS);
  const scheme = SCHEME.exec(beginning)?.[1]?.toLowerCase();
  if (scheme === undefined) findings.add('image_relative', place);
  if (scheme === 'http') findings.add('image_insecure', place);
  for (const [pattern, feature] of IMAGES)
    if (pattern.test(beginning)) findings.add('unsupported_image', place, feature);
}
