/**
 * Parses the paths of MAIL and RCPT (RFC 5321 section 4.1.2, with the UTF-8 of RFC 6531 section 3.3). The grammar is
 * followed exactly: what one server reads leniently, another reads as a different address. The dots of a sender are the only exception: some
 * providers gave out addresses such as `a..b@example.com` and `ab.@example.com`.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { INVISIBLE, UTF8_CHARACTER } from '../../address.ts';

type Path = {
  /** `localPart@domain` in one spelling: see `Recipient` in session.ts. Empty for the null sender. */
  address: string;
  /** True when the path as it came is not ASCII. */
  isUtf8: boolean;
  /** Text that follows the path. */
  rest: string;
};

/**
 * Maximum lengths of a domain and a path with its brackets (RFC 5321 section 4.5.3.1). Senders and recipients with more than 64 octets before
 * the @ are common, so that only the path limits them.
 */
const MAX_DOMAIN_OCTETS = 255;
const MAX_PATH_OCTETS = 256;

const UTF8 = '\\u0080-\\u{10ffff}';
const ATEXT = `[A-Za-z0-9!#$%&'*+\\-/=?^_\`{|}~]|${UTF8_CHARACTER}`;
const ATOM = `(?:${ATEXT})+`;
const DOT_STRING = `${ATOM}(?:\\.${ATOM})*`;
const QUOTED_STRING = `"(?:[ !#-\\[\\]-~]|${UTF8_CHARACTER}|\\\\[ -~])*"`;
const SUB_DOMAIN = `[A-Za-z0-9${UTF8}](?:[A-Za-z0-9${UTF8}-]*[A-Za-z0-9${UTF8}])?`;
const DOMAIN = `${SUB_DOMAIN}(?:\\.${SUB_DOMAIN})*`;
/** Source routes are accepted and ignored (RFC 5321 section 3.6.1 and appendix C). */
const SOURCE_ROUTE = `@${DOMAIN}(?:,@${DOMAIN})*:`;
const FORWARD_PATH = pathPattern(DOT_STRING);
const REVERSE_PATH = pathPattern(`(?:${ATEXT})(?:${ATEXT}|\\.)*`);
const PLAIN_LOCAL_PART = new RegExp(`^${DOT_STRING}$`, 'u');
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const POSTMASTER = /<(postmaster)>/iy;
const ASCII = /^[ -~]*$/;

/** Parses a reverse-path, which may be empty. Returns undefined for anything that is not one. */
export function parseReversePath(text: string): Path | undefined {
  if (text.startsWith('<>')) return { address: '', isUtf8: false, rest: text.slice(2) };
  return parseMailboxPath(text, REVERSE_PATH);
}

/** Parses a forward-path. `postmaster` needs no domain (RFC 5321 section 4.1.1.3). */
export function parseForwardPath(text: string): Path | undefined {
  POSTMASTER.lastIndex = 0;
  const [path, name] = POSTMASTER.exec(text) ?? [];
  if (path === undefined || name === undefined) return parseMailboxPath(text, FORWARD_PATH);
  return { address: name, isUtf8: false, rest: text.slice(path.length) };
}

function pathPattern(localPart: string): RegExp {
  const host = `(?:(${DOMAIN})|\\[([A-Za-z0-9:.]+)\\])`;
  return new RegExp(`<(?:${SOURCE_ROUTE})?(?:(${localPart})|(${QUOTED_STRING}))@${host}>`, 'uy');
}

function parseMailboxPath(text: string, pattern: RegExp): Path | undefined {
  pattern.lastIndex = 0;
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [path, dotString, quotedString = '', name, literal = ''] = match;
  const isUtf8 = !ASCII.test(path);
  if (octets(path, isUtf8) > MAX_PATH_OCTETS) return undefined;
  const localPart = dotString ?? unquoted(quotedString);
  const domain = name === undefined ? readLiteral(literal) : readDomain(name, isUtf8);
  if (domain === undefined) return undefined;
  return { address: `${localPart}@${domain}`, isUtf8, rest: text.slice(path.length) };
}

function octets(text: string, isUtf8: boolean): number {
  return isUtf8 ? Buffer.byteLength(text) : text.length;
}

/** Returns the form with the least quoting; all forms are equivalent (RFC 5321 section 4.1.2). */
function unquoted(quotedString: string): string {
  const value = quotedString.slice(1, -1).replace(/\\(.)/g, '$1');
  return PLAIN_LOCAL_PART.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a domain in lower case, as A-labels. */
function readDomain(name: string, isUtf8: boolean): string | undefined {
  if (INVISIBLE.test(name)) return undefined;
  const domain = isUtf8 ? domainToASCII(name) : name.toLowerCase();
  if (domain.length > MAX_DOMAIN_OCTETS) return undefined;
  return domain.split('.').every((label) => LABEL.test(label)) ? domain : undefined;
}

/** Returns an address literal (RFC 5321 section 4.1.3). No tag but IPv6 is registered. */
function readLiteral(literal: string): string | undefined {
  if (isIPv4(literal)) return `[${literal}]`;
  const [, address = ''] = /^IPv6:(.+)$/i.exec(literal) ?? [];
  return isIPv6(address) ? `[IPv6:${address.toLowerCase()}]` : undefined;
}
