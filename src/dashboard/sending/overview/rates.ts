/** The lines that mailbox providers draw for bounces and complaints. Beyond them, they begin to refuse mail or to file it as spam. */

/** Share of bounces above which providers take the list of recipients for bad. */
export const BOUNCE_LINE = 0.04;
/** Shares of complaints that senders should stay below, and must never reach (Google and Yahoo, requirements for bulk senders). */
export const COMPLAINT_LINE = 0.001;
export const MAX_COMPLAINTS = 0.003;
/** Minimum number of recipients for a rate to say something: one bounce of ten is no trend. */
const MIN_RECIPIENTS = 100;

/** How a rate stands against its lines. */
export type Standing = 'good' | 'warning' | 'bad';

type Rates = {
  accepted: number;
  delivered: number;
  rates: { bounced: number | null; complained: number | null };
};

export function bounceStanding({ accepted, rates: { bounced } }: Rates): Standing {
  return accepted >= MIN_RECIPIENTS && (bounced ?? 0) >= BOUNCE_LINE ? 'bad' : 'good';
}

export function complaintStanding({ delivered, rates: { complained } }: Rates): Standing {
  if (delivered < MIN_RECIPIENTS || (complained ?? 0) < COMPLAINT_LINE) return 'good';
  return (complained ?? 0) < MAX_COMPLAINTS ? 'warning' : 'bad';
}
