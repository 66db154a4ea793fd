/**
 * The addresses at which the answers to our mail arrive: bounces at the return path, complaints at the address of `CFBL-Address`
 * (RFC 9477) or at one that the operator has registered with a provider, the mail of readers who unsubscribe at an address of
 * `List-Unsubscribe`, and bounces of mail that was forwarded for a sender whose own address is too long to be rewritten. Each except the registered ones carries a token that names the email and is authenticated, so that an address is
 * checked without the database, and nobody can make one for an email that they did not receive.
 *
 * The local part is the kind (`b+`, `c+`, `u+` or `r+`), the 26 characters of the email's id, 4 digits and 24 characters of an
 * HMAC-SHA-256 of all characters before. Everything is base32 with the alphabet of ids, in lower case: some programs change
 * the case of a return path. The digits are the day of the attempt for bounces and of the forwarding, and the recipient for the others.
 * A registered address is `f+`, the name of the provider, a dot and such an HMAC: it is a secret of the operator and the provider.
 *
 * The token of an unsubscribe link (links/unsubscribe-token.ts) contains the address of the reader and does not fit into a local
 * part. The id of the email and the position of the recipient do, and they name the reader and the list for as long as the email
 * is kept. The id of a contact would not do: marketing mail to a single address has no contact.
 */
import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { App } from '../app.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { RecipientRow } from '../db/tables.ts';
import { bytesToBase32, fromBase32, toBase32 } from '../system/base32.ts';
import { DAY_MS } from '../system/clock.ts';
import { ID_CHARACTERS } from '../system/ids.ts';

/** The meaning of an address. */
export type ReturnAddress =
  | {
      kind: 'bounce';
      emailId: EmailRow['id'];
      /** Start of the day (UTC) of the attempt that used the address, in Unix milliseconds. */
      attemptedOn: number;
    }
  | {
      kind: 'complaint';
      emailId: EmailRow['id'];
      /** Position of the recipient who got the address. Undefined when all recipients of the email got the same one. */
      position: RecipientRow['position'] | undefined;
    }
  | {
      kind: 'unsubscribe';
      emailId: EmailRow['id'];
      /** Position of the recipient who got the address. */
      position: RecipientRow['position'];
    }
  | {
      kind: 'forwarded';
      /** The message that was forwarded. Its sender is stored with it. */
      emailId: EmailRow['id'];
      /** Start of the day (UTC) of the forwarding, in Unix milliseconds. */
      attemptedOn: number;
    };

/** The key that authenticates addresses, with 32 bytes. */
export type ReturnAddressKey = KeyObject;

const KEY_BYTES = 32;
const KINDS = { bounce: 'b+', complaint: 'c+', unsubscribe: 'u+', forwarded: 'r+' } as const;
const FEEDBACK_LOOP = 'f+';
const KIND_CHARACTERS = 2;
const NUMBER_CHARACTERS = 4;
/** 120 bits of the HMAC, in 24 characters. Addresses can be tried over SMTP alone, so that 80 bits would do. */
const MAC_BYTES = 15;
const MAC_AT = KIND_CHARACTERS + ID_CHARACTERS + NUMBER_CHARACTERS;
/** Matches the form of every local part. Its 56 octets are below the 64 of RFC 5321 section 4.5.3.1.1. */
const LOCAL_PART = /^[bcru]\+[0-9a-hjkmnp-tv-z]{54}$/;
/** Matches a registered address: what the HMAC covers, the name of the provider, and the HMAC. */
const REGISTERED = /^(f\+([a-z0-9-]{1,20})\.)([0-9a-hjkmnp-tv-z]{24})$/;
/** Matches the tokens of an email in the fields of a report. */
const TOKENS = /[bc]\+[0-9a-hjkmnp-tv-z]{54}/gi;
/** Maximum number of tokens that are checked in one report. A report has few. */
const MAX_TOKENS = 16;
/** Number of a complaint address that all recipients share. Others have the position of the recipient plus one. */
const SHARED = 0;

const keys = new WeakMap<App['sealer'], ReturnAddressKey>();

/** Returns the key of an installation. It is derived from the master key once, so that a backup keeps addresses valid. */
export function returnAddressKeyOf({ sealer }: Pick<App, 'sealer'>): ReturnAddressKey {
  const known = keys.get(sealer);
  if (known) return known;
  const derived = hkdfSync('sha256', sealer.key.export(), '', 'queue: return addresses', KEY_BYTES);
  // A key of bytes would become such an object in each HMAC, which costs five times as much as the HMAC.
  const key = createSecretKey(Buffer.from(derived));
  keys.set(sealer, key);
  return key;
}

