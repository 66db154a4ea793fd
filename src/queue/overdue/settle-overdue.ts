/** Ends mail that has expired while it waited without being claimed, and records that other mail is delayed. */
import { defineWrite } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import { evaluateBounce, notifyOfBounce, notifyOfDelay } from '../bounce.ts';
import { getMail } from '../mail-store.ts';
import { NO_REPORT, type Report } from '../outcome/outcome.ts';
import type { Meaning } from '../outcome/replies/meaning.ts';
import { type Change, changeRecipients } from '../state/change.ts';

/** Time for which mail is left alone after it has become due or has expired, in milliseconds: its last attempt is made then. */
export const OVERDUE_MS = 10 * 60_000;

const NOT_TRIED = 'Not tried yet: the receiving servers get a pause, or all the mail that their limits allow';

type Settling = {
  /** Messages with the recipients of which something is due. */
  mail: readonly { messageId: string; recipientIds: readonly RecipientRow['id'][] }[];
  /** The meaning of a bounce of expired mail. */
  expired: Meaning;
  now: number;
};

/** Returns true when mail has expired long enough ago. */
export function isExpired({ expiresAt }: { expiresAt: number }, now: number): boolean {
  return now >= expiresAt + OVERDUE_MS;
}

/** Returns the number of recipients that have ended. Recipients that were claimed meanwhile are left alone. */
export const settleOverdue = defineWrite(
  'queue.settleOverdue',
  async (tx, { mail, expired, now }: Settling): Promise<number> => {
    let ended = 0;
    for (const { messageId, recipientIds } of mail) {
      const whole = await getMail(tx, messageId);
      const isOver = isExpired(whole.message, now);
      const changes: Change[] = [];
      for (const recipient of whole.recipients.filter((one) => isOverdue(one, recipientIds, now))) {
        if (!isOver) {
          changes.push({
            recipient,
            transition: { cause: 'overdue', diagnostic: recipient.diagnostic ?? NOT_TRIED },
          });
          continue;
        }
        const report = expiredReport(recipient);
        const bounce = await evaluateBounce(tx, whole.message, { recipient, report, meaning: expired, now });
        changes.push({ recipient, transition: { cause: 'bounced', report, meaning: expired, bounce } });
        ended++;
      }
      if (changes.length === 0) continue;
      await changeRecipients(tx, whole, { now, changes });
      await notifyOfBounce(tx, changes, now);
      await notifyOfDelay(tx, whole.message, { changes, now });
    }
    return ended;
  },
  { priority: 'bulk' },
);

function isOverdue(
  { id, state, dueAt }: RecipientRow,
  ids: readonly RecipientRow['id'][],
  now: number,
): boolean {
  const waits = state === 'ready' || state === 'deferred';
  return waits && dueAt !== null && dueAt <= now - OVERDUE_MS && ids.includes(id);
}

/** X.4.7 says that time has run out (RFC 3463 section 3.5). The last reply stays in the text. */
function expiredReport({ diagnostic, smtpCode, mx }: RecipientRow): Report {
  const last = diagnostic === null ? NOT_TRIED : `Last: ${diagnostic}`;
  return { ...NO_REPORT, mx, smtpCode, phase: 'local', enhancedCode: '4.4.7', text: `Expired. ${last}` };
}
