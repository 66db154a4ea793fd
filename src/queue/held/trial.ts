/**
 * Starts trials. Suspects become due one after the other, so that a crash identifies its cause. suspect.ts states the
 * rule and its bounds.
 */
import type { App } from '../../app.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { Work } from '../../system/worker.ts';
import { getMail } from '../mail-store.ts';
import { changeRecipients } from '../state/change.ts';
import { isSuspect, LONE_TRIAL_FROM_INTERRUPTIONS } from '../state/suspect.ts';
import { findMaxInterruptedOnTrial, findWaitingSuspect, listDueSuspects } from './store.ts';

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
    const mail = await getMail(tx, suspect.messageId);
    const recipients = mail.recipients.filter(
      ({ queue, interruptedAttempts, state, dueAt }) =>
        queue === suspect.queue &&
        interruptedAttempts === suspect.interruptedAttempts &&
        state === 'ready' &&
        dueAt === null,
    );
    const transition = { cause: 'trial-begun', dueAt: now } as const;
    const changes = recipients.map((recipient) => ({ recipient, transition }));
    await changeRecipients(tx, mail, { now, changes });
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
      const mail = await getMail(tx, messageId);
      const changes = mail.recipients
        .filter(
          (recipient) => recipient.state === 'ready' && recipient.dueAt !== null && isSuspect(recipient),
        )
        .map((recipient) => ({ recipient, transition: { cause: 'trial-withdrawn' } }) as const);
      await changeRecipients(tx, mail, { now, changes });
    }
  },
);

/**
 * Says whether the next suspect's trial may begin: `now` when no trial runs, `beside` another trial by the rule of
 * suspect.ts, `later` when the trials that run must end first. Undefined when no suspect waits.
 */
async function judgeNextTrial(db: Tx): Promise<'now' | 'beside' | 'later' | undefined> {
  const suspect = await findWaitingSuspect(db);
  if (!suspect) return undefined;
  const maxOnTrial = await findMaxInterruptedOnTrial(db);
  if (maxOnTrial === undefined) return 'now';
  const isBeside = Math.max(suspect.interruptedAttempts, maxOnTrial) < LONE_TRIAL_FROM_INTERRUPTIONS;
  return isBeside ? 'beside' : 'later';
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
    async lease() {
      const next = await judgeNextTrial(db.read);
      const waitMs = besideFrom - clock.elapsed();
      if (next === 'now' || (next === 'beside' && waitMs <= 0))
        return { items: ['trial'], nextDueAt: undefined };
      return { items: [], nextDueAt: next === 'beside' ? clock.now() + waitMs : undefined };
    },
    async run() {
      await db.commit(startTrial, { now: clock.now() });
      besideFrom = clock.elapsed() + TRIAL_MS;
      wakeups.notify('queue');
    },
  };
}
