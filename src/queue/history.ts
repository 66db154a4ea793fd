/**
 * Reads what was tried for a message: every attempt with its outcome, and what was said in the SMTP sessions of attempts that did not deliver.
 * It shows envelopes and the replies of servers, never subjects or content.
 */
import type { Tx } from '../db/operation.ts';
import type { MessageRow, RecipientRow } from '../db/tables.ts';
import { isoTime } from '../system/clock.ts';
import { listAttempts } from './attempts-store.ts';
import { decodeLines } from './conversation/lines.ts';
import { listConversations } from './conversation/store.ts';

type Subject = Pick<MessageRow, 'id' | 'tenantId'> & {
  recipients: readonly Pick<RecipientRow, 'id' | 'address'>[];
};

/** Returns the attempts of a message and the conversations of those of the last week that did not deliver, the oldest first. */
export async function readHistory(tx: Tx, { id, tenantId, recipients }: Subject) {
  const addressOf = new Map(recipients.map((recipient) => [recipient.id, recipient.address]));
  const attempts = await listAttempts(tx, id);
  const conversations = await listConversations(tx, tenantId, id);
  return {
    attempts: attempts.map((attempt) => ({
      at: isoTime(attempt.at),
      to: addressOf.get(attempt.recipientId) ?? '',
      outcome: attempt.outcome,
      phase: attempt.phase,
      mx: attempt.mx,
      address: attempt.address,
      tls: attempt.tls,
      durationMs: attempt.durationMs,
      reply: attempt.reply,
    })),
    conversations: conversations.map(({ at, site, lines }) => ({
      at: isoTime(at),
      site,
      lines: decodeLines(lines),
    })),
  };
}
