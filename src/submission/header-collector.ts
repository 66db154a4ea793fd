/** Collects the header of a message that arrives in pieces. Each octet is read a few times, however small the pieces are. */
import { MAX_HEADER_BYTES } from '../mail/header-limits.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';

/** Space in a header for the fields that are added here, and where the message is received. */
const ADDED_BYTES = 4 * 1024;
const LINE_END = '\r\n';
const HEADER_END = '\r\n\r\n';
/** Number of octets of the end of a header that may be in an earlier piece than its last one. */
const SEAM_BYTES = HEADER_END.length - 1;

export class HeaderCollector {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  /** End of what was taken so far. A line end stands before the message, so that a message can begin with the empty line. */
  #tail: Buffer = Buffer.from(LINE_END);

  /**
   * Takes the next piece. Returns the header with its last CRLF, and what follows the empty line; undefined while the empty line has not come.
   * @throws RefusedMessage for a header that is too large
   */
  add(piece: Buffer): { header: Buffer; rest: Buffer } | undefined {
    const seam = Buffer.concat([this.#tail, piece]);
    const seamAt = this.#bytes - this.#tail.length;
    const end = seam.indexOf(HEADER_END);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#tail = seam.subarray(-SEAM_BYTES);
    const headerBytes = end < 0 ? this.#bytes : seamAt + end + LINE_END.length;
    if (headerBytes > MAX_HEADER_BYTES - ADDED_BYTES)
      throw new RefusedMessage({
        code: 550,
        status: '5.6.0',
        text: 'The header of the message is too large',
      });
    if (end < 0) return undefined;
    const bytes = this.whole();
    return {
      header: bytes.subarray(0, headerBytes),
      rest: bytes.subarray(headerBytes + LINE_END.length),
    };
  }

  /** Returns everything that was taken: the header of a message without an empty line. */
  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
