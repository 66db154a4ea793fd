/**
 * The state machine of a recipient. A transition names the cause of a change, with what is known about it; this module
 * says what the change does to the row and which events it records. `changeRecipients` (change.ts) makes it, and
 * nothing else changes the state of a recipient.
 */
import type { Counter } from '../../counts/tally.ts';
import type { HoldReason, MessageRow, RecipientRow, RecipientState } from '../../db/tables.ts';
import { isoTime } from '../../system/clock.ts';
import type { Exclusion } from '../exclusions.ts';
import { type BounceType, NO_REPORT, type Report, type SimulatedFeedback } from '../outcome/outcome.ts';
import type { Meaning } from '../outcome/replies/meaning.ts';
import { feedbackEvent, type RecipientEvent } from './recipient-event.ts';
import { MAX_INTERRUPTIONS, releasedDueAt } from './suspect.ts';

export type Transition =
  /** A delivery claimed the recipient. `leasedUntil` is in milliseconds of the monotonic clock of this start. */
  | { cause: 'claimed'; runId: string; leasedUntil: number }
  /** The address was suppressed, or its reader opted out, after the mail was accepted (specification 1). */
  | ({ cause: 'suppressed' } & Exclusion)
  | {
      cause: 'delivered';
      report: Report;
      durationMs: number;
      feedback: SimulatedFeedback | undefined;
      /** True when the receiving server tells the sender what becomes of the message. */
      notifiesSender?: boolean | undefined;
    }
  | { cause: 'bounced'; report: Report; meaning: Meaning; bounce: BounceType }
  /** A bounce arrived by mail after the delivery. */
  | { cause: 'bounced-later'; report: Report; meaning: Meaning; bounce: BounceType }
  /** A delay was reported by mail after the delivery. `willRetryUntil` is in Unix milliseconds. */
  | { cause: 'delayed-later'; diagnostic: string; willRetryUntil: number | null; meaning: Meaning }
  | { cause: 'complained'; complaint: Complaint; meaning: Meaning }
  /** `dueAt` is the time of the next attempt, in Unix milliseconds, as in every cause below. */
  | { cause: 'deferred'; report: Report; meaning: Meaning; dueAt: number }
  /** The mail is due and was not claimed for a while, since its site rests or is at a limit. */
  | { cause: 'overdue'; diagnostic: string }
  | { cause: 'held'; reason: HoldReason; diagnostic: string }
  /** The daemon ended during the attempt, and the recipient is tried again. */
  | { cause: 'interrupted'; dueAt: number }
  /** The stopping daemon had claimed the recipient and had not begun to send. */
  | { cause: 'unsent'; dueAt: number }
  /** An operator released held mail. */
  | { cause: 'released'; dueAt: number }
  /** A person has approved mail that was held for it. */
  | { cause: 'approved'; dueAt: number }
  /** `diagnostic` says why, when it was not the sender who canceled the mail. */
  | { cause: 'canceled'; diagnostic?: string }
  /** The broadcast of the copy is paused, or the tenant is suspended. */
  | { cause: 'parked' }
  /** The broadcast of the copy was resumed, or the tenant. */
  | { cause: 'unparked'; dueAt: number }
  | { cause: 'rescheduled'; dueAt: number }
  /** The operator asked for another attempt now. */
  | { cause: 'retried'; dueAt: number }
  /** The operator has rerouted the mail: `queue` is the key of its delivery queue from now on. */
  | { cause: 'rerouted'; queue: string }
  | { cause: 'probe-begun'; dueAt: number }
  | { cause: 'probe-withdrawn' };

/** A complaint of a reader. `arrivedAt` is the time of its arrival, in Unix milliseconds. */
export type Complaint = { feedbackType: string; userAgent: string | null; arrivedAt: number };

