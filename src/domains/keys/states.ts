/**
 * The states of the DKIM keys of a domain: how a key follows another one, when DNS is asked, and when a key goes. This module has no
 * side effects.
 *
 * A domain has two selectors for each algorithm, which its keys use in turn, so that the owner publishes two CNAME records once and no key
 * needs another visit to DNS. RFC 6376 section 3.1 prefers a new selector for each key, because a verifier cannot tell a late message from
 * a forged one: here a selector gets its next key a day after the last mail that was signed with the one before has ended.
 */
import type { DomainKeyRow } from '../../db/tables.ts';
import { DAY_MS } from '../../system/clock.ts';

export type Algorithm = DomainKeyRow['algorithm'];

/** A key of a domain, the RSA key that signs among them. */
export type Key = Omit<DomainKeyRow, 'domainId'>;

/** A key that was just generated. Its selector is used when the domain has none for it. */
export type NewKey = Pick<Key, 'selector' | 'algorithm' | 'publicKey'> & { privateKeySealed: string };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Minimum time for which a key stays published after the last signature with it. Receivers check mail again days later, and so do people. */
export const MIN_RETIRED_MS = 7 * DAY_MS;
/** Time between two questions whether mail that was signed with a retired key still waits. */
const RETIRED_INTERVAL_MS = 6 * HOUR_MS;
/** Time for which a selector has no key before its next one, so that no cache has the earlier key any more. */
export const MIN_UNUSED_MS = DAY_MS;
/** Time before the first look for a new key. DNS remembers for a minute that a name of the built-in name server was not there. */
const FIRST_LOOK_MS = MINUTE_MS;
/** A waiting key is looked for each minute in its first hour, then each 30 minutes, and daily after 72 hours. */
const EAGER_LOOK_MS = HOUR_MS;
const EAGER_INTERVAL_MS = MINUTE_MS;
const LOOK_MS = 72 * HOUR_MS;
const LOOK_INTERVAL_MS = 30 * MINUTE_MS;

/** The place of the next key of an algorithm. */
type NextKey =
  /** A key can be made. Its selector is undefined while the domain has none for it. */
  | { kind: 'free'; selector: string | undefined }
  /** The next key exists, and was not seen in DNS yet. */
  | { kind: 'waiting' }
  /** The selector is needed for an earlier key. It is free at `notBefore` or later, when mail that was signed with that key still waits then. */
  | { kind: 'busy'; notBefore: number }
  /** The domain does not sign with this algorithm. */
  | { kind: 'off' };

/** Returns the place of the next key. `now` is in Unix milliseconds. */
export function nextKeyOf(
  keys: readonly Pick<Key, 'algorithm' | 'state' | 'selector' | 'since'>[],
  algorithm: Algorithm,
  now: number,
): NextKey {
  const own = keys.filter((key) => key.algorithm === algorithm);
  if (own.some(({ state }) => state === 'waiting')) return { kind: 'waiting' };
  if (!own.some(({ state }) => state === 'signing')) return { kind: 'off' };
  const spare = own.find(({ state }) => state !== 'signing');
  if (spare?.state === 'retired')
    return { kind: 'busy', notBefore: Math.max(spare.since + MIN_RETIRED_MS, now) + MIN_UNUSED_MS };
  const freeAt = spare && spare.since > 0 ? spare.since + MIN_UNUSED_MS : 0;
  return freeAt > now ? { kind: 'busy', notBefore: freeAt } : { kind: 'free', selector: spare?.selector };
}

/** Returns the keys with the next one of its algorithm, which waits to be seen. They stay as they are when there is no place for it. */
export function withNextKey(keys: readonly Key[], made: NewKey, now: number): readonly Key[] {
  const next = nextKeyOf(keys, made.algorithm, now);
  if (next.kind !== 'free') return keys;
  const selector = next.selector ?? made.selector;
  return [
    ...keys.filter((key) => key.selector !== selector),
    { ...made, selector, state: 'waiting', since: now },
  ];
}

/** Returns true while mail is signed with Ed25519 too, or is going to be once the key is seen. */
export function usesEd25519(keys: readonly Pick<Key, 'algorithm' | 'state'>[]): boolean {
  return keys.some(({ algorithm, state }) => algorithm === 'ed25519' && isCurrent(state));
}

function isCurrent(state: Key['state']): boolean {
  return state === 'waiting' || state === 'signing';
}

