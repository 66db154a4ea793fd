/**
 * Trials make suspects (suspect.ts) due one at a time, so that a crash points at one of them. Other mail is delivered
 * beside a trial and may still crash the daemon; it then becomes a suspect itself before it can cause another one to be
 * held.
 */
import type { App } from '../../app.ts';
import { defineWrite } from '../../db/operation.ts';
import type { Work } from '../../system/worker.ts';
import { changeRecipient, getMessage, listRecipients } from '../store.ts';
import { findWaitingSuspect, hasTrial, listDueSuspects } from './store.ts';
import { isSuspect } from './suspect.ts';

/** Maximum time that the next suspect waits for one whose host hangs, in milliseconds. A crash usually comes sooner. */
const TRIAL_MS = 30_000;

/**
 * Makes one suspect due: the one with the fewest doubts, so that mail which was interrupted by chance leaves first. The
 * recipients that share its message and its lane become due with it. Returns how many became due.
 */
export const startTrial = defineWrite(
  'queue.startTrial',
  async (tx, { now }: { now: number }): Promise<number> => {
    const suspect = await findWaitingSuspect(tx);
    if (!suspect) return 0;
    const message = await getMessage(tx, suspect.messageId);
    const recipients = (await listRecipients(tx, message.id)).filter(
      (one) => one.lane === suspect.lane && one.state === 'ready' && one.dueAt === null && isSuspect(one),
    );
    for (const recipient of recipients)
      await changeRecipient(tx, message, recipient, { dueAt: now }, { now });
    return recipients.length;
  },
);

/**
 * Ends the trials that an earlier start of the daemon began and whose mail it had not claimed, so that this start begins
 * them one by one. A data directory of an earlier version may hold many suspects that are due at once.
 */
export const withdrawTrials = defineWrite(
  'queue.withdrawTrials',
  async (tx, { now }: { now: number }): Promise<void> => {
    for (const messageId of await listDueSuspects(tx)) {
      const message = await getMessage(tx, messageId);
      for (const recipient of await listRecipients(tx, messageId)) {
        const isDue = recipient.state === 'ready' && recipient.dueAt !== null;
        if (isDue && isSuspect(recipient))
          await changeRecipient(tx, message, recipient, { dueAt: null }, { now });
      }
    }
  },
);

/** Starts the next trial when the last one has been settled or has lasted `TRIAL_MS`. */
export function createTrialWork({
  db,
  clock,
  notices,
}: Pick<App, 'db' | 'clock' | 'notices'>): Work<'trial'> {
  /**
   * End of the current trial, on the monotonic clock. An earlier start of the daemon may have left a trial unfinished.
   */
  let lastsUntil = clock.elapsed() + TRIAL_MS;
  return {
    name: 'queue trials',
    wakeOn: ['suspects'],
    concurrency: 1,
    async lease() {
      if (!(await findWaitingSuspect(db.read))) return [];
      const isOnTrial = clock.elapsed() < lastsUntil && (await hasTrial(db.read));
      return isOnTrial ? [] : ['trial'];
    },
    async run() {
      await db.commit(startTrial, { now: clock.now() });
      lastsUntil = clock.elapsed() + TRIAL_MS;
      notices.notify('queue');
    },
    async nextDueAt() {
      if (!(await findWaitingSuspect(db.read))) return undefined;
      return clock.now() + lastsUntil - clock.elapsed();
    },
  };
}
