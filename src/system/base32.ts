/** Crockford's base32 in lower case, without padding: the digits of ids and of the tokens in our addresses. */

export const BASE32_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** Number of bytes that become eight digits without a rest. */
const GROUP_BYTES = 5;
const GROUP_DIGITS = 8;

/** Returns the last digits of a whole number that is not negative, the most significant first. */
export function toBase32(value: number, digits: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < digits; index++) {
    text = BASE32_DIGITS[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Returns the number of these digits. The text must have only digits, and at most 10 of them. */
export function fromBase32(text: string): number {
  let value = 0;
  for (const digit of text) value = value * 32 + BASE32_DIGITS.indexOf(digit);
  return value;
}

/** Returns the digits of bytes. Their number is a multiple of 5. */
export function bytesToBase32(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += GROUP_BYTES)
    text += toBase32(bytes.readUIntBE(at, GROUP_BYTES), GROUP_DIGITS);
  return text;
}
