/**
 * The Sender Rewriting Scheme: a forwarder puts an address of its own in place of the envelope sender, so that SPF passes at
 * the next server, and bounces find their way back. An address carries a hash and a day, so that nobody can use the forwarder
 * to send bounces to addresses of their choice.
 *
 * `SRS0=hash=day=host=local@forwarder` stands for `local@host`. An address that another forwarder has already rewritten
 * becomes `SRS1=hash=host==…@forwarder`, which names that forwarder and not the next one: bounces skip all in between, and
 * an address grows only once. http://www.libsrs2.net/srs/srs.pdf describes the scheme.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { bytesToBase32, fromBase32, toBase32 } from '../system/base32.ts';
import { DAY_MS } from '../system/clock.ts';

/** Rewrites senders with one key. */
export type SenderRewriting = {
  /**
   * Returns the local part that stands for a sender, or undefined for a sender that has none: the null sender, an address
   * literal, a local part in quotes, and an address that would be too long (mailbox-delivery/forward/forward.ts has another way for these).
   *
   * @param now time of the forwarding, in Unix milliseconds
   */
  rewrite(sender: string, now: number): string | undefined;
  /**
   * Returns the sender, or the address at another forwarder, that a local part stands for. Returns undefined when it is not
   * one that this key made, or is too old for a bounce.
   */
  reverse(localPart: string, now: number): string | undefined;
};

/** 40 bits of the HMAC, in 8 characters. Hashes can be tried over SMTP alone, and local parts are short. */
const HASH_BYTES = 5;
const HASH = '[0-9a-hjkmnp-tv-z]{8}';
const DAY_CHARACTERS = 2;
/** Number of days after which the two characters of a day repeat. */
const DAY_PERIOD = 1024;
/** Maximum age of a bounce in days. Servers retry for up to 5 days (RFC 5321 section 4.5.4.1), several after each other for longer. */
const MAX_AGE_DAYS = 21;
/** Maximum length of a local part (RFC 5321 section 4.5.3.1.1). */
const MAX_LOCAL_PART_OCTETS = 64;

/** A local part that needs no quotes, and a domain that is a name. Both may be in UTF-8 (RFC 6531 section 3.3). */
const ATOMS = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\\u0080-\\u{10ffff}-]+";
const NAME = '[A-Za-z0-9.\\u0080-\\u{10ffff}-]+';
const SENDER = new RegExp(`^(${ATOMS})@(${NAME})$`, 'u');
/** Other forwarders write `+` or `-` after `SRS0` and `SRS1`, too. */
const FOREIGN_FIRST = /^SRS0([=+-].+)$/i;
const FOREIGN_NEXT = new RegExp(`^SRS1[=+-][^=]+=(${NAME})=([=+-].+)$`, 'iu');
const OWN_FIRST = new RegExp(`^SRS0=(${HASH})=([0-9a-hjkmnp-tv-z]{2})=(${NAME})=(${ATOMS})$`, 'iu');
const OWN_NEXT = new RegExp(`^SRS1=(${HASH})=(${NAME})=([=+-]${ATOMS})$`, 'iu');

/** Returns the rewriting of the key, which has 32 bytes. */
export function createSenderRewriting(key: Buffer): SenderRewriting {
  return {
    rewrite(sender, now) {
      const [, local = '', host = ''] = SENDER.exec(sender) ?? [];
      if (host === '') return undefined;
      const rewritten = rewriteLocalPart(key, { local, host, now });
      return Buffer.byteLength(rewritten) <= MAX_LOCAL_PART_OCTETS ? rewritten : undefined;
    },
    reverse(localPart, now) {
      const [, hash = '', day = '', host = '', local = ''] = OWN_FIRST.exec(localPart) ?? [];
      if (host !== '')
        return isOurs(key, hash, ['0', day, host, local]) && isRecent(day, now)
          ? `${local}@${host}`
          : undefined;
      const [, nextHash = '', forwarder = '', rest = ''] = OWN_NEXT.exec(localPart) ?? [];
      return isOurs(key, nextHash, ['1', forwarder, rest]) ? `SRS0${rest}@${forwarder}` : undefined;
    },
  };
}

type Rewriting = { local: string; host: string; now: number };

function rewriteLocalPart(key: Buffer, { local, host, now }: Rewriting): string {
  const [, first] = FOREIGN_FIRST.exec(local) ?? [];
  if (first !== undefined) return next(key, host, first);
  const [, forwarder, rest] = FOREIGN_NEXT.exec(local) ?? [];
  if (forwarder !== undefined && rest !== undefined) return next(key, forwarder, rest);
  const day = toBase32(dayOf(now), DAY_CHARACTERS);
  return `SRS0=${hashOf(key, ['0', day, host, local])}=${day}=${host}=${local}`;
}

function next(key: Buffer, forwarder: string, rest: string): string {
  return `SRS1=${hashOf(key, ['1', forwarder, rest])}=${forwarder}=${rest}`;
}

function dayOf(now: number): number {
  return Math.floor(now / DAY_MS) % DAY_PERIOD;
}

function isRecent(day: string, now: number): boolean {
  const age = (dayOf(now) - fromBase32(day.toLowerCase()) + DAY_PERIOD) % DAY_PERIOD;
  return age <= MAX_AGE_DAYS;
}

function isOurs(key: Buffer, hash: string, parts: readonly string[]): boolean {
  const expected = Buffer.from(hashOf(key, parts));
  const given = Buffer.from(hash.toLowerCase());
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Hashes the parts in lower case, because some servers change the case of a return path. */
function hashOf(key: Buffer, parts: readonly string[]): string {
  const text = parts.join('=').toLowerCase();
  return bytesToBase32(createHmac('sha256', key).update(text).digest().subarray(0, HASH_BYTES));
}
