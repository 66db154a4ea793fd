/**
 * Puts back the mail that a stopping daemon has claimed and not sent, so that the next start sends it. A clean stop adds no
 * doubt, unlike a crash (recover.ts): stopping five times in a row must not hold mail. Suspects wait for their trials.
 */
import { defineWrite } from '../db/operation.ts';
import { releasedDueAt } from './held/suspect.ts';
import { changeRecipient, getMessage, listInFlight, listRecipients, refreshStatus } from './store.ts';

export type Release = {
  now: number;
  runId: string;
  /** Recipients whose mail is on the wire: what became of it is not known. */
  sending: readonly string[];
};

/** The attempt stays counted, for it has been told (`email.sent`). Answers with the number of recipients. */
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