/** The states in which each cause may find a recipient. */
const FROM: Record<Transition['cause'], readonly RecipientState[]> = {
  claimed: ['ready', 'deferred'],
  suppressed: ['ready', 'deferred'],
  delivered: ['in_flight'],
  /** The operator can end the delivery of mail that waits. */
  bounced: ['in_flight', 'ready', 'deferred', 'held'],
  'bounced-later': ['delivered'],
  'delayed-later': ['delivered'],
  complained: ['delivered'],
  deferred: ['in_flight'],
  overdue: ['ready', 'deferred'],
  held: ['in_flight', 'ready', 'deferred'],
  interrupted: ['in_flight'],
  unsent: ['in_flight'],
  released: ['held'],
  approved: ['held'],
  canceled: ['ready', 'deferred', 'held'],
  parked: ['ready', 'deferred'],
  unparked: ['ready', 'deferred'],
  rescheduled: ['ready'],
  retried: ['ready', 'deferred'],
  rerouted: ['ready', 'deferred', 'held'],
  'probe-begun': ['ready'],
  'probe-withdrawn': ['ready'],
};

/** Minimum time between two `email.delivery_delayed` events of a recipient. The first deferral always records one. */
const DELAY_NOTICE_EVERY_MS = 4 * 3_600_000;

/** The effect of a transition: the changed columns of the recipient, and its events in order. */
type Effect = { patch: Partial<RecipientRow>; events: readonly RecipientEvent[] };

type Situation = { recipient: RecipientRow; expiresAt: MessageRow['expiresAt']; now: number };

/**
 * Returns the effect of a transition on a recipient. `expiresAt` is that of its message.
 * @throws Error when the cause does not fit the state of the recipient, which is a bug of the caller
 */
export function effectOf(transition: Transition, situation: Situation): Effect {
  const { recipient } = situation;
  if (!FROM[transition.cause].includes(recipient.state))
    throw new Error(`${transition.cause}: recipient ${recipient.id} is ${recipient.state}`);
  requireRightRelease(transition, recipient);
  switch (transition.cause) {
    case 'claimed':
      return claim(transition, recipient);
    case 'delivered':
      return deliver(transition, situation.now);
    case 'bounced':
      return bounce(transition);
    case 'bounced-later':
      return bounceLater(transition);
    case 'delayed-later':
      return delayLater(transition, situation);
    case 'complained':
      return complain(transition);
    case 'deferred':
      return defer(transition, situation);
    case 'overdue':
      return delayUntried(transition, situation);
    case 'held':
      return hold(transition, recipient);
    case 'suppressed': {
      const patch = { state: 'suppressed', dueAt: null, runId: null, diagnostic: transition.reason } as const;
      return { patch, events: [{ type: 'email.suppressed', details: {}, counters: ['suppressed'] }] };
    }
    case 'canceled': {
      const { diagnostic } = transition;
      const ended = { ...ENDED, state: 'canceled' } as const;
      const patch = diagnostic === undefined ? ended : { ...ended, diagnostic };
      return { patch, events: [{ type: 'email.canceled', details: {}, counters: ['canceled'] }] };
    }
    case 'interrupted':
      return putBack(recipient.interruptedAttempts + 1, transition.dueAt);
    case 'unsent':
      return putBack(recipient.interruptedAttempts, transition.dueAt);
    case 'released':
      return putBack(Math.min(recipient.interruptedAttempts, MAX_INTERRUPTIONS - 1), transition.dueAt);
    case 'approved':
      return putBack(0, transition.dueAt);
    case 'unparked': {
      const dueAt = releasedDueAt(recipient.interruptedAttempts, transition.dueAt);
      return { patch: { dueAt }, events: [] };
    }
    case 'rerouted':
      return { patch: { queue: transition.queue }, events: [] };
    case 'rescheduled':
    case 'retried':
    case 'probe-begun':
      return { patch: { dueAt: transition.dueAt }, events: [] };
    case 'probe-withdrawn':
    case 'parked':
      return { patch: { dueAt: null }, events: [] };
  }
}

/**
 * Checks that mail which waits for the approval of a person is made due by that approval, and no other mail is.
 * @throws Error, which is a bug of the caller
 */
function requireRightRelease({ cause }: Transition, { id, holdReason }: RecipientRow): void {
  if (cause !== (holdReason === 'approval' ? 'released' : 'approved')) return;
  throw new Error(`${cause}: recipient ${id} is held for ${holdReason}`);
}

type ByCause<Cause extends Transition['cause']> = Extract<Transition, { cause: Cause }>;

