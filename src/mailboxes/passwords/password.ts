/** Reads the passwords that people choose, and makes new ones. */
import { randomBytes } from 'node:crypto';
import { bytesToBase32 } from '../../system/base32.ts';
import { invalid } from '../../system/errors.ts';

/** Minimum and maximum length of a password in characters (NIST SP 800-63B-4 section 3.1.1.2 asks for 8 and 64). */
const MIN_PASSWORD_CHARACTERS = 8;
const MAX_PASSWORD_CHARACTERS = 256;

/** Number of random bytes of a generated password: 120 bits, which nobody guesses even from its hash. */
const GENERATED_BYTES = 15;

/** Matches what clients cannot send in LOGIN or AUTHENTICATE, and what people cannot type. */
const CONTROL = /\p{Cc}/u;

/**
 * Returns the password in the form that is hashed.
 * @throws AppError validation_error naming `param`
 */
export function readPassword(param: string, text: string): string {
  const password = normalizePassword(text);
  const characters = [...password].length;
  if (characters < MIN_PASSWORD_CHARACTERS || characters > MAX_PASSWORD_CHARACTERS) {
    throw invalid(
      param,
      `\`${param}\` must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`,
    );
  }
  if (!password.isWellFormed() || CONTROL.test(password)) {
    throw invalid(param, `\`${param}\` must not contain control characters or halves of surrogate pairs`);
  }
  return password;
}

/** Returns one spelling of a password, since programs compose letters with accents differently (RFC 8265 section 4.2.2). */
export function normalizePassword(text: string): string {
  return text.normalize('NFC');
}

/** Returns a new password: four groups of six letters and digits, which are easy to read aloud. */
export function generatePassword(): string {
  const digits = bytesToBase32(randomBytes(GENERATED_BYTES));
  return (digits.match(/.{6}/g) ?? []).join('-');
}
