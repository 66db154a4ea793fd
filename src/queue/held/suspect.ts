/**
 * Finds the mail that crashes the daemon. A crash gives a doubt to every recipient in flight, and an attempt that is
 * settled clears the interrupted attempts. A recipient with two interrupted attempts is a suspect: it waits for a trial (trial.ts).
 *
 * A suspect with two interrupted attempts may be tried while others still are, so a crash beside it proves little. From three interrupted attempts on
 * it is tried alone among suspects: until its attempt is settled no other trial runs. Only two crashes during trials alone
 * bring it to five interrupted attempts, where it is held. Mail that is not a suspect goes on beside a trial. When such mail is the
 * culprit, its second crash makes it a suspect too, and trials prefer those with the fewest interrupted attempts.
 *
 * Bounds: with two interrupted attempts, a suspect's trial begins at most `TRIAL_MS` after the one before. With three or more, it waits
 * for each suspect ahead of it until that one's delivery deadline at most (45 minutes, `DELIVERY_DEADLINE_MS`), or until
 * its lease ends (`LEASE_MS`) should its outcome not be stored.
 */
import type { RecipientRow } from '../../db/tables.ts';

/**
 * Number of interrupted attempts from which a recipient is a suspect. The index `recipientsSuspect` and the queries that use it
 * repeat this number.
 */
export const SUSPECT_DOUBTS = 2;
/** Number of interrupted attempts from which a suspect is tried while no other is. */
export const LONE_TRIAL_DOUBTS = 3;
/** Number of interrupted attempts at which a recipient is held (engine.md 0). */
export const MAX_DOUBTS = 5;

export function isSuspect({ interruptedAttempts }: Pick<RecipientRow, 'interruptedAttempts'>): boolean {
  return interruptedAttempts >= SUSPECT_DOUBTS;
}

/** Returns the `dueAt` of a recipient that is put back into the queue: a suspect has none until its trial begins. */
export function releasedDueAt(interruptedAttempts: number, dueAt: number): number | null {
  return isSuspect({ interruptedAttempts }) ? null : dueAt;
}
