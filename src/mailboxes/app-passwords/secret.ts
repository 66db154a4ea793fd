/**
 * App passwords consist of 36 letters and digits in base32: 8 by which a password is found, and 28 more. These have 140 random bits,
 * so a plain SHA-256 protects them at rest, and a login needs no slow hash.
 */
import { hash, randomInt } from 'node:crypto';
import { BASE32_DIGITS } from '../../system/base32.ts';

const HINT_CHARACTERS = 8;
const SECRET_CHARACTERS = 28;

/** Number of characters between two hyphens, which makes a password easy to read. */
const GROUP_CHARACTERS = 4;

const FORM = new RegExp(`^[${BASE32_DIGITS}]{${HINT_CHARACTERS + SECRET_CHARACTERS}}$`);

/** Returns a new app password, without hyphens. */
export function generateSecret(): string {
  const digits = Array.from(
    { length: HINT_CHARACTERS + SECRET_CHARACTERS },
    () => BASE32_DIGITS[randomInt(BASE32_DIGITS.length)],
  );
  return digits.join('');
}

/** Returns an app password as it is shown: in groups with hyphens. */
export function showSecret(secret: string): string {
  return (secret.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? []).join('-');
}

/** Returns the app password that somebody has entered, in any case and with any spaces and hyphens; undefined for text of another form. */
export function readSecret(text: string): string | undefined {
  const secret = text.replace(/[\s-]/g, '').toLowerCase();
  return FORM.test(secret) ? secret : undefined;
}

/** Returns the characters by which an app password is found. */
export function hintOf(secret: string): string {
  return secret.slice(0, HINT_CHARACTERS);
}

/** Returns the SHA-256 hash of an app password, in the form in which it is stored. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}
