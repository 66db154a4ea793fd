/**
 * Starts probes. Suspects become due one after the other, so that a crash identifies its cause. suspect.ts states the
 * rule and its bounds.
 */
import type { App } from '../../app.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { RecipientRow } from '../../db/tables.ts';
import type { Work } from '../../system/worker.ts';
import { getMail } from '../mail-store.ts';
import { changeEach } from '../state/change.ts';
import { isSuspect, LONE_PROBE_FROM_INTERRUPTIONS } from '../state/suspect.ts';
import { findMaxInterruptedOnProbe, findWaitingSuspect, listDueSuspects } from './store.ts';

/**
 * Time that a suspect with two interrupted attempts waits for the probe before it, whose host may hang. Most crashes
 * come sooner.
 */
const PROBE_MS = 30_000;

/**
 * Makes the suspect with the fewest interrupted attempts due, so that mail which was interrupted by chance leaves
 * first. The recipients that share its message, its queue and its interrupted attempts become due with it. Returns
 * the number of recipients that became due.
 */
export const startProbe = defineWrite(
  'queue.startProbe',
  async (tx, { now }: { now: number }): Promise<number> => {
    const suspect = await findWaitingSuspect(tx);
    if (!suspect) return 0;
    const mail = await getMail(tx, suspect.messageId);
    const isNext = ({ queue, interruptedAttempts, state, dueAt }: RecipientRow) =>
      queue === suspect.queue &&
      interruptedAttempts === suspect.interruptedAttempts &&
      state === 'ready' &&
      dueAt === null;
    return await changeEach(tx, mail, {
      now,
      transitionOf: (recipient) => (isNext(recipient) ? { cause: 'probe-begun', dueAt: now } : undefined),
    });
  },
);

/**
 * Ends the probes that an earlier start of the daemon began and whose mail it had not claimed, so that this start
 * begins them one by one. A data directory of an earlier version may hold many suspects that are due at once.
 */
export const withdrawProbes = defineWrite(
  'queue.withdrawProbes',
  async (tx, { now }: { now: number }): Promise<void> => {
    for (const messageId of await listDueSuspects(tx)) {
      const mail = await getMail(tx, messageId);
      const isDue = (recipient: RecipientRow) =>
        recipient.state === 'ready' && recipient.dueAt !== null && isSuspect(recipient);
      await changeEach(tx, mail, {
        now,
        transitionOf: (recipient) => (isDue(recipient) ? { cause: 'probe-withdrawn' } : undefined),
      });
    }
  },
);

/**
 * Says whether the next suspect's probe may begin: `now` when no probe runs, `beside` another probe by the rule of
 * suspect.ts, `later` when the probes that run must end first. Undefined when no suspect waits.
 */
async function checkNextProbe(db: Tx): Promise<'now' | 'beside' | 'later' | undefined> {
  const suspect = await findWaitingSuspect(db);
  if (!suspect) return undefined;
  const maxOnProbe = await findMaxInterruptedOnProbe(db);
  if (maxOnProbe === undefined) return 'now';
  const isBeside = Math.max(suspect.interruptedAttempts, maxOnProbe) < LONE_PROBE_FROM_INTERRUPTIONS;
  return isBeside ? 'beside' : 'later';
}

/**
 * Returns the background work that starts probes. The wake-up `suspects` announces that a suspect was settled or
 * released.
 */
export function createProbeWork({
  db,
  clock,
  wakeups,
}: Pick<App, 'db' | 'clock' | 'wakeups'>): Work<'probe'> {
  /** Time on the monotonic clock from which the next probe may run beside the last one, in milliseconds. */
  let besideFrom = 0;
  return {
    name: 'queue probes',
    wakeOn: ['suspects'],
    async lease() {
      const next = await checkNextProbe(db.read);
      const waitMs = besideFrom - clock.elapsed();
      if (next === 'now' || (next === 'beside' && waitMs <= 0))
        return { items: ['probe'], nextDueAt: undefined };
      return { items: [], nextDueAt: next === 'beside' ? clock.now() + waitMs : undefined };
    },
    async run() {
      await db.commit(startProbe, { now: clock.now() });
      besideFrom = clock.elapsed() + PROBE_MS;
      wakeups.notify('queue');
    },
  };
}
