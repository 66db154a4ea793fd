/**
 * Canonical base64 (RFC 4648 section 4). Attachments are sent in the base64 form in which they arrive, so it must be exactly
 * the form that an encoder writes.
 */
import { nextSlice } from '../system/slices.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PAD = 0x3d;
const NO_DIGIT = 0xff;

const VALUES = new Uint8Array(256).fill(NO_DIGIT);
for (const [value, character] of [...ALPHABET].entries()) VALUES[character.charCodeAt(0)] = value;

/** Maximum number of bytes that are checked before other work on the event loop runs: about three milliseconds. */
const SLICE_BYTES = 2 * 1024 * 1024;

/** Returns the number of bytes that valid base64 decodes to. */
export function base64Size(ascii: Uint8Array): number {
  return (ascii.length / 4) * 3 - padding(ascii);
}

/** Returns true when the bytes are canonical base64. */
export async function isBase64(ascii: Uint8Array): Promise<boolean> {
  const digits = ascii.length - padding(ascii);
  if (ascii.length % 4 !== 0 || !hasZeroRest(ascii, digits)) return false;
  for (let start = 0; start < digits; start += SLICE_BYTES) {
    if (start > 0) await nextSlice();
    if (!isDigits(ascii, start, Math.min(start + SLICE_BYTES, digits))) return false;
  }
  return true;
}

function padding(ascii: Uint8Array): number {
  if (ascii.at(-1) !== PAD) return 0;
  return ascii.at(-2) === PAD ? 2 : 1;
}

/** Returns true when the unused bits of the last digit are zero (RFC 4648 section 3.5). */
function hasZeroRest(ascii: Uint8Array, digits: number): boolean {
  const last = VALUES[ascii[digits - 1] ?? 0] ?? NO_DIGIT;
  const spare = ascii.length - digits;
  return spare === 0 || (last & (spare === 1 ? 0b11 : 0b1111)) === 0;
}

function isDigits(ascii: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (VALUES[ascii[index] as number] === NO_DIGIT) return false;
  return true;
}