/** Returns the local part of the return path of an attempt at `attemptedAt`, in Unix milliseconds. */
export function bounceLocalPart(
  key: ReturnAddressKey,
  { emailId, attemptedAt }: { emailId: string; attemptedAt: number },
): string {
  return localPart(key, { kind: 'bounce', emailId, number: Math.floor(attemptedAt / DAY_MS) });
}

/** Returns the local part of the return path of a message that is forwarded at `forwardedAt`, in Unix milliseconds. */
export function forwardedLocalPart(
  key: ReturnAddressKey,
  { emailId, forwardedAt }: { emailId: string; forwardedAt: number },
): string {
  return localPart(key, { kind: 'forwarded', emailId, number: Math.floor(forwardedAt / DAY_MS) });
}

/** Returns the local part of the address for complaints about an email, of one recipient or of all. */
export function complaintLocalPart(
  key: ReturnAddressKey,
  { emailId, position }: { emailId: string; position: RecipientRow['position'] | undefined },
): string {
  const number = position === undefined ? SHARED : position + 1;
  return localPart(key, { kind: 'complaint', emailId, number });
}

/** Returns true for the name of a provider that an address can have. */
export function isProviderName(text: string): boolean {
  return /^[a-z0-9-]{1,20}$/.test(text);
}

/** Returns the local part of the address that is registered with a provider (`isProviderName`). */
export function feedbackLoopLocalPart(key: ReturnAddressKey, provider: string): string {
  const content = `${FEEDBACK_LOOP}${provider}.`;
  return content + macOf(key, content);
}

/** Returns the local part of the address at which a recipient of marketing mail unsubscribes. */
export function unsubscribeLocalPart(
  key: ReturnAddressKey,
  { emailId, position }: { emailId: string; position: RecipientRow['position'] },
): string {
  return localPart(key, { kind: 'unsubscribe', emailId, number: position });
}

type Named = { kind: keyof typeof KINDS; emailId: string; number: number };

function localPart(key: ReturnAddressKey, { kind, emailId, number }: Named): string {
  const content = `${KINDS[kind]}${emailId.slice(-ID_CHARACTERS)}${toBase32(number, NUMBER_CHARACTERS)}`;
  return content + macOf(key, content);
}

/** Returns what a local part stands for, or undefined when it is not one that this installation made. */
export function readReturnAddress(key: ReturnAddressKey, text: string): ReturnAddress | undefined {
  const local = text.toLowerCase();
  if (!LOCAL_PART.test(local)) return undefined;
  const content = local.slice(0, MAC_AT);
  if (!isAuthentic(key, content, local.slice(MAC_AT))) return undefined;
  const emailId = `em_${content.slice(KIND_CHARACTERS, -NUMBER_CHARACTERS)}` as const;
  const number = fromBase32(content.slice(-NUMBER_CHARACTERS));
  if (content.startsWith(KINDS.unsubscribe)) return { kind: 'unsubscribe', emailId, position: number };
  if (content.startsWith(KINDS.bounce)) return { kind: 'bounce', emailId, attemptedOn: number * DAY_MS };
  if (content.startsWith(KINDS.forwarded))
    return { kind: 'forwarded', emailId, attemptedOn: number * DAY_MS };
  return { kind: 'complaint', emailId, position: number === SHARED ? undefined : number - 1 };
}

/** Returns the provider that an address was registered with, or undefined when it is not one of this installation's. */
export function readFeedbackLoopAddress(key: ReturnAddressKey, text: string): string | undefined {
  const [, content = '', provider, mac = ''] = REGISTERED.exec(text.toLowerCase()) ?? [];
  return provider !== undefined && isAuthentic(key, content, mac) ? provider : undefined;
}

/** Returns the addresses of emails that are written anywhere in these texts. */
export function findReturnAddresses(key: ReturnAddressKey, texts: Iterable<string>): ReturnAddress[] {
  const tokens = new Set<string>();
  for (const text of texts)
    for (const [token] of text.matchAll(TOKENS)) if (tokens.size < MAX_TOKENS) tokens.add(token);
  return [...tokens].flatMap((token) => readReturnAddress(key, token) ?? []);
}

/** Compares in constant time. Both texts have the same length. */
function isAuthentic(key: ReturnAddressKey, content: string, mac: string): boolean {
  return timingSafeEqual(Buffer.from(mac, 'latin1'), Buffer.from(macOf(key, content), 'latin1'));
}

function macOf(key: ReturnAddressKey, content: string): string {
  return bytesToBase32(createHmac('sha256', key).update(content).digest().subarray(0, MAC_BYTES));
}
