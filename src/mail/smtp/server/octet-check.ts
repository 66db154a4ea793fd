/**
 * Finds the octets that a message must not have: a NUL, at which programs in C cut text off, and a CR outside CRLF (RFC
 * 5321 section 2.3.8), which some servers take for the end of a line.
 */
import { CR, LF } from '../../octets.ts';

export type OctetFault = 'bare_carriage_return' | 'null_octet';

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
