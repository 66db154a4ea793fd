/** DATA (RFC 5321 section 4.1.1.4): brings the whole message, up to a line with only a dot. */
import type { Wire } from '../../../connection/wire.ts';
import type { BodySource } from '../body.ts';
import { DotDecoder } from '../dot-decoder.ts';
import type { FaultReason } from '../fault.ts';
import { formatBareReply } from '../format-reply.ts';
import { MessageDeadline } from '../message-deadline.ts';
import {
  BAD_ARGUMENT,
  BAD_SEQUENCE,
  type Command,
  type Connection,
  endlessMessage,
  limitsOf,
} from './command.ts';
import { NO_RECIPIENTS, receive } from './receive.ts';

const GO_AHEAD = formatBareReply(354, ['End the message with a dot on a line by itself']);

export const data: Command = {
  async run(connection, argument) {
    const { transaction } = connection;
    if (argument !== '') return BAD_ARGUMENT;
    if (!transaction || transaction.isChunked) return BAD_SEQUENCE;
    if (transaction.recipients === 0) return NO_RECIPIENTS;
    await receive(connection, new DotSource(connection), transaction);
    return undefined;
  },
  group: 'last',
};

class DotSource implements BodySource {
  readonly #wire: Wire<FaultReason>;
  readonly #deadline: MessageDeadline;
  readonly #decoder = new DotDecoder();
  readonly #maxDiscardedBytes: number;
  #hasBegun = false;

  constructor(connection: Connection) {
    const { context, wire } = connection;
    this.#wire = wire;
    this.#deadline = new MessageDeadline(context.clock, () => limitsOf(connection));
    this.#maxDiscardedBytes = context.limits.messageBytes;
  }

  get fault() {
    return this.#decoder.fault;
  }

  async read(): Promise<Buffer | undefined> {
    if (!this.#hasBegun) this.#wire.send(GO_AHEAD);
    this.#hasBegun = true;
    if (this.#decoder.excessBytes !== undefined) return undefined;
    const chunk = await this.#deadline.read(this.#wire);
    const piece = this.#decoder.next(chunk);
    const { excessBytes } = this.#decoder;
    if (excessBytes) this.#wire.unread(chunk.subarray(chunk.length - excessBytes));
    return piece;
  }

  async discard(): Promise<void> {
    // Without a 354 the client sends no message.
    if (!this.#hasBegun) return;
    let discardedBytes = 0;
    for (let piece = await this.read(); piece; piece = await this.read()) {
      discardedBytes += piece.length;
      if (discardedBytes > this.#maxDiscardedBytes) throw endlessMessage();
    }
  }
}
