/**
 * Finds the commands in the bytes of a client: lines, and the literals in them (RFC 9051 section 4.3, RFC 7888). A command
 * is returned as its bytes, which `parser/cursor.ts` reads. The messages of APPEND and REPLACE are not held in memory: such a command
 * is returned up to the announcement of its message, and the message is read as a stream.
 *
 * A command that is too large is read to its end as far as the client sends it anyway, and its beginning is kept.
 */

import { type LineSource, MAX_KEPT_OCTETS, readLine, withoutLineEnd } from '../access/read-line.ts';
import { Pieces, readTogether, unpooled } from '../connection/pieces.ts';

/** Bytes of a client. */
export type ByteSource = {
  /** Returns at least one byte, of a command or of a message. Rejects when no more will come. */
  read(purpose: 'command' | 'message'): Promise<Buffer>;
  /** Gives back bytes, which are the next ones that are read. */
  unread(bytes: Buffer): void;
  /** Asks for a synchronising literal, with a continuation request. */
  requestLiteral(): void;
};

export type FramingLimits = {
  /** Maximum size of a command with the literals in it, except messages. */
  commandBytes: number;
  /** Maximum size of a literal in a command. */
  literalBytes: number;
};

/** `sizeBytes` may be larger than what a number holds exactly, but is then refused by any limit. */
export type Literal = {
  sizeBytes: number;
  /** The client waits until the server asks for the literal. */
  isSynchronizing: boolean;
  /** The literal may have NUL (`~{n}`, RFC 9051 section 4.3). */
  isBinary: boolean;
};

/**
 * `bytes` is without the CRLF at the end. That of a refused command is its beginning, and `literalBytes` the size of the literal in it
 * that is too large.
 */
export type FramedCommand =
  | { kind: 'complete'; bytes: Buffer }
  | { kind: 'too large'; bytes: Buffer; literalBytes?: number | undefined }
  | { kind: 'message'; bytes: Buffer; literal: Literal };

/** Announcement of a literal at the end of a line. */
const ANNOUNCEMENT = /(~?)\{(\d{1,20})(\+?)\}$/;
/** Matches APPEND and REPLACE with more than the announcement of their mailbox name, so that a message comes next. */
const BEFORE_MESSAGE = /^[^ ]+ +(?:APPEND|(?:UID +)?REPLACE +[^ ]+) +(?! |~?\{\d+\+?\}$)/is;
/** Number of octets in which such a command and its mailbox name begin. A tag that is longer makes the message a literal like any other. */
const MAX_PREFIX_OCTETS = 4_096;

type Line = { bytes: Buffer; literal: Literal | undefined; isTooLong: boolean };

export class Framing {
  readonly #source: ByteSource;
  readonly #lines: LineSource;
  /** Literal that was announced for a message, and the part of it that was not read yet. */
  #message: { literal: Literal; leftBytes: number; isRequested: boolean } | undefined;

  constructor(source: ByteSource) {
    this.#source = source;
    this.#lines = { read: () => source.read('command'), unread: (bytes) => source.unread(bytes) };
  }

  /** The message that was announced, until its command goes on. */
  get message(): Literal | undefined {
    return this.#message?.literal;
  }

