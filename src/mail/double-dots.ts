/** The dots that SMTP and POP3 add to a message, which ends with a line of one dot (RFC 5321 section 4.5.2, RFC 1939 section 3). */
import { DOT, LF } from './octets.ts';

/**
 * Returns a copy of a chunk with a second dot before each line that begins with one. `dots` is the number of such lines. A copy of each
 * line would cost more than its bytes.
 */
export function doubleDots(
  chunk: Buffer,
  { dots, isLineStart }: { dots: number; isLineStart: boolean },
): Buffer {
  const output = Buffer.allocUnsafe(chunk.length + dots);
  let previous = isLineStart ? LF : 0;
  let to = 0;
  for (let at = 0; at < chunk.length; at++) {
    const octet = chunk[at] as number;
    if (octet === DOT && previous === LF) output[to++] = DOT;
    output[to++] = octet;
    previous = octet;
  }
  return output;
}
