/**
 * Recovery codes: each replaces one code of the authenticator, for people who have lost it. They are random, so the database keeps their
 * plain SHA-256 hashes, and shows them to nobody again.
 */
import { createHash, randomBytes } from 'node:crypto';
import { base32 } from '@scure/base';

/** Number of codes that a person gets. */
const CODES = 10;
/** Random bits of a code, in bytes: 80 bits are 16 characters, and cannot be guessed from the hash. */
const CODE_BYTES = 10;
const GROUP_CHARACTERS = 4;
/** Matches a code without its hyphens. */
const CODE = /^[A-Z2-7]{16}$/;

/** Returns new codes, such as `ABCD-EFGH-IJKL-MNOP`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: CODES }, () => {
    const text = base32.encode(randomBytes(CODE_BYTES));
    return (text.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? []).join('-');
  });
}

/** Returns the hash under which a code is stored, however it is spaced and in either case; undefined for a text that is no code. */
export function hashRecoveryCode(code: string): string | undefined {
  const text = code.replace(/[\s-]/g, '').toUpperCase();
  return CODE.test(text) ? createHash('sha256').update(text).digest('hex') : undefined;
}
