/** Gives lines that end with a bare LF their CR (RFC 5321 section 2.3.8). */
import { CR, findOctet, LF } from '../octets.ts';

/** The line ends of one message, whose pieces are cut anywhere. */
export class LineEnds {
  #endsWithCr = false;

  /**
   * Returns the next piece with a CR before each LF that lacks one. A piece without such an LF is not copied. The time for a byte
   * hardly depends on the text.
   */
  next(piece: Buffer): Buffer {
    if (piece.length === 0) return piece;
    const followsCr = this.#endsWithCr;
    this.#endsWithCr = piece[piece.length - 1] === CR;
    const bare = countBareLf(piece, followsCr);
    return bare === 0 ? piece : withCrlf(piece, followsCr, bare);
  }
}

function withCrlf(piece: Buffer, followsCr: boolean, bare: number): Buffer {
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
  let bare = 0;
  for (let at = findOctet(piece, LF, 0); at >= 0; at = findOctet(piece, LF, at + 1))
    if (at === 0 ? !followsCr : piece[at - 1] !== CR) bare++;
  return bare;
}
