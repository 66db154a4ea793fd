/** BDAT (RFC 3030 section 2): brings a message in chunks of announced size, which the session reads as one body. */
import { type BodySource, MessageAbandoned } from '../body.ts';
import { OctetCheck } from '../dot-decoder.ts';
import type { Reply } from '../session.ts';
import {
  BAD_SEQUENCE,
  type Command,
  type Connection,
  endlessMessage,
  fault,
  limitsOf,
  needsLogin,
  splitLine,
} from './command.ts';
import { MessageDeadline, NO_RECIPIENTS, receive } from './data.ts';

type Chunk = { sizeBytes: number; isLast: boolean };

const ARGUMENT = /^([0-9]{1,15})( +LAST)?$/i;
/**
 * Maximum number of chunks of a message. Clients send chunks of 64 KB and more, so that a message of the maximum size has some hundreds.
 */
const MAX_CHUNKS = 10_000;
const TOO_MANY_CHUNKS: Reply = { code: 421, status: '4.7.0', text: 'The message has too many chunks' };
/** A chunk follows at once, and nothing of a stranger's message is read. */
const NEEDS_LOGIN: Reply = { code: 530, status: '5.7.0', text: 'A login is needed first' };
/** Commands that give up a message between two chunks. Any other command is answered, and the message goes on. */
const ABANDONING = new Set(['RSET', 'HELO', 'EHLO', 'LHLO', 'STARTTLS', 'QUIT']);

export const bdat: Command = {
  group: 'within',
  async run(connection, argument) {
    const { transaction } = connection;
    if (needsLogin(connection)) fault('login_needed', NEEDS_LOGIN);
    const source = new ChunkSource(connection, parseChunk(connection, argument));
    if (!transaction || transaction.recipients === 0) {
      // The chunk follows without waiting for a reply, so it is always read.
      await source.discard();
      return transaction ? NO_RECIPIENTS : BAD_SEQUENCE;
    }
    transaction.isChunked = true;
    await receive(connection, source, transaction);
    return undefined;
  },
};

/** Returns the size of a chunk. Without it nobody knows where the next command begins, so the connection ends. */
function parseChunk({ context }: Connection, argument: string): Chunk {
  const [, digits, last] = ARGUMENT.exec(argument) ?? [];
  if (digits === undefined)
    fault('chunk_size', { code: 501, status: '5.5.4', text: 'The argument of BDAT must be a size' });
  const sizeBytes = Number(digits);
  if (sizeBytes > context.limits.messageBytes) throw endlessMessage();
  return { sizeBytes, isLast: last !== undefined };
}

class ChunkSource implements BodySource {
  readonly #connection: Connection;
  readonly #deadline: MessageDeadline;
  readonly #check = new OctetCheck();
  #chunk: Chunk;
  #leftBytes: number;
  #chunks = 1;

  constructor(connection: Connection, chunk: Chunk) {
    this.#connection = connection;
    this.#deadline = new MessageDeadline(connection.context.clock, () => limitsOf(connection));
    this.#chunk = chunk;
    this.#leftBytes = chunk.sizeBytes;
  }

  get fault() {
    return this.#check.fault;
  }

  async read(): Promise<Buffer | undefined> {
    while (this.#leftBytes === 0) {
      if (this.#chunk.isLast) {
        this.#check.end();
        return undefined;
      }
      await this.#readNextChunk();
    }
    const bytes = await this.#readBytes();
    this.#check.next(bytes);
    return bytes;
  }

  async discard(): Promise<void> {
    while (this.#leftBytes > 0) await this.#readBytes();
  }

  async #readBytes(): Promise<Buffer> {
    const bytes = await this.#deadline.read(this.#connection.wire, this.#leftBytes);
    this.#leftBytes -= bytes.length;
    return bytes;
  }

  /** Accepts a chunk and reads commands until the next one. */
  async #readNextChunk(): Promise<void> {
    const { wire, lines } = this.#connection;
    if (++this.#chunks > MAX_CHUNKS) fault('commands', TOO_MANY_CHUNKS);
    wire.hold(`250 2.0.0 ${this.#chunk.sizeBytes} octets received\r\n`);
    for (;;) {
      // A message of many small chunks has the time of any other message.
      const line = await this.#deadline.wait((timeoutMs) =>
        lines.read(Math.min(timeoutMs, limitsOf(this.#connection).commandMs)),
      );
      const { verb, argument } = splitLine(line);
      if (verb === 'BDAT') {
        this.#chunk = parseChunk(this.#connection, argument);
        this.#leftBytes = this.#chunk.sizeBytes;
        return;
      }
      if (ABANDONING.has(verb)) {
        lines.unread(line);
        throw new MessageAbandoned();
      }
      await this.#connection.runLine(line);
    }
  }
}
