/** Finds what is wrong with octets that should be UTF-8, piece by piece. */
import { isUtf8 } from 'node:buffer';

/**
 * Returns the number of bytes before an incomplete last character. A character has one to four bytes, and all but the
 * first begin with the bits 10 (RFC 3629 section 3).
 */
export function wholeUtf8(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const octet = bytes[bytes.length - back] ?? 0;
    if ((octet & 0b1100_0000) === 0b1000_0000) continue;
    const needed = octet >= 0b1111_0000 ? 4 : octet >= 0b1110_0000 ? 3 : octet >= 0b1100_0000 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Returns the position of the first invalid character. It is searched by halving, once, when the file is refused. */
export function firstBroken(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const start = bytes.subarray(0, middle);
    if (isUtf8(start.subarray(0, wholeUtf8(start)))) good = middle;
    else bad = middle;
  }
  return wholeUtf8(bytes.subarray(0, good));
}
