/**
 * Reads the data of a message (RFC 5321 section 4.5.2): finds its end and removes the dots that the client has doubled.
 * Only CRLF ends a line, and only CRLF, dot, CRLF ends the message, so that no other server can be made to see an end
 * where this one sees none. The time for a byte does not depend on the text: the same loop serves long lines, empty
 * lines and lines of dots.
 */
import { CR, DOT, LF } from '../../octets.ts';
import type { OctetFault } from './octet-check.ts';

/** `start` is the beginning of a line; the dot of `dot` and the CR of `dotCr` are held back until the next byte. */
type State = 'start' | 'middle' | 'cr' | 'dot' | 'dotCr';

export class DotDecoder {
  #state: State = 'start';
  /** First octet that a message must not have. Decoding goes on after it, in search of the end. */
  fault: OctetFault | undefined;
  /** Number of bytes of the last chunk that follow the end of the message. Undefined before the end has come. */
  excessBytes: number | undefined;

  /** Returns the next bytes of the message. They are decoded in place: the memory of `chunk` is used and changed. */
  next(chunk: Buffer): Buffer {
    const { length } = chunk;
    let state = this.#state;
    let to = 0;
    for (let at = 0; at < length; at++) {
      let byte = chunk[at] as number;
      if (state === 'middle') {
        // Most bytes of most messages pass through this loop.
        for (; byte !== CR && at + 1 < length; byte = chunk[++at] as number) chunk[to++] = byte;
        if (byte === CR) state = 'cr';
      } else if (state === 'cr') {
        state = this.#afterCr(byte);
      } else if (state === 'start') {
        if (byte === DOT) {
          state = 'dot';
          continue;
        }
        state = byte === CR ? 'cr' : 'middle';
      } else if (state === 'dot') {
        if (byte === CR) {
          state = 'dotCr';
          continue;
        }
        state = 'middle';
      } else {
        if (byte === LF) {
          this.excessBytes = length - at - 1;
          break;
        }
        state = this.#afterCr(byte);
      }
      chunk[to++] = byte;
    }
    this.#state = state;
    const piece = chunk.subarray(0, to);
    if (this.fault === undefined && piece.includes(0)) this.fault = 'null_octet';
    return piece;
  }

  #afterCr(byte: number): State {
    if (byte === LF) return 'start';
    this.fault ??= 'bare_carriage_return';
    return byte === CR ? 'cr' : 'middle';
  }
}
