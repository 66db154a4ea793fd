/** Reads the addresses of a header as text: decoded, and in a form that names exactly one mailbox each. */
import { domainToASCII } from 'node:url';
import { MISSING_HOST, MISSING_MAILBOX, readAddressList } from '../address-list.ts';
import { decodeWords } from '../decode-words.ts';
import type { HeaderField } from './header-fields.ts';

/** Maximum number of addresses of one field; further ones are left out. Our own limit: lists of recipients have some hundreds. */
const MAX_ADDRESSES = 10_000;
/** Matches a display name that needs no quotes. Letters of every script are allowed (RFC 6532 section 3.2). */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~ ]+$/u;
/** Matches a local part that needs no quotes. Dots may stand anywhere, as in addresses of some providers. */
const PLAIN_LOCAL_PART = /^[^\s"(),:;<>@[\\\]]+$/;
/** Matches the characters that would break a line or hide a part of the address. */
const DROPPED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/**
 * Returns each mailbox of the fields with a name, which is in lower case, as `address`, or as `Name <address>` with the name decoded.
 * Groups are dissolved into their members, and entries without an address are left out.
 */
export function listMailboxes(fields: readonly HeaderField[], name: string): string[] {
  const values = fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value);
  const list = values.map((value) => (value.includes('@') ? value : decodeWords(value))).join(', ');
  return readAddressList(list, MAX_ADDRESSES).flatMap((address) => {
    const { mailbox, host } = address;
    if (mailbox === null || host === null || mailbox === MISSING_MAILBOX || host === MISSING_HOST) return [];
    const bare = `${quoteLocalPart(mailbox.replace(DROPPED, ''))}@${withALabels(host.replace(DROPPED, ''))}`;
    const shown = decodeWords(address.name ?? '')
      .replace(DROPPED, ' ')
      .trim();
    return shown === '' || shown === bare ? [bare] : [`${quoteName(shown)} <${bare}>`];
  });
}

function quoteName(name: string): string {
  return PLAIN_NAME.test(name) ? name : quote(name);
}

function quoteLocalPart(text: string): string {
  return PLAIN_LOCAL_PART.test(text) ? text : quote(text);
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns the domain in A-labels, which is the form that the rest of the API has. */
function withALabels(host: string): string {
  return domainToASCII(host) || host;
}
