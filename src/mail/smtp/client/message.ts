/**
 * Sends the message, from the 354 to the final dot. It writes slices as fast as the peer takes them, so that neither a
 * large message nor a slow peer costs memory.
 */
import { LF } from '../../octets.ts';
import { asBuffer, CrlfCheck, stuffDots } from '../body.ts';
import type { SmtpConnection } from './connection.ts';
import type { Envelope, MessageContent } from './envelope.ts';

/** Size of one write. The next write waits until the peer's window has room. */
const SLICE_BYTES = 64 * 1024;

/**
 * Writes everything but the final dot and returns the bytes of the final dot. Returns undefined when the peer replied
 * before the end, because the rest is then not sent.
 * @throws SmtpError
 * @throws MalformedMessageError when a streamed message must not be ended with a dot; an error of its chunks wins over it
 */
export async function sendContent(
  connection: SmtpConnection,
  { prefix, message, onPhase }: Envelope,
  blockMs: number,
): Promise<string | undefined> {
  const stream = new SliceStream(message);
  let announce = onPhase;
  /** Returns false when the peer has replied. */
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
 * Reports a streamed message whose length differs from the declared one, or that has a CR or LF outside CRLF. The fault
 * lies on this side, so it is not an `SmtpError`, which describes the peer.
 */
class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Turns slices of a message into the bytes that go over the wire. */
class SliceStream {
  /** Check of a streamed message. An inline message has none, because envelope.ts checks it before anything is sent. */
  readonly #lines: CrlfCheck | undefined;
  #missingBytes: number;
  /** The message begins at the start of a line. */
  #isAtLineStart = true;

  constructor({ sizeBytes, inline }: MessageContent) {
    this.#missingBytes = sizeBytes;
    this.#lines = inline ? undefined : new CrlfCheck();
  }

  /**
   * Returns a slice as it is sent, with its leading dots doubled (RFC 5321 4.5.2).
   * @throws MalformedMessageError
   */
  next(slice: Buffer): Buffer {
    this.#missingBytes -= slice.length;
    if (this.#missingBytes < 0) throw new MalformedMessageError('the message is longer than declared');
    if (this.#lines?.accepts(slice) === false) throw strayLineEnd();
    const stuffed = stuffDots(slice, this.#isAtLineStart);
    this.#isAtLineStart = slice.at(-1) === LF;
    return stuffed;
  }

  /** Returns the CRLF that ends the last line, if it is missing, and the dot (RFC 5321 4.1.1.4). @throws MalformedMessageError */
  end(): string {
    if (this.#missingBytes > 0) throw new MalformedMessageError('the message is shorter than declared');
    if (this.#lines?.isBetweenCrAndLf) throw strayLineEnd();
    return this.#isAtLineStart ? '.\r\n' : '\r\n.\r\n';
  }
}

function strayLineEnd(): MalformedMessageError {
  return new MalformedMessageError('the message has a CR or LF outside CRLF');
}
