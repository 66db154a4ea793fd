/**
 * Reads the data of a message (RFC 5321 section 4.5.2): finds its end and removes the dots that the client has doubled. Only CRLF ends a line,
 * and only CRLF, dot, CRLF ends the message, so that no other server can be made to see an end where this one sees none. The time for a byte
 * hardly depends on the text, whether its lines are long, empty or made of dots.
 */
import { CR, DOT, findOctet, LF } from '../../octets.ts';

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
      if (state === 'middle') {
        const found = findOctet(chunk, CR, at);
        const end = found < 0 ? length : found;
        to = moveTo(chunk, to, { from: at, end });
        if (found < 0) break;
        at = found;
        state = 'cr';
        chunk[to++] = CR;
        continue;
      }
      const byte = chunk[at] as number;
      if (state === 'cr') {
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

/** Maximum number of octets that are moved one by one, because a call for them would cost more. */
const FEW_OCTETS = 16;

/** Moves octets of a chunk to an earlier place, unless they are there already. Returns the offset of their end. */
function moveTo(chunk: Buffer, to: number, { from, end }: { from: number; end: number }): number {
  const octets = end - from;
  if (to === from) return end;
  if (octets > FEW_OCTETS) chunk.copyWithin(to, from, end);
  else for (let at = 0; at < octets; at++) chunk[to + at] = chunk[from + at] as number;
  return to + octets;
}

type OctetFault = 'bare_carriage_return' | 'null_octet';

/** Checks the chunks of one message, which may be cut anywhere. */
export class OctetCheck {
  #endsWithCr = false;
  fault: OctetFault | undefined;

  next(chunk: Buffer): void {
    if (chunk.length === 0 || this.fault !== undefined) return;
    if (chunk.includes(0)) this.fault = 'null_octet';
    else if (this.#hasBareCr(chunk)) this.fault = 'bare_carriage_return';
  }

  /** Reports a CR at the very end of the message. */
  end(): void {
    if (this.#endsWithCr) this.fault ??= 'bare_carriage_return';
  }

  #hasBareCr(chunk: Buffer): boolean {
    if (this.#endsWithCr && chunk[0] !== LF) return true;
    const last = chunk.length - 1;
    this.#endsWithCr = chunk[last] === CR;
    for (let at = 0; at < last; at++) if (chunk[at] === CR && chunk[at + 1] !== LF) return true;
    return false;
  }
}
