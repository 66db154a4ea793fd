/** What a crash left in flight, put back: at the start of the daemon, and for leases that ran out in this one. */
import { defineWrite } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { newId } from '../system/ids.ts';
import {
  changeRecipient,
  getMessage,
  insertAttempt,
  listAbandoned,
  listRecipients,
  refreshStatus,
} from './store.ts';

/** The fifth time a recipient is found in flight after a crash it is probably what crashes us (engine.md 0). */
const MOST_DOUBTS = 5;
/** Recovered mail does not all leave in the first second. */
const RECOVERY_SPREAD_MS = 5_000;

/**
 * Puts back what a crash left in flight: to be retried, its doubt counted, or held for the operator when it keeps
 * happening. Nothing is deleted.
 */
export const recoverAbandoned = defineWrite(
  'queue.recover',
  async (
    tx,
    { now, elapsed, epoch }: { now: number; elapsed: number; epoch: string },
  ): Promise<{ retried: number; held: number }> => {
    const abandoned = await listAbandoned(tx, epoch, elapsed);
    let held = 0;
    for (const [index, recipient] of abandoned.entries()) {
      const message = await getMessage(tx, recipient.messageId);
      const all = (await listRecipients(tx, message.id)).map((one) =>
        one.id === recipient.id ? recipient : one,
      );
      const doubts = recipient.doubts + 1;
      const hold = doubts >= MOST_DOUBTS;
      if (hold) held++;
      const dueAt = now + Math.round((RECOVERY_SPREAD_MS * index) / abandoned.length);
      await insertAttempt(tx, recoveredAttempt(recipient, now));
      await changeRecipient(
        tx,
        message,
        recipient,
        { state: hold ? 'held' : 'ready', doubts, epoch: null, dueAt: hold ? null : dueAt },
        { now },
      );
      await refreshStatus(tx, message, all);
    }
    return { retried: abandoned.length - held, held };
  },
);

function recoveredAttempt(recipient: RecipientRow, now: number) {
  return {
    id: newId('att', now),
    recipientId: recipient.id,
    messageId: recipient.messageId,
    tenantId: recipient.tenantId,
    at: now,
    durationMs: 0,
    outcome: 'recovered',
    phase: 'unknown',
    mx: null,
    address: null,
    tls: null,
    smtpCode: null,
    enhancedCode: null,
    reply: 'The daemon ended during this attempt',
  } as const;
}
