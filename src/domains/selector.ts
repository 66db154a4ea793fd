/** Makes the selectors of DKIM keys (RFC 6376 section 3.1). */
import { randomInt } from 'node:crypto';
import { SELECTOR_CHARACTERS } from './records.ts';

const SELECTOR_PREFIX = 'pr';
/** Alphabet of base32 (RFC 4648 section 6) in lower case, because DNS compares names without regard to case. */
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns a random selector, so that tenants who add the same domain do not share a name in its DNS. */
export function newSelector(): string {
  const length = SELECTOR_CHARACTERS - SELECTOR_PREFIX.length;
  return SELECTOR_PREFIX + Array.from({ length }, () => BASE32[randomInt(BASE32.length)]).join('');
}
