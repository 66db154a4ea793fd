/**
 * The message on the wire, from 354 to the final dot: slices as the peer has room for them, so that neither a large
 * message nor a slow peer costs memory.
 */
import { asBuffer, CrlfCheck, stuffDots } from '../body.ts';
import type { SmtpConnection } from './connection.ts';
import type { Envelope, MessageContent } from './envelope.ts';

/** Between two slices the peer's window is waited for. */
const SLICE_BYTES = 64 * 1024;
const LF = 0x0a;

/**
 * Writes all but the final dot and answers with the bytes of that; undefined when the peer spoke in between, which ends
 * the sending.
 * @throws SmtpError
 * @throws MalformedMessageError when a streamed message must not be ended with a dot; whatever its chunks throw goes first
 */
export async function sendContent(
  connection: SmtpConnection,
  { prefix, message, onPhase }: Envelope,
  blockMs: number,
): Promise<string | undefined> {
  const stream = new SliceStream(message);
  let announce = onPhase;
  /** False when the peer has spoken. */
  const send = async (chunk: Buffer): Promise<boolean> => {
    const sliceBytes = announce ? Math.min(SLICE_BYTES, Math.ceil(chunk.length / 2)) : SLICE_BYTES;
    for (let at = 0; at < chunk.length; at += sliceBytes) {
      if (connection.hasReply) return false;
      await connection.write('body', stream.next(chunk.subarray(at, at + sliceBytes)), blockMs);
      if (announce) await connection.flushed();
      announce?.('body');
      announce = undefined;
    }
    return true;
  };
  connection.send(prefix);
  if (message.inline) {
    if (!(await send(asBuffer(message.inline)))) return undefined;
  } else {
    let fault: MalformedMessageError | undefined;
    for await (const chunk of message.chunks()) {
      // After a fault the rest is read and not sent, because the chunks may report at their end that the file is damaged.
      if (fault) continue;
      try {
        if (!(await send(asBuffer(chunk)))) return undefined;
      } catch (error) {
        if (!(error instanceof MalformedMessageError)) throw error;
        fault = error;
      }
    }
    if (fault) throw fault;
  }
  return connection.hasReply ? undefined : stream.end();
}

/**
 * A streamed message has another length than declared, or a CR or LF outside CRLF. The fault lies on this side, so it is
 * not an `SmtpError`, which tells something about the peer.
 */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** The message's slices, each as it goes over the wire. */
class SliceStream {
  /** Bytes at hand were checked before anything was sent (envelope.ts). */
  readonly #lines: CrlfCheck | undefined;
  #missingBytes: number;
  /** The message begins at the start of a line. */
  #isAtLineStart = true;

  constructor({ sizeBytes, inline }: MessageContent) {
    this.#missingBytes = sizeBytes;
    this.#lines = inline ? undefined : new CrlfCheck();
  }

  /** @throws MalformedMessageError */
  next(slice: Buffer): Buffer {
    this.#missingBytes -= slice.length;
    if (this.#missingBytes < 0) throw new MalformedMessageError('the message is longer than declared');
    if (this.#lines?.accepts(slice) === false) throw strayLineEnd();
    const stuffed = stuffDots(slice, this.#isAtLineStart);
    this.#isAtLineStart = slice.at(-1) === LF;
    return stuffed;
  }

  /** RFC 5321 4.1.1.4: the CRLF that ends the last line, then the dot. @throws MalformedMessageError */
  end(): string {
    if (this.#missingBytes > 0) throw new MalformedMessageError('the message is shorter than declared');
    if (this.#lines?.isBetweenCrAndLf) throw strayLineEnd();
    return this.#isAtLineStart ? '.\r\n' : '\r\n.\r\n';
  }
}

function strayLineEnd(): MalformedMessageError {
  return new MalformedMessageError('the message has a CR or LF outside CRLF');
}
