/**
 * Sends the message, from the 354 to the final dot. It writes slices as fast as the peer takes them, so that neither a
 * large message nor a slow peer costs memory.
 */
import { asBuffer, WireEncoder, wireFormOf } from '../body.ts';
import type { SmtpConnection } from './connection.ts';
import type { Envelope } from './envelope.ts';
import { SmtpError } from './failure.ts';
import { bodyLimitMs, type SmtpTimeouts } from './timeouts.ts';

/** Size of one write. The next write waits until the peer's window has free space. */
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
  timeouts: Pick<SmtpTimeouts, 'blockMs'>,
): Promise<string | undefined> {
  let announce = onPhase;
  const pace = new BodyPace(connection, timeouts);
  /** Sends bytes in slices, each as `encode` returns it. Returns false when the peer has replied. */
  const send = async (bytes: Buffer, encode = (slice: Buffer) => slice): Promise<boolean> => {
    const sliceBytes = announce ? Math.min(SLICE_BYTES, Math.ceil(bytes.length / 2)) : SLICE_BYTES;
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      if (connection.hasReply) return false;
      await pace.write(encode(bytes.subarray(at, at + sliceBytes)));
      if (announce) await connection.flushed();
      announce?.('body');
      announce = undefined;
    }
    return true;
  };
  connection.send(prefix);
  if (message.inline) {
    const { bytes, end } = wireFormOf(message.inline) ?? malformed();
    return (await send(bytes)) && !connection.hasReply ? end : undefined;
  }
  const stream = new CheckedStream(message.sizeBytes);
  let fault: MalformedMessageError | undefined;
  for await (const chunk of message.chunks()) {
    // After a fault the rest is read and not sent, because the chunks may report at their end that the file is damaged.
    if (fault) continue;
    try {
      if (!(await send(asBuffer(chunk), (slice) => stream.next(slice)))) return undefined;
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error;
      fault = error;
    }
  }
  if (fault) throw fault;
  return connection.hasReply ? undefined : stream.end();
}

/** Writes a message, and ends the session of a peer that takes it too slowly. Only the waits for the peer count. */
class BodyPace {
  readonly #connection: SmtpConnection;
  readonly #timeouts: Pick<SmtpTimeouts, 'blockMs'>;
  #writtenBytes = 0;
  #waitedMs = 0;

  constructor(connection: SmtpConnection, timeouts: Pick<SmtpTimeouts, 'blockMs'>) {
    this.#connection = connection;
    this.#timeouts = timeouts;
  }

  /** @throws SmtpError */
  async write(slice: Uint8Array): Promise<void> {
    const leftMs = bodyLimitMs(this.#timeouts, this.#writtenBytes) - this.#waitedMs;
    if (leftMs <= 0) throw new SmtpError({ phase: 'body', kind: 'timeout', message: this.#describe() });
    const begunAt = this.#connection.now;
    await this.#connection.write('body', slice, Math.min(leftMs, this.#timeouts.blockMs));
    this.#waitedMs += this.#connection.now - begunAt;
    this.#writtenBytes += slice.length;
  }

  #describe(): string {
    return `the peer took ${this.#writtenBytes} bytes in ${Math.round(this.#waitedMs)} ms, which is too slow`;
  }
}

/**
 * Reports a streamed message whose length differs from the declared one, or that has a CR or LF outside CRLF. The fault
 * lies on this side, so it is not an `SmtpError`, which describes the peer.
 */
class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError';
}

/** Turns slices of a streamed message into the bytes that go over the wire. A message in memory was checked before (envelope.ts). */
class CheckedStream {
  readonly #encoder = new WireEncoder();
  #missingBytes: number;

  constructor(sizeBytes: number) {
    this.#missingBytes = sizeBytes;
  }

  /** Returns a slice as it is sent. @throws MalformedMessageError */
  next(slice: Buffer): Buffer {
    this.#missingBytes -= slice.length;
    if (this.#missingBytes < 0) throw new MalformedMessageError('the message is longer than declared');
    return this.#encoder.next(slice) ?? malformed();
  }

  /** Returns the bytes that follow the message. @throws MalformedMessageError */
  end(): string {
    if (this.#missingBytes > 0) throw new MalformedMessageError('the message is shorter than declared');
    return this.#encoder.end() ?? malformed();
  }
}

function malformed(): never {
  throw new MalformedMessageError('the message has a CR or LF outside CRLF');
}
