/** Reads the parts of a message that APPEND or REPLACE puts together (RFC 4469 section 5, RFC 6855 section 4). */
import { bad, CommandError } from '../command-error.ts';
import type { Connection } from '../connection-state.ts';
import type { Literal } from '../framing.ts';
import { MAX_URL_OCTETS } from '../message-url.ts';
import { Cursor } from '../parser/cursor.ts';
import type { MessagePart } from '../session.ts';
import { framingLimits } from './command.ts';

export class Catenation {
  /** Stands behind the parts that were read. */
  cursor: Cursor;
  isComplete = false;
  readonly #connection: Connection;
  #textBytes = 0;

  /** Begins at a cursor that stands before the first part. */
  constructor(connection: Connection, cursor: Cursor) {
    this.#connection = connection;
    this.cursor = cursor;
  }

  /**
   * Yields the parts. A text is announced before the client is asked for its octets, which follow.
   * @throws CommandError when the parts are malformed, or their texts too large
   */
  async *read(): AsyncGenerator<Buffer | MessagePart, void, undefined> {
    for (;;) {
      const isUtf8 = this.cursor.skip('UTF8 ');
      if (isUtf8) this.cursor.expect('(');
      if (isUtf8 || this.cursor.skip('TEXT ')) {
        yield* this.#readText();
        if (isUtf8) this.cursor.expect(')');
      } else {
        this.cursor.expect('URL ');
        yield { kind: 'url', url: await this.#readUrl() };
      }
      if (this.cursor.skip(')')) break;
      this.cursor.space();
    }
    this.isComplete = true;
  }

  async *#readText(): AsyncGenerator<Buffer | MessagePart, void, undefined> {
    const { framing, context } = this.#connection;
    const { sizeBytes, isBinary } = this.#literal();
    const { messageBytes } = context.limits;
    this.#textBytes += sizeBytes;
    if (this.#textBytes > messageBytes)
      throw new CommandError('NO', `A message has at most ${messageBytes} octets`, 'TOOBIG');
    yield { kind: 'text', sizeBytes, isBinary };
    yield* framing.readMessage();
    this.cursor = await continueAt(this.#connection);
  }

  /** A URL may be a literal, too, which the framing takes for a message. */
  async #readUrl(): Promise<string> {
    if (!this.cursor.isAtAnnouncement) return this.cursor.astring();
    if (this.#literal().sizeBytes > MAX_URL_OCTETS)
      bad(`A URL has at most ${MAX_URL_OCTETS} octets`, 'LIMIT');
    const pieces: Buffer[] = [];
    for await (const piece of this.#connection.framing.readMessage()) pieces.push(piece);
    this.cursor = await continueAt(this.#connection);
    return Buffer.concat(pieces).toString();
  }

  #literal(): Literal {
    this.cursor.announcement();
    return this.#connection.framing.message ?? bad('A text is a literal');
  }
}

/** Returns a cursor on what follows a literal in its command, up to the next one. */
export async function continueAt(connection: Connection): Promise<Cursor> {
  const next = await connection.framing.continueCommand(framingLimits(connection));
  if (next.kind === 'too large') bad('The command is too large', 'LIMIT');
  return new Cursor(next.bytes);
}
