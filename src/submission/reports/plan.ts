/**
 * Decides what is reported to the writer of a message about its recipients, and when: a failure at once, and a delay
 * after half an hour, four hours and a day. Nothing is reported twice.
 */
import type { MessageRow, RecipientRow } from '../../db/tables.ts';
import { wantsNotification } from '../../mail/smtp/dsn-parameters.ts';
import { isEnded } from '../../queue/status.ts';

/** A report about some recipients, by their positions. */
export type PlannedReport = { action: 'failed' | 'delayed' | 'delivered'; positions: readonly number[] };

/** Reports that were made about each recipient, by its position: the number of delays, or `end` once its end was reported. */
export type Reported = Readonly<Record<string, number | 'end'>>;

type Recipient = Pick<RecipientRow, 'position' | 'state' | 'dsn'>;
type Situation = {
  message: Pick<MessageRow, 'datedAt' | 'returnPath'>;
  recipients: readonly Recipient[];
  reported: Reported;
  now: number;
};

type Plan =
  | { kind: 'report'; report: PlannedReport }
  /** There is nothing to report now. `dueAt` is the time of the next check; null when only the end of a recipient needs one. */
  | { kind: 'wait'; dueAt: number | null }
  /** Every recipient has reached its end, and everything was reported. */
  | { kind: 'over' };

const MINUTE_MS = 60_000;
/** Ages of a message at which a delay is reported: at first soon, then a few times until its mail expires. */
const DELAYS_MS: readonly number[] = [30 * MINUTE_MS, 240 * MINUTE_MS, 1_440 * MINUTE_MS];

/** Returns the time of the first check of a message; null when nothing is reported, because it has no return path. */
export function firstCheckOf({ datedAt, returnPath }: Situation['message']): number | null {
  return returnPath === '' ? null : datedAt + (DELAYS_MS[0] ?? 0);
}

/** Returns what to do next about a message. */
export function planReport(situation: Situation): Plan {
  const { message, recipients } = situation;
  const isReported = message.returnPath !== '';
  for (const action of isReported ? (['failed', 'delayed', 'delivered'] as const) : []) {
    const concerned = recipients.filter((recipient) => IS_DUE[action](recipient, situation));
    const positions = concerned.map(({ position }) => position);
    if (positions.length > 0) return { kind: 'report', report: { action, positions } };
  }
  if (recipients.every(({ state }) => isEnded(state))) return { kind: 'over' };
  return { kind: 'wait', dueAt: isReported ? nextDelayAt(situation) : null };
}

const IS_DUE: Readonly<
  Record<PlannedReport['action'], (recipient: Recipient, situation: Situation) => boolean>
> = {
  failed: ({ position, state, dsn }, { reported }) =>
    ['bounced', 'suppressed', 'canceled'].includes(state) &&
    reported[position] !== 'end' &&
    wantsNotification(dsn, 'FAILURE'),
  delayed: (recipient, { message, reported, now }) => {
    const dueAt = delayAt(recipient, message, reported);
    return dueAt !== undefined && dueAt <= now;
  },
  delivered: ({ position, state, dsn }, { reported }) =>
    (state === 'delivered' || state === 'complained') &&
    reported[position] !== 'end' &&
    wantsNotification(dsn, 'SUCCESS'),
};

/** Returns the time at which the next delay of a recipient is reported; undefined when there is none. */
function delayAt(
  { position, state, dsn }: Recipient,
  { datedAt }: Situation['message'],
  reported: Reported,
): number | undefined {
  if (isEnded(state) || !wantsNotification(dsn, 'DELAY')) return undefined;
  const count = reported[position] ?? 0;
  const age = count === 'end' ? undefined : DELAYS_MS[count];
  return age === undefined ? undefined : datedAt + age;
}

function nextDelayAt({ message, recipients, reported }: Situation): number | null {
  const times = recipients.flatMap((recipient) => delayAt(recipient, message, reported) ?? []);
  return times.length === 0 ? null : Math.min(...times);
}

/** Returns what was reported once a report is delivered. A report about a delay counts for all ages that have passed. */
export function reportedAfter(
  { action, positions }: PlannedReport,
  { message, reported, now }: Pick<Situation, 'message' | 'reported' | 'now'>,
): Reported {
  const delays = DELAYS_MS.filter((age) => message.datedAt + age <= now).length;
  const mark = action === 'delayed' ? delays : 'end';
  return { ...reported, ...Object.fromEntries(positions.map((position) => [position, mark])) };
}
