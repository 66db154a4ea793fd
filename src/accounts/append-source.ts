/**
 * The messages of APPEND, which the thread of the account pulls from the thread of the connection. What the client sends without
 * being asked goes along, up to a size, because each message between threads costs more than a small mail.
 */
import type { AppendMessage, MessagePart } from '../mail/imap/session.ts';
import { CONTENT_BYTES, type Pulled } from './remote-messages.ts';

/** Maximum number of parts that go along. Our own limit. */
const MAX_PARTS = 64;

/** Reads messages in the order in which the other side asks for them. */
export class AppendSource {
  /** The error that ended the reading. */
  failure: unknown;
  readonly #messages: AsyncIterator<AppendMessage>;
  #content: AsyncIterator<Buffer | MessagePart> | undefined;
  /** The part that was announced behind the content that was read last. */
  #announced: MessagePart | undefined;

  constructor(messages: AsyncIterable<AppendMessage>) {
    this.#messages = messages[Symbol.asyncIterator]();
  }

  /** Returns the next message, which ends the one before, or more content of the message; and what follows unasked. */
  async pull(what: 'message' | 'content'): Promise<Pulled[]> {
    const parts: Pulled[] = [];
    let sizeBytes = 0;
    for (let next: typeof what | undefined = what; next !== undefined && parts.length < MAX_PARTS; ) {
      const part = await this.#read(next);
      parts.push(part);
      if (part.kind === 'content') sizeBytes += part.bytes.length;
      next = whatFollows(part, CONTENT_BYTES - sizeBytes);
    }
    return parts;
  }

  /** Ends the reading of what nobody has asked for. */
  async close(): Promise<void> {
    await this.#endContent();
    await this.#messages.return?.();
  }

  async #read(what: 'message' | 'content'): Promise<Pulled> {
    try {
      return what === 'message' ? await this.#nextMessage() : await this.#nextContent();
    } catch (error) {
      this.failure = error;
      return { kind: 'failed' };
    }
  }

  async #nextMessage(): Promise<Pulled> {
    await this.#endContent();
    const next = await this.#messages.next();
    if (next.done) return { kind: 'end' };
    const { content, ...message } = next.value;
    // The client is asked for the content when its iterator is first used, which is not here.
    this.#content = content[Symbol.asyncIterator]();
    return { kind: 'message', message };
  }

  async #nextContent(): Promise<Pulled> {
    const pieces: Buffer[] = [];
    for (let sizeBytes = 0; sizeBytes < CONTENT_BYTES && !this.#announced; ) {
      const next = await this.#content?.next();
      if (!next || next.done) {
        this.#content = undefined;
        return { kind: 'content', bytes: join(pieces), isLast: true };
      }
      const piece = next.value;
      if (Buffer.isBuffer(piece)) {
        pieces.push(piece);
        sizeBytes += piece.length;
      } else this.#announced = piece;
    }
    const part = pieces.length === 0 ? this.#announced : undefined;
    if (!part) return { kind: 'content', bytes: join(pieces), isLast: false };
    // The client is asked for what follows once the account has accepted the part.
    this.#announced = undefined;
    return { kind: 'part', part };
  }

  async #endContent(): Promise<void> {
    const content = this.#content;
    this.#content = undefined;
    this.#announced = undefined;
    await content?.return?.();
  }
}

/** Returns what the client sends unasked after a part, if it has at most this size; undefined for nothing. */
function whatFollows(part: Pulled, maxBytes: number): 'message' | 'content' | undefined {
  if (part.kind === 'message' && !part.message.isSynchronizing && part.message.sizeBytes <= maxBytes)
    return 'content';
  return part.kind === 'content' && part.isLast ? 'message' : undefined;
}

/** Returns the bytes of all pieces, in memory that can move to another thread. */
function join(pieces: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}
