/**
 * Finds the mail that crashes the daemon. A crash interrupts everything in flight, and each interruption counts as a
 * doubt. A recipient with two doubts is a suspect. Suspects are retried one at a time (trial.ts), so only the one whose
 * delivery really ends the daemon continues to collect doubts, and the fifth holds it. Every settled attempt clears the
 * doubts.
 */
import type { RecipientRow } from '../../db/tables.ts';

/**
 * Number of doubts from which a recipient is a suspect. The index `recipientsSuspect` and the queries that use it
 * repeat this number.
 */
export const SUSPECT_DOUBTS = 2;
/** Number of doubts at which a recipient is held (engine.md 0). */
export const MAX_DOUBTS = 5;

export function isSuspect({ doubts }: Pick<RecipientRow, 'doubts'>): boolean {
  return doubts >= SUSPECT_DOUBTS;
}

/** Returns the `dueAt` of a recipient that is put back into the queue: a suspect has none until its trial begins. */
export function releasedDueAt(doubts: number, dueAt: number): number | null {
  return isSuspect({ doubts }) ? null : dueAt;
}

/**
 * Returns the recipients to which a crash adds a doubt. Of the suspects in flight only those claimed last count: an
 * earlier one has outlived its trial. All other recipients count, since any of them may be the cause.
 */
export function listDoubted(interrupted: readonly RecipientRow[]): RecipientRow[] {
  const suspects = interrupted.filter(isSuspect);
  // In flight, `dueAt` is the end of the lease, which grows with the time of the claim.
  const lastClaimed = Math.max(...suspects.map(({ dueAt }) => dueAt ?? 0));
  return interrupted.filter((recipient) => !isSuspect(recipient) || recipient.dueAt === lastClaimed);
}