/** A claim counts the attempt. The first one of each recipient records `email.sent`. */
function claim({ runId, leasedUntil }: ByCause<'claimed'>, recipient: RecipientRow): Effect {
  const attempts = recipient.attempts + 1;
  return {
    patch: { state: 'in_flight', runId, attempts, dueAt: leasedUntil },
    events: attempts === 1 ? [{ type: 'email.sent', details: {}, counters: [] }] : [],
  };
}

/** Columns of a recipient that is not tried any more. */
const ENDED = { dueAt: null, runId: null, interruptedAttempts: 0, holdReason: null } as const;

/** Makes a recipient due again. Suspects wait for their probe (held/suspect.ts). */
function putBack(interruptedAttempts: number, dueAt: number): Effect {
  const patch = {
    state: 'ready',
    runId: null,
    holdReason: null,
    interruptedAttempts,
    dueAt: releasedDueAt(interruptedAttempts, dueAt),
  } as const;
  return { patch, events: [] };
}

function finish(state: 'delivered' | 'bounced', report: Report, events: readonly RecipientEvent[]): Effect {
  return {
    patch: { ...ENDED, state, ...lastResponse(report) },
    events,
  };
}

/** A simulated complaint ends the recipient as `complained`; its events follow that of the delivery. */
function deliver(transition: ByCause<'delivered'>, now: number): Effect {
  const { report, durationMs, feedback, notifiesSender } = transition;
  const { text: smtpResponse, mx, tls } = report;
  const delivery = { smtpResponse, mx, tls, durationMs };
  const delivered: RecipientEvent = {
    type: 'email.delivered',
    details: { delivery },
    counters: ['delivered'],
  };
  if (feedback === undefined) {
    const { patch, events } = finish('delivered', report, [delivered]);
    return { patch: { ...patch, ...(notifiesSender && { dsn: null }) }, events };
  }
  const { patch, events } = finish('delivered', report, [delivered, feedbackEvent(feedback, now)]);
  return feedback === 'complained' ? { patch: { ...patch, state: 'complained' }, events } : { patch, events };
}

const BOUNCE_COUNTERS = {
  permanent: 'bouncedPermanent',
  transient: 'bouncedTransient',
  undetermined: 'bouncedUndetermined',
} as const satisfies Record<BounceType, Counter>;

function bounce(transition: ByCause<'bounced'>): Effect {
  const { patch, events } = finish('bounced', transition.report, [bounceEvent(transition, 'smtp')]);
  return { patch: { ...patch, ...explanation(transition.meaning) }, events };
}

/** Returns the part of a meaning that recipients and events show. */
function explanation({ class: class_, advice }: Meaning): Pick<RecipientRow, 'class' | 'advice'> {
  return { class: class_, advice };
}

function bounceEvent(
  { report, bounce: type, meaning }: Omit<ByCause<'bounced'>, 'cause'>,
  source: 'smtp' | 'dsn',
): RecipientEvent {
  const { smtpCode, enhancedCode, text: diagnostic } = report;
  const kind = { type, subType: meaning.subType, ...explanation(meaning) };
  const details = { bounce: { ...kind, smtpCode, enhancedCode, diagnostic, source } };
  return { type: 'email.bounced', details, counters: [BOUNCE_COUNTERS[type]] };
}

/** The server and TLS of the delivery stay: the bounce came from a server behind it. */
function bounceLater(transition: ByCause<'bounced-later'>): Effect {
  const { smtpCode, enhancedCode, text: diagnostic } = transition.report;
  return {
    patch: { state: 'bounced', smtpCode, enhancedCode, diagnostic, ...explanation(transition.meaning) },
    events: [bounceEvent(transition, 'dsn')],
  };
}

function complain({ complaint: { arrivedAt, ...rest }, meaning }: ByCause<'complained'>): Effect {
  const complaint = { ...rest, arrivedAt: isoTime(arrivedAt), ...explanation(meaning) };
  return {
    patch: { state: 'complained', ...explanation(meaning) },
    events: [{ type: 'email.complained', details: { complaint }, counters: ['complained'] }],
  };
}

/** Returns true when a delay of the recipient is to be recorded again. */
export function isNoticeDue({ delayNoticeAt }: Pick<RecipientRow, 'delayNoticeAt'>, now: number): boolean {
  return delayNoticeAt === null || now - delayNoticeAt >= DELAY_NOTICE_EVERY_MS;
}

