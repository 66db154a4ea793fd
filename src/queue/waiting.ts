/** The reasons for which mail that is due is not sent: its site rests, a rate is reached, an address warms up, or it is held. */
import type { RecipientRow } from '../db/tables.ts';

export const WAITING_REASONS = ['rest', 'rate', 'warm_up', 'hold'] as const;

/** `until` is in Unix milliseconds; null while nobody knows the end. */
export type Waiting = { reason: (typeof WAITING_REASONS)[number]; until: number | null };

/** The reasons for which the due mail of a delivery queue waits: that of recipients that were never tried, and that of the others. Undefined when nothing keeps them. */
export type QueueWait = { firstAttempts: Waiting | undefined; retries: Waiting | undefined };

/** The reasons for which the due mail of delivery queues waits, by their keys. A queue whose mail nothing keeps is left out. */
export type QueueWaits = ReadonlyMap<string, QueueWait>;

/** Asks those who deliver what the due mail of queues waits for. */
export type ExplainWaiting = (queues: readonly string[]) => Promise<QueueWaits>;

/** Answers for a process that delivers nothing. */
export const nothingWaits: ExplainWaiting = async () => new Map();

/** Returns the keys of the queues in which some of the recipients are due. */
export function dueQueues(recipients: readonly RecipientRow[], now: number): string[] {
  return [...new Set(recipients.filter((one) => isDue(one, now)).map(({ queue }) => queue))];
}

/** Returns what a recipient waits for; null when it has ended, its time has not come, or nothing keeps it. */
export function waitingOf(
  recipient: RecipientRow,
  { waits, now }: { waits: QueueWaits; now: number },
): Waiting | null {
  if (recipient.state === 'held') return { reason: 'hold', until: null };
  return isDue(recipient, now) ? (waitIn(waits, recipient) ?? null) : null;
}

/** Returns what a recipient waits for that is due; undefined when nothing keeps it. */
export function waitIn(
  waits: QueueWaits,
  { queue, attempts }: Pick<RecipientRow, 'queue' | 'attempts'>,
): Waiting | undefined {
  const wait = waits.get(queue);
  return attempts > 0 ? wait?.retries : wait?.firstAttempts;
}

function isDue({ state, dueAt }: RecipientRow, now: number): boolean {
  return (state === 'ready' || state === 'deferred') && dueAt !== null && dueAt <= now;
}
