/**
 * Which mail crashes the daemon. A crash interrupts everything in flight, and each interruption is a doubt. A recipient
 * with two doubts is a suspect: suspects are retried one at a time (trial.ts), so only the one whose delivery really
 * ends the daemon goes on collecting doubts, and at the fifth it is held. Every attempt that is settled clears them.
 */
import type { RecipientRow } from '../../db/tables.ts';

/** Number of doubts that make a suspect. The index `recipientsSuspect` and the queries that use it repeat this number. */
export const SUSPECT_DOUBTS = 2;
/** Number of doubts at which a recipient is held (engine.md 0). */
export const MAX_DOUBTS = 5;

export function isSuspect({ doubts }: Pick<RecipientRow, 'doubts'>): boolean {
  return doubts >= SUSPECT_DOUBTS;
}

/** The `dueAt` of a recipient that is put back: a suspect has none until its trial begins. */
export function releasedDueAt(doubts: number, dueAt: number): number | null {
  return isSuspect({ doubts }) ? null : dueAt;
}

/**
 * The recipients to which a crash adds a doubt. Of the suspects in flight only those claimed last count: an earlier one
 * has outlived its trial. All others count, since any of them may be the cause.
 */
export function listDoubted(interrupted: readonly RecipientRow[]): RecipientRow[] {
  const suspects = interrupted.filter(isSuspect);
  // In flight, `dueAt` is the end of the lease, which grows with the time of the claim.
  const lastClaimed = Math.max(...suspects.map(({ dueAt }) => dueAt ?? 0));
  return interrupted.filter((recipient) => !isSuspect(recipient) || recipient.dueAt === lastClaimed);
}
