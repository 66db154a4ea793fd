/** Writes the addresses of a parsed header as text: decoded, and in a form that names exactly one mailbox each. */
import { domainToASCII } from 'node:url';

/** An address, or a group of them (RFC 5322 section 3.4), as mailparser returns it. */
type ParsedAddress = {
  name?: string | undefined;
  address?: string | undefined;
  group?: readonly ParsedAddress[] | undefined;
};

/** Matches a display name that needs no quotes. Letters of every script are allowed (RFC 6532 section 3.2). */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}!#$%&'*+\-/=?^_`{|}~ ]+$/u;
/** Matches the characters that would break a line or hide a part of the address. */
const DROPPED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/**
 * Returns each mailbox as `address`, or as `Name <address>` with the name decoded. Groups are dissolved into their members, and entries
 * without an address are left out.
 */
export function listMailboxes(addresses: readonly ParsedAddress[]): string[] {
  return addresses.flatMap(({ name = '', address = '', group }) => {
    if (group) return group.flatMap((member) => listMailboxes([member]));
    const bare = withALabels(address.replace(DROPPED, '').trim());
    if (bare === '') return [];
    const shown = name.replace(DROPPED, ' ').trim();
    return shown === '' || shown === bare ? [bare] : [`${quoteName(shown)} <${bare}>`];
  });
}

function quoteName(name: string): string {
  return PLAIN_NAME.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns the address with its domain in A-labels, which is the form that the rest of the API has. */
function withALabels(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = domainToASCII(address.slice(at + 1));
  return at < 0 || domain === '' ? address : `${address.slice(0, at + 1)}${domain}`;
}