/** Maximum number of Ed25519 selectors of a domain: one for the key that signs, and one for the key before or after it. */
const MAX_ED25519_SELECTORS = 2;

/** Returns true when a first Ed25519 key has a place: earlier ones that are retired have theirs until their mail has ended. */
export function hasPlaceForEd25519(keys: readonly Pick<Key, 'algorithm'>[]): boolean {
  return keys.filter(({ algorithm }) => algorithm === 'ed25519').length < MAX_ED25519_SELECTORS;
}

/** Returns the keys with a first Ed25519 key, which waits to be seen, and a selector for the one after it. */
export function withEd25519(
  keys: readonly Key[],
  { made, spareSelector, now }: { made: NewKey; spareSelector: string; now: number },
): readonly Key[] {
  if (usesEd25519(keys) || !hasPlaceForEd25519(keys)) return keys;
  const after: readonly Key[] = [...keys, { ...made, state: 'waiting', since: now }];
  return hasPlaceForEd25519(after) ? [...after, unusedKey(spareSelector, 'ed25519')] : after;
}

/** Returns the keys without Ed25519. A key that has signed stays published. */
export function withoutEd25519(keys: readonly Key[], now: number): readonly Key[] {
  return keys.flatMap((key) => {
    if (key.algorithm !== 'ed25519' || key.state === 'retired') return [key];
    return key.state === 'signing' ? [retired(key, now)] : [];
  });
}

/** Returns a selector that has never had a key. */
export function unusedKey(selector: string, algorithm: Algorithm): Key {
  return { selector, algorithm, state: 'unused', publicKey: '', privateKeySealed: null, since: 0 };
}

/** The keys of a domain that is deleted: those that have signed. */
export function withoutFuture(keys: readonly Key[]): readonly Key[] {
  return keys.filter(({ state }) => state === 'signing' || state === 'retired');
}

/** The result of a look: waiting keys that DNS has, and retired ones that no mail needs any more. */
export type Look = { seen: readonly Pick<Key, 'selector' | 'publicKey'>[]; unneeded: readonly string[] };

/** Returns the keys after a look. A waiting key that DNS has signs from now on, and the one before it is retired. */
export function afterLook(
  keys: readonly Key[],
  { seen, unneeded }: Look,
  { now, isDeleted }: { now: number; isDeleted: boolean },
): readonly Key[] {
  const starting = keys.filter(
    (key) =>
      key.state === 'waiting' &&
      seen.some(({ selector, publicKey }) => selector === key.selector && publicKey === key.publicKey),
  );
  const isFollowed = ({ algorithm }: Key) => starting.some((key) => key.algorithm === algorithm);
  const changed = keys.map((key): Key => {
    if (starting.includes(key)) return { ...key, state: 'signing', since: now };
    return key.state === 'signing' && isFollowed(key) ? retired(key, now) : key;
  });
  return changed.flatMap((key) => {
    if (key.state !== 'retired' || !unneeded.includes(key.selector)) return [key];
    const isKept = !isDeleted && (key.algorithm === 'rsa' || usesEd25519(changed));
    return isKept ? [{ ...unusedKey(key.selector, key.algorithm), since: now }] : [];
  });
}

/** The private half of a retired key is not needed: mail that was signed with it has its signature stored. */
function retired(key: Key, now: number): Key {
  return { ...key, state: 'retired', privateKeySealed: null, since: now };
}

/** Returns when the next look is due, in Unix milliseconds; null when no key waits for anything. */
export function nextLookAt(keys: readonly Pick<Key, 'state' | 'since'>[], now: number): number | null {
  const times = keys.flatMap(({ state, since }) => {
    if (state === 'waiting') return [nextSearchAt(since, now)];
    if (state === 'retired') return [Math.max(since + MIN_RETIRED_MS, now + RETIRED_INTERVAL_MS)];
    return [];
  });
  return times.length > 0 ? Math.min(...times) : null;
}

function nextSearchAt(since: number, now: number): number {
  const elapsedMs = now - since;
  if (elapsedMs <= 0) return now + FIRST_LOOK_MS;
  if (elapsedMs < EAGER_LOOK_MS) return now + EAGER_INTERVAL_MS;
  return now + (elapsedMs < LOOK_MS ? LOOK_INTERVAL_MS : DAY_MS);
}
