/**
 * DATA (RFC 5321 section 4.1.1.4), which brings the whole message up to a line with only a dot; and what it shares with BDAT: the time for
 * one message, its way to the session, and the replies to the client.
 */

import type { Clock } from '../../../../system/clock.ts';
import type { Wire } from '../../../connection/wire.ts';
import { type BodySource, MessageAbandoned, MessageBody } from '../body.ts';
import { DotDecoder } from '../dot-decoder.ts';
import type { FaultReason } from '../fault.ts';
import { formatBareReply } from '../format-reply.ts';
import type { SmtpLimits } from '../options.ts';
import type { Reply } from '../session.ts';
import {
  BAD_ARGUMENT,
  BAD_SEQUENCE,
  type Command,
  type Connection,
  endlessMessage,
  endTransaction,
  enterSlot,
  limitsOf,
  replyToError,
  sendReply,
  type Transaction,
} from './command.ts';

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

/** Refuses a message without recipients (RFC 5321 section 3.3). */
export const NO_RECIPIENTS: Reply = { code: 554, status: '5.5.1', text: 'There are no valid recipients' };

/** Lets the session take a message, and ends the transaction. The reply is sent, unless the client gave the message up. */
export async function receive(
  connection: Connection,
  source: BodySource,
  transaction: Transaction,
): Promise<void> {
  const { context } = connection;
  enterSlot(connection, 'protected');
  const body = new MessageBody(source, context.limits.messageBytes);
  try {
    const answer = await takeMessage(connection, body, transaction);
    if (body.failure instanceof MessageAbandoned) return;
    await body.discard();
    const replies = settle(connection, body, [answer].flat());
    for (const reply of repliesFor(context.options.protocol, replies, transaction))
      sendReply(connection, reply);
  } finally {
    endTransaction(connection);
  }
}

async function takeMessage(
  { context, session }: Connection,
  body: MessageBody,
  { client }: Transaction,
): Promise<Reply | readonly Reply[]> {
  try {
    return await session.data(body, client);
  } catch (error) {
    // Errors of the body come back from the session. The server has its own replies to them.
    return body.refusal || body.failure ? [] : replyToError(context, error);
  }
}

/** Returns what the client is told. A message that is not whole is never accepted. */
function settle(
  { context, counts, slot }: Connection,
  body: MessageBody,
  replies: readonly Reply[],
): readonly Reply[] {
  const { metrics } = context;
  if (body.refusal) {
    metrics.refused(body.refusal.reason);
    return [body.refusal.reply];
  }
  const accepted = replies.filter(({ code }) => code < 300).length;
  if (accepted === 0) metrics.refused('data');
  if (accepted === 0 && replies.length > 0) return replies;
  if (accepted === 0 || !body.isComplete)
    return [
      replyToError(context, new Error('a session gave no reply, or accepted a message that it has not read')),
    ];
  metrics.messageAccepted();
  slot.messageAccepted();
  Object.assign(counts, { errors: 0, idleCommands: 0, refusedRecipients: 0, deferredRecipients: 0 });
  return replies;
}

/** Returns one reply, or in LMTP one for each recipient (RFC 2033 section 4.2). */
function repliesFor(
  protocol: 'smtp' | 'lmtp',
  replies: readonly Reply[],
  { recipients }: Transaction,
): readonly Reply[] {
  const [first] = replies;
  if (!first) return [];
  if (protocol === 'smtp') return [first];
  return Array.from({ length: recipients }, (_, index) => replies[index] ?? first);
}

type DeadlineLimits = Pick<SmtpLimits, 'dataBlockMs' | 'dataMs' | 'minBytesPerSecond' | 'maxDataMs'>;

export class MessageDeadline {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #limits: () => DeadlineLimits;
  #waitedMs = 0;
  #receivedBytes = 0;

  /** Begins a message. `limits` returns the limits that hold at the time of the call. */
  constructor(clock: Pick<Clock, 'elapsed'>, limits: () => DeadlineLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Returns the next bytes of the message, at most `maxBytes`, which come in the time that is left. @throws ConnectionFault; ClientGone */
  async read(wire: Wire<FaultReason>, maxBytes?: number): Promise<Buffer> {
    const bytes = await this.wait((timeoutMs) =>
      wire.read({ timeoutMs, reason: 'slow_data', isInterruptible: false }, maxBytes),
    );
    this.#receivedBytes += bytes.length;
    return bytes;
  }

  /** Waits for the client within the time that is left. */
  async wait<Value>(receive: (timeoutMs: number) => Promise<Value>): Promise<Value> {
    const since = this.#clock.elapsed();
    const value = await receive(this.#leftMs());
    this.#waitedMs += this.#clock.elapsed() - since;
    return value;
  }

  #leftMs(): number {
    const { dataBlockMs, dataMs, minBytesPerSecond, maxDataMs } = this.#limits();
    const earnedMs = dataMs + (this.#receivedBytes / minBytesPerSecond) * 1_000;
    return Math.min(dataBlockMs, Math.min(earnedMs, maxDataMs) - this.#waitedMs);
  }
}
