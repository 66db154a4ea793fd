/** Changes of rows that no daemon makes. They run after a commit of the daemon, behind its back (planted.ts). */
import { defineWrite, type Tx } from '../../src/db/operation.ts';
import type { RecipientRow } from '../../src/db/tables.ts';

/** Facts that a planted write gets: both clocks of the daemon, in milliseconds, and its run. */
export type Behind = { now: number; elapsed: number; runId: string };

/** Length of a lease (queue/claim.ts). */
const LEASE_MS = 3_600_000;

/** Makes a recipient that is in flight for the first time due again. */
export const claimAgain = defineWrite('simulation.claimAgain', async (tx, { now }: Behind): Promise<void> => {
  const claimed = await first(tx, 'in_flight', Number.MAX_SAFE_INTEGER);
  if (claimed?.attempts === 1) await patch(tx, claimed.id, { state: 'ready', dueAt: now });
});

/** Claims a recipient whose retry is due, for nobody. */
export const loseRetry = defineWrite(
  'simulation.loseRetry',
  async (tx, { now, elapsed, runId }: Behind): Promise<void> => {
    const waiting = await first(tx, 'deferred', now);
    if (!waiting) return;
    const dueAt = Math.round(elapsed) + LEASE_MS;
    await patch(tx, waiting.id, { state: 'in_flight', attempts: waiting.attempts + 1, dueAt, runId });
  },
);

/** Ends the suspensions of all sources. */
export const forgetSuspensions = defineWrite(
  'simulation.forgetSuspensions',
  async (tx, _behind: Behind): Promise<void> => {
    await tx.deleteFrom('sourceSuspensions').execute();
  },
);

/** Ends all warm-ups. */
export const endWarmUps = defineWrite('simulation.endWarmUps', async (tx, _behind: Behind): Promise<void> => {
  await tx.deleteFrom('sourceWarmUps').execute();
});

/** Number of first attempts of the first day of the curve of a simulation, less the part of transactional mail. */
const FULL = 16;
/** Time from the beginning of a warm-up until which retries are kept. It is shorter than the life of most mail. */
const DELAYED_MS = 2 * 3_600_000;

/** Makes retries wait once a source has sent its first attempts of the day. */
export const delayRetries = defineWrite(
  'simulation.delayRetries',
  async (tx, _behind: Behind): Promise<void> => {
    const full = await tx
      .selectFrom('sourceWarmUpCounts')
      .innerJoin('sourceWarmUps', 'sourceWarmUps.source', 'sourceWarmUpCounts.source')
      .select('startedAt')
      .where('firstAttempts', '>=', FULL)
      .executeTakeFirst();
    if (!full) return;
    const dueAt = full.startedAt + DELAYED_MS;
    await tx
      .updateTable('recipients')
      .set({ dueAt })
      .where('state', '=', 'deferred')
      .where('dueAt', '<', dueAt)
      .execute();
  },
);

function first(
  tx: Tx,
  state: RecipientRow['state'],
  dueBy: number,
): Promise<Pick<RecipientRow, 'id' | 'attempts'> | undefined> {
  return tx
    .selectFrom('recipients')
    .select(['id', 'attempts'])
    .where('state', '=', state)
    .where('dueAt', '<=', dueBy)
    .orderBy('id')
    .executeTakeFirst();
}

async function patch(tx: Tx, id: RecipientRow['id'], set: Partial<RecipientRow>): Promise<void> {
  await tx.updateTable('recipients').set(set).where('id', '=', id).execute();
}
