/**
 * Decides whether a broadcast is paused because too many of its copies bounce or are reported as spam. Receivers judge a
 * sender by these rates, so sending on would harm all later mail.
 */
import type { BroadcastCountsRow, BroadcastRunRow } from '../db/broadcast-tables.ts';

/** Counts that the rates follow from. */
export type HealthCounts = Pick<BroadcastCountsRow, 'sent' | 'bouncedPermanently' | 'complained'>;

/** Number of attempted copies from which the rates are evaluated. A few bounces of a few copies mean nothing. */
const MIN_ATTEMPTED_COPIES = 500;
/** Maximum share of copies that bounce for good. Large receivers and providers act at about this share. */
const MAX_BOUNCE_RATE = 0.05;
/** Maximum share of copies that are reported as spam (Gmail's and Yahoo's rules for bulk senders). */
const MAX_COMPLAINT_RATE = 0.003;

/**
 * Returns why a broadcast must be paused, or undefined when it may go on. `since` are the counts at the last resume: whoever
 * resumes has accepted what happened before, so only what comes later is evaluated, again from 500 copies on.
 */
export function evaluateHealth(
  counts: HealthCounts,
  since: HealthCounts | undefined,
): Extract<BroadcastRunRow['pausedReason'], 'bounces' | 'complaints'> | undefined {
  const sent = counts.sent - (since?.sent ?? 0);
  if (sent < MIN_ATTEMPTED_COPIES) return undefined;
  const bounced = counts.bouncedPermanently - (since?.bouncedPermanently ?? 0);
  if (bounced / sent > MAX_BOUNCE_RATE) return 'bounces';
  const complained = counts.complained - (since?.complained ?? 0);
  return complained / sent > MAX_COMPLAINT_RATE ? 'complaints' : undefined;
}