  /** Returns the next command. A message that was announced before must have been read or skipped. */
  async readCommand(limits: FramingLimits): Promise<FramedCommand> {
    return await this.#readUntilMessage(limits, (bytes) =>
      BEFORE_MESSAGE.test(bytes.toString('latin1', 0, MAX_PREFIX_OCTETS)),
    );
  }

  /** Returns what follows a message in its command, up to the next message or to the end. */
  async continueCommand(limits: FramingLimits): Promise<FramedCommand> {
    this.#message = undefined;
    return await this.#readUntilMessage(limits, () => true);
  }

  /** Returns a line without its CRLF, such as the answer of a client to a continuation request; undefined when it is too long. */
  async readLine(maxBytes: number): Promise<Buffer | undefined> {
    const line = await this.#readLine(maxBytes);
    return line.isTooLong ? undefined : line.bytes;
  }

  /** Returns the bytes of the message that was announced. The client is asked for them when the first one is read. */
  async *readMessage(): AsyncGenerator<Buffer, void, undefined> {
    const message = this.#message;
    if (message && !message.isRequested) this.#request(message);
    const next = async () => {
      if (!message || message.leftBytes === 0) return undefined;
      const chunk = await this.#take(message.leftBytes);
      message.leftBytes -= chunk.length;
      return chunk;
    };
    for (let octets = await readTogether(next); octets; octets = await readTogether(next)) yield octets;
  }

  /**
   * Reads a command that was refused to its end: the rest of a message, what follows it, and whatever the client sends without
   * being asked.
   */
  async skipCommand(): Promise<void> {
    while (this.#message) {
      const { literal, isRequested, leftBytes } = this.#message;
      // The client was not asked for the literal, and has sent nothing after its announcement.
      if (literal.isSynchronizing && !isRequested) {
        this.#message = undefined;
        return;
      }
      await this.#discard(leftBytes);
      const rest = await this.continueCommand({ commandBytes: MAX_KEPT_OCTETS, literalBytes: 0 });
      if (rest.kind !== 'message') return;
    }
  }

  async #readUntilMessage(
    limits: FramingLimits,
    isBeforeMessage: (bytes: Buffer) => boolean,
  ): Promise<FramedCommand> {
    const kept = new Pieces();
    let isTooLarge = false;
    let literalBytes: number | undefined;
    for (let literals = 0; ; literals++) {
      const line = await this.#readLine(isTooLarge ? 0 : limits.commandBytes - kept.sizeBytes);
      isTooLarge ||= line.isTooLong;
      kept.add(line.bytes);
      const { literal } = line;
      if (!literal) return isTooLarge ? refused(kept, literalBytes) : complete(kept);
      if (!isTooLarge && literals < LITERALS_BEFORE_MESSAGE && isBeforeMessage(kept.join())) {
        this.#message = { literal, leftBytes: literal.sizeBytes, isRequested: false };
        return { kind: 'message', bytes: kept.join(), literal };
      }
      const maxBytes = Math.min(limits.literalBytes, limits.commandBytes - kept.sizeBytes);
      if (!isTooLarge && literal.sizeBytes > maxBytes) literalBytes = literal.sizeBytes;
      isTooLarge ||= literal.sizeBytes > maxBytes;
      if (isTooLarge && literal.isSynchronizing) return refused(kept, literalBytes);
      if (isTooLarge) await this.#discard(literal.sizeBytes);
      else await this.#keepLiteral(literal, kept);
    }
  }

  async #keepLiteral(literal: Literal, kept: Pieces): Promise<void> {
    if (literal.isSynchronizing) this.#source.requestLiteral();
    kept.add(CRLF);
    for (let left = literal.sizeBytes; left > 0; ) {
      const chunk = await this.#take(left);
      left -= chunk.length;
      kept.add(chunk);
    }
  }

  #request(message: { literal: Literal; isRequested: boolean }): void {
    message.isRequested = true;
    if (message.literal.isSynchronizing) this.#source.requestLiteral();
  }

  async #readLine(maxBytes: number): Promise<Line> {
    const { bytes, tail, isTooLong } = await readLine(this.#lines, maxBytes);
    return { bytes, literal: literalAtEnd(tail), isTooLong };
  }

  async #take(maxBytes: number): Promise<Buffer> {
    const chunk = await this.#source.read('message');
    if (chunk.length <= maxBytes) return chunk;
    this.#source.unread(chunk.subarray(maxBytes));
    return chunk.subarray(0, maxBytes);
  }

  async #discard(sizeBytes: number): Promise<void> {
    for (let left = sizeBytes; left > 0; ) left -= (await this.#take(left)).length;
  }
}

const CRLF = Buffer.from('\r\n');
/** Number of literals that can come before the first message: the name of the mailbox. */
const LITERALS_BEFORE_MESSAGE = 2;

function refused(kept: Pieces, literalBytes: number | undefined): FramedCommand {
  return { kind: 'too large', bytes: kept.join().subarray(0, MAX_KEPT_OCTETS), literalBytes };
}

function complete(kept: Pieces): FramedCommand {
  // IDLE runs for hours.
  return { kind: 'complete', bytes: unpooled(kept.join()) };
}

function literalAtEnd(tail: Buffer): Literal | undefined {
  const match = ANNOUNCEMENT.exec(withoutLineEnd(tail).toString('latin1'));
  if (!match) return undefined;
  return { isBinary: match[1] === '~', sizeBytes: Number(match[2]), isSynchronizing: match[3] === '' };
}
