/** Finds lines that are longer than the 998 octets of RFC 5322 section 2.1.1. */
import { findOctet } from '../../find-octet.ts';
import { CR, LF } from '../../octets.ts';
import { MAX_LINE_OCTETS } from '../headers.ts';

/** Returns true when a line has more than 998 octets without its line end, which is CRLF or LF. */
export function hasLongLine(octets: Buffer): boolean {
  if (octets.length <= MAX_LINE_OCTETS) return false;
  for (let start = 0; start < octets.length; ) {
    const found = findOctet(octets, LF, start);
    const lineEnd = found < 0 ? octets.length : found;
    const end = octets[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (end - start > MAX_LINE_OCTETS) return true;
    start = lineEnd + 1;
  }
  return false;
}