/** The meaning of a delay of mail that was not tried yet. */
const UNTRIED = {
  class: 'rate',
  advice: 'Nothing needs to be done. The email leaves when its receiving servers take mail again.',
} as const;

/** The first notice counts the recipient as delayed. */
function delayCounters({ delayNoticeAt }: RecipientRow): readonly Counter[] {
  return delayNoticeAt === null ? ['delayed'] : [];
}

function defer(
  { report, meaning, dueAt }: ByCause<'deferred'>,
  { recipient, expiresAt, now }: Situation,
): Effect {
  const { delayNoticeAt, attempts: attempt } = recipient;
  const isDue = isNoticeDue(recipient, now);
  const patch = {
    state: 'deferred',
    dueAt,
    runId: null,
    interruptedAttempts: 0,
    delayNoticeAt: isDue ? now : delayNoticeAt,
    ...lastResponse(report),
    ...explanation(meaning),
  } as const;
  if (!isDue) return { patch, events: [] };
  const times = { nextAttemptAt: isoTime(dueAt), expiresAt: isoTime(expiresAt) };
  const delay = { diagnostic: report.text, ...explanation(meaning), attempt, ...times };
  const counters = delayCounters(recipient);
  return { patch, events: [{ type: 'email.delivery_delayed', details: { delay }, counters }] };
}

/** The recipient stays as it is, and nobody knows when it is tried. */
function delayUntried({ diagnostic }: ByCause<'overdue'>, { recipient, expiresAt, now }: Situation): Effect {
  if (!isNoticeDue(recipient, now)) return { patch: {}, events: [] };
  const { attempts: attempt, class: known, advice } = recipient;
  const meaning = known === null ? UNTRIED : { class: known, advice };
  const delay = { diagnostic, ...meaning, attempt, nextAttemptAt: null, expiresAt: isoTime(expiresAt) };
  const counters = delayCounters(recipient);
  const event: RecipientEvent = { type: 'email.delivery_delayed', details: { delay }, counters };
  return { patch: { delayNoticeAt: now }, events: [event] };
}

/** The recipient stays delivered: another server has the message and keeps trying, nobody knows when. */
function delayLater(
  { diagnostic, willRetryUntil, meaning }: ByCause<'delayed-later'>,
  { recipient, now }: Situation,
): Effect {
  if (!isNoticeDue(recipient, now)) return { patch: {}, events: [] };
  const expiresAt = willRetryUntil === null ? null : isoTime(willRetryUntil);
  const attempt = recipient.attempts;
  const delay = { diagnostic, ...explanation(meaning), attempt, nextAttemptAt: null, expiresAt };
  const counters = delayCounters(recipient);
  const event: RecipientEvent = { type: 'email.delivery_delayed', details: { delay }, counters };
  return { patch: { delayNoticeAt: now }, events: [event] };
}

/** Numbers of interrupted attempts of held mail, by the reason. They decide whether it is probed after its release. */
const INTERRUPTIONS_WHEN_HELD = {
  interrupted: (before: number) => before + 1,
  damaged: () => 0,
  operator: (before: number) => before,
  approval: (before: number) => before,
} as const satisfies Record<HoldReason, (before: number) => number>;

/** Held mail is not due. */
function hold({ reason, diagnostic }: ByCause<'held'>, { interruptedAttempts }: RecipientRow): Effect {
  const patch = {
    state: 'held',
    dueAt: null,
    runId: null,
    holdReason: reason,
    interruptedAttempts: INTERRUPTIONS_WHEN_HELD[reason](interruptedAttempts),
    ...lastResponse({ ...NO_REPORT, text: diagnostic }),
  } as const;
  return { patch, events: [{ type: 'email.held', details: { hold: { reason, diagnostic } }, counters: [] }] };
}

type Response = Pick<Report, 'smtpCode' | 'enhancedCode' | 'mx' | 'tls' | 'text'>;

function lastResponse({ smtpCode, enhancedCode, mx, tls, text: diagnostic }: Response) {
  return { smtpCode, enhancedCode, diagnostic, mx, tls, class: null, advice: null };
}
