/**
 * Finds the mail that crashes the daemon. A crash adds one interrupted attempt to every recipient in flight, and a
 * settled attempt sets the count of its recipient back to zero. A recipient with two interrupted attempts is a
 * suspect: it waits for a probe (probe.ts).
 *
 * A suspect with two interrupted attempts may be tried while others still are, so a crash beside it proves little.
 * From three interrupted attempts on it is tried alone among suspects: until its attempt is settled, no other probe
 * runs. Only two crashes during probes alone bring it to five interrupted attempts, where it is held. Mail that is
 * not a suspect continues beside a probe. When such mail is the culprit, its second crash makes it a suspect too, and
 * probes prefer those with the fewest interrupted attempts.
 *
 * Bounds: with two interrupted attempts, a suspect's probe begins at most `PROBE_MS` after the one before. With three
 * or more, a suspect waits at most until the delivery deadline of each suspect ahead of it (45 minutes,
 * `DELIVERY_DEADLINE_MS`), or until the lease of that suspect ends (`LEASE_MS`) if its outcome cannot be stored.
 */
import type { RecipientRow } from '../../db/tables.ts';

/**
 * Number of interrupted attempts from which a recipient is a suspect. The index `recipientsSuspect` and its queries
 * repeat this number.
 */
const SUSPECT_FROM_INTERRUPTIONS = 2;
/** Number of interrupted attempts from which a suspect is tried while no other is. */
export const LONE_PROBE_FROM_INTERRUPTIONS = 3;
/** Number of interrupted attempts at which a recipient is held. */
export const MAX_INTERRUPTIONS = 5;

/** Returns true when the recipient is a suspect. */
export function isSuspect({ interruptedAttempts }: Pick<RecipientRow, 'interruptedAttempts'>): boolean {
  return interruptedAttempts >= SUSPECT_FROM_INTERRUPTIONS;
}

/**
 * Returns the `dueAt` of a recipient that is put back into the queue, in Unix milliseconds. A suspect has none until
 * its probe begins.
 */
export function releasedDueAt(interruptedAttempts: number, dueAt: number): number | null {
  return isSuspect({ interruptedAttempts }) ? null : dueAt;
}
