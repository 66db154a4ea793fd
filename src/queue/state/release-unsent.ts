/**
 * Puts back the mail that a stopping daemon has claimed and not sent, so that the next start sends it. Unlike a crash
 * (recover.ts), a clean stop adds no interrupted attempt: stopping five times in a row must not hold mail. Suspects
 * wait for their trials.
 */
import { defineWrite } from '../../db/operation.ts';
import { listInFlight } from '../store.ts';
import { changeRecipients, getMail } from './change.ts';

type Release = {
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
    const unsentIds = new Set(unsent.map(({ id }) => id));
    for (const messageId of new Set(unsent.map((recipient) => recipient.messageId))) {
      const mail = await getMail(tx, messageId);
      const changes = mail.recipients
        .filter(({ id }) => unsentIds.has(id))
        .map((recipient) => ({ recipient, transition: { cause: 'unsent', dueAt: now } }) as const);
      await changeRecipients(tx, mail, { now, changes });
    }
    return unsent.length;
  },
);
