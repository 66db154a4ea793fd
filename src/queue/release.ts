/**
 * Puts back the mail that a stopping daemon has claimed and not sent, so that the next start sends it. Unlike a crash
 * (recover.ts), a clean stop adds no interrupted attempt: stopping five times in a row must not hold mail. Suspects
 * wait for their trials.
 */
import { defineWrite } from '../db/operation.ts';
import { releasedDueAt } from './held/suspect.ts';
import { changeRecipient, getMessage, listInFlight, listRecipients, refreshStatus } from './store.ts';

export type Release = {
  now: number;
  runId: string;
  /** Ids of recipients whose mail is being sent. Their outcome is not known. */
  sending: readonly string[];
};

/**
 * Makes claimed recipients due again that are not being sent. Their attempt stays counted, because `email.sent` has
 * already reported it. Returns the number of recipients.
 */
export const releaseUnsent = defineWrite(
  'queue.release',
  async (tx, { now, runId, sending }: Release): Promise<number> => {
    const isSending = new Set(sending);
    const unsent = (await listInFlight(tx, runId)).filter(({ id }) => !isSending.has(id));
    for (const { id, messageId } of unsent) {
      const message = await getMessage(tx, messageId);
      const all = await listRecipients(tx, messageId);
      const recipient = all.find((one) => one.id === id);
      if (!recipient) continue;
      const patch = {
        state: 'ready',
        runId: null,
        dueAt: releasedDueAt(recipient.interruptedAttempts, now),
      } as const;
      await changeRecipient(tx, message, recipient, patch, { now });
      await refreshStatus(tx, message, all);
    }
    return unsent.length;
  },
);
