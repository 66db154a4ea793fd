/**
 * Starts trials. Suspects become due one after the other, so that a crash identifies its cause. suspect.ts states the
 * rule and its bounds.
 */
import type { App } from '../../app.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { Work } from '../../system/worker.ts';
import { changeRecipient, getMessage, listRecipients } from '../store.ts';
import { findMaxInterruptedOnTrial, findWaitingSuspect, listDueSuspects } from './store.ts';
import { isSuspect, LONE_TRIAL_FROM_INTERRUPTIONS } from './suspect.ts';

/**
 * Time that a suspect with two interrupted attempts waits for the trial before it, whose host may hang. Most crashes
 * come sooner. Our own limit.
 */
const TRIAL_MS = 30_000;

/**
 * Makes the suspect with the fewest interrupted attempts due, so that mail which was interrupted by chance leaves
 * first. The recipients that share its message, its queue and its interrupted attempts become due with it. Returns
 * the number of recipients that became due.
 */
export const startTrial = defineWrite(
  'queue.startTrial',
  async (tx, { now }: { now: number }): Promise<number> => {
    const suspect = await findWaitingSuspect(tx);
    if (!suspect) return 0;
    const message = await getMessage(tx, suspect.messageId);
    const recipients = (await listRecipients(tx, message.id)).filter(
      ({ queue, interruptedAttempts, state, dueAt }) =>
        queue === suspect.queue &&
        interruptedAttempts === suspect.interruptedAttempts &&
        state === 'ready' &&
        dueAt === null,
    );
    for (const recipient of recipients)
      await changeRecipient(tx, message, recipient, { dueAt: now }, { now });
    return recipients.length;
  },
);

/**
 * Ends the trials that an earlier start of the daemon began and whose mail it had not claimed, so that this start
 * begins them one by one. A data directory of an earlier version may hold many suspects that are due at once.
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

/**
 * Returns true when the next suspect's trial may begin: at once when no trial runs, beside another trial by the rule
 * of suspect.ts.
 */
async function mayStart(db: Tx, hasLasted: boolean): Promise<boolean> {
  const suspect = await findWaitingSuspect(db);
  if (!suspect) return false;
  const maxOnTrial = await findMaxInterruptedOnTrial(db);
  if (maxOnTrial === undefined) return true;
  return hasLasted && Math.max(suspect.interruptedAttempts, maxOnTrial) < LONE_TRIAL_FROM_INTERRUPTIONS;
}

/**
 * Returns the background work that starts trials. The wake-up `suspects` announces that a suspect was settled or
 * released.
 */
export function createTrialWork({
  db,
  clock,
  wakeups,
}: Pick<App, 'db' | 'clock' | 'wakeups'>): Work<'trial'> {
  /** Time on the monotonic clock from which the next trial may run beside the last one, in milliseconds. */
  let besideFrom = 0;
  return {
    name: 'queue trials',
    wakeOn: ['suspects'],
    concurrency: 1,
    lease: async () => ((await mayStart(db.read, clock.elapsed() >= besideFrom)) ? ['trial'] : []),
    async run() {
      await db.commit(startTrial, { now: clock.now() });
      besideFrom = clock.elapsed() + TRIAL_MS;
      wakeups.notify('queue');
    },
    async nextDueAt() {
      if (clock.elapsed() >= besideFrom || !(await findWaitingSuspect(db.read))) return undefined;
      return clock.now() + besideFrom - clock.elapsed();
    },
  };
}
