/** Makes claimed mail due again that is not sent. */
import { commitOutcome } from '../db/commit-outcome.ts';
import type { Claim } from './claim.ts';
import type { SendingApp } from './sending-app.ts';
import { releaseUnsent } from './state/recover.ts';

type ReleaseApp = Pick<SendingApp, 'db' | 'clock' | 'log' | 'runId'>;

/**
 * Makes claimed mail due again. Returns the number of its recipients. `isPatient` has the write tried again for two minutes while it
 * fails. Mail that stays claimed becomes due when its lease ends.
 */
export async function releaseClaims(
  app: ReleaseApp,
  unsent: readonly Pick<Claim, 'message' | 'recipients'>[],
  { isPatient }: { isPatient: boolean },
): Promise<number> {
  if (unsent.length === 0) return 0;
  const { db, clock, runId, log } = app;
  const claims = unsent.map(({ message, recipients }) => ({
    messageId: message.id,
    recipientIds: recipients.map(({ id }) => id),
  }));
  const release = { now: clock.now(), runId, claims };
  try {
    return await (isPatient ? commitOutcome(app, releaseUnsent, release) : db.commit(releaseUnsent, release));
  } catch (error) {
    log.error({ err: error }, 'unsent mail could not be put back; it counts as interrupted');
    return 0;
  }
}
