/** The messages of APPEND, which the thread of the account pulls piece by piece from the thread of the connection. */
import type { AppendMessage } from '../../mail/imap/session.ts';
import { CONTENT_BYTES, type Pulled } from './remote-messages.ts';

/** Reads messages in the order in which the other side asks for them. */
export class AppendSource {
  /** The error that ended the reading. */
  failure: unknown;
  readonly #messages: AsyncIterator<AppendMessage>;
  #content: AsyncIterator<Buffer> | undefined;

  constructor(messages: AsyncIterable<AppendMessage>) {
    this.#messages = messages[Symbol.asyncIterator]();
  }

  /** Returns the next message, which ends the one before, or more content of the message. */
  async pull(what: 'message' | 'content'): Promise<Pulled> {
    try {
      return what === 'message' ? await this.#nextMessage() : await this.#nextContent();
    } catch (error) {
      this.failure = error;
      return { kind: 'failed' };
    }
  }

  /** Ends the reading of what nobody has asked for. */
  async close(): Promise<void> {
    await this.#endContent();
    await this.#messages.return?.();
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
    for (let sizeBytes = 0; sizeBytes < CONTENT_BYTES; ) {
      const next = await this.#content?.next();
      if (!next || next.done) {
        this.#content = undefined;
        return { kind: 'content', bytes: join(pieces), isLast: true };
      }
      pieces.push(next.value);
      sizeBytes += next.value.length;
    }
    return { kind: 'content', bytes: join(pieces), isLast: false };
  }

  async #endContent(): Promise<void> {
    const content = this.#content;
    this.#content = undefined;
    await content?.return?.();
  }
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
