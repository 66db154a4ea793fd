/**
 * Mail that a daemon that stops had taken and did not send, put back for the next start. Nobody is in doubt about it, as
 * after a crash (recover.ts): stopping five times in a row must not hold it.
 */
import { defineWrite } from '../db/operation.ts';
import { changeRecipient, getMessage, listInFlight, listRecipients, refreshStatus } from './store.ts';

export type Release = {
  now: number;
  epoch: string;
  /** Recipients whose mail is on the wire: what became of it is not known. */
  sending: readonly string[];
};

/** The attempt stays counted, for it has been told (`email.sent`). Answers with the number of recipients. */
export const releaseUnsent = defineWrite(
  'queue.release',
  async (tx, { now, epoch, sending }: Release): Promise<number> => {
    const isSending = new Set(sending);
    const unsent = (await listInFlight(tx, epoch)).filter(({ id }) => !isSending.has(id));
    for (const { id, messageId } of unsent) {
      const message = await getMessage(tx, messageId);
      const all = await listRecipients(tx, messageId);
      const recipient = all.find((one) => one.id === id);
      if (!recipient) continue;
      await changeRecipient(tx, message, recipient, { state: 'ready', epoch: null, dueAt: now }, { now });
      await refreshStatus(tx, message, all);
    }
    return unsent.length;
  },
);
