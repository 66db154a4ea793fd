/**
 * The limit of confirmation mail by address. Everybody can type any address into a form; the limit keeps forms from
 * flooding a stranger. This file has no SQL.
 */
import type { ConfirmationRow } from '../../db/confirmation-tables.ts';
import { DAY_MS } from '../../system/clock.ts';

/** Maximum number of confirmation mails that an address gets from a tenant in all. */
const MAX_CONFIRMATIONS = 3;
/** Minimum time between two confirmation mails to an address, in milliseconds. */
const MIN_INTERVAL_MS = DAY_MS;

type Sent = Pick<ConfirmationRow, 'count' | 'sentAt'>;

/**
 * Returns the earliest time of the next mail in Unix milliseconds: 0 when none was sent yet, and null when there will be
 * none.
 */
export function nextConfirmationAt({ count, sentAt }: Sent): number | null {
  if (count >= MAX_CONFIRMATIONS) return null;
  return sentAt === null ? 0 : sentAt + MIN_INTERVAL_MS;
}
