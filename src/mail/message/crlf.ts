/** Gives lines that end with a bare LF their CR (RFC 5321 section 2.3.8), in pieces of a message that are cut anywhere. */
import { CR, LF } from '../octets.ts';

/**
 * Returns a piece with a CR before each LF that lacks one. A piece without such an LF is not copied. The time for a byte does not
 * depend on the text.
 *
 * @param followsCr true when the byte before the piece is a CR
 */
export function withCrlf(piece: Buffer, followsCr: boolean): Buffer {
  const bare = countBareLf(piece, followsCr);
  if (bare === 0) return piece;
  const output = Buffer.allocUnsafe(piece.length + bare);
  let previous = followsCr ? CR : LF;
  let to = 0;
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] as number;
    if (byte === LF && previous !== CR) output[to++] = CR;
    output[to++] = byte;
    previous = byte;
  }
  return output;
}

function countBareLf(piece: Buffer, followsCr: boolean): number {
  const { length } = piece;
  let bare = 0;
  for (let at = 0; at < length; at++) {
    // Every message passes through this loop, so it does nothing but this comparison for most bytes.
    if (piece[at] !== LF) continue;
    if (at === 0 ? !followsCr : piece[at - 1] !== CR) bare++;
  }
  return bare;
}
