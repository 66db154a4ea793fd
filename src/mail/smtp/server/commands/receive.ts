/** Gives a message to the session, and the reply to the client. DATA and BDAT share this. */
import { type BodySource, MessageAbandoned, MessageBody } from '../body.ts';
import type { Reply } from '../session.ts';
import {
  type Connection,
  endTransaction,
  enterSlot,
  replyToError,
  sendReply,
  type Transaction,
} from './command.ts';

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
