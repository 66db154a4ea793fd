/**
 * Settles an attempt. One transaction stores each recipient's new state, its attempt row, its event and the
 * suppression that may follow.
 */

import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { addSuppression } from '../suppressions/change.ts';
import { isoTime } from '../system/clock.ts';
import { newId } from '../system/ids.ts';
import { insertAttempt } from './attempts/store.ts';
import { type BounceSubType, bounceSubType } from './bounce-subtype.ts';
import { holdRecipient } from './held/hold.ts';
import { type Outcome, type Report, type SimulatedFeedback, storable, type Verdict } from './outcome.ts';
import {
  changeRecipient,
  getMessage,
  listRecipients,
  type RecipientEvent,
  refreshStatus,
  type SpooledMessage,
} from './store.ts';

export type Result = {
  recipientId: RecipientRow['id'];
  /** Number of attempts of the recipient when it was claimed. It identifies the claim that the result belongs to. */
  attempts: number;
  verdict: Verdict;
  /** Delay until the next attempt, in milliseconds, if the outcome is a deferral. */
  retryDelayMs: number;
};

export type Settlement = {
  messageId: string;
  runId: string;
  now: number;
  durationMs: number;
  /** DKIM-Signature and Date fields that this attempt sent. They are stored for later attempts. */
  signature: string | null;
  results: readonly Result[];
};

/**
 * Minimum time between two `email.delivery_delayed` events of a recipient. The first deferral always records one
 * (decisions.md 16).
 */
const DELAY_NOTICE_EVERY_MS = 4 * 3_600_000;

/**
 * Settles an attempt and returns the ids of the recipients that it settled. Recipients that another claim has taken
 * since are skipped.
 */
export const settle = defineWrite('queue.settle', async (tx, settlement: Settlement) => {
  const message = await getMessage(tx, settlement.messageId);
  message.signature ??= settlement.signature;
  const all = await listRecipients(tx, message.id);
  const recipients = new Map(all.map((recipient) => [recipient.id, recipient]));
  const settled: RecipientRow['id'][] = [];
  for (const result of settlement.results) {
    const recipient = recipients.get(result.recipientId);
    if (!recipient || !isOfThisClaim(recipient, result, settlement)) continue;
    await settleRecipient(tx, message, recipient, result, settlement);
    settled.push(recipient.id);
  }
  // A message is held because its stored bytes are damaged, so its signature may cover a damaged header. A new
  // signature uses the same date, so for intact mail it is identical.
  if (all.some(({ state }) => state === 'held')) message.signature = null;
  await refreshStatus(tx, message, all);
  return settled;
});

/**
 * Returns true when the result belongs to the recipient's current claim. After a lease has expired, another attempt
 * may have claimed the recipient, and the earlier one no longer counts.
 */
function isOfThisClaim(recipient: RecipientRow, result: Result, { runId }: Settlement): boolean {
  return (
    recipient.state === 'in_flight' && recipient.runId === runId && recipient.attempts === result.attempts
  );
}

async function settleRecipient(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  result: Result,
  { now, durationMs }: Settlement,
): Promise<void> {
  const outcome = finalOutcome(message, result.verdict.outcome, now);
  await insertAttempt(tx, attemptRow(recipient, outcome, now, durationMs));
  switch (outcome.kind) {
    case 'delivered':
      await finishRecipient(tx, message, recipient, outcome, now, {
        type: 'email.delivered',
        details: {
          delivery: {
            smtpResponse: outcome.report.text,
            mx: outcome.report.mx,
            tls: outcome.report.tls,
            durationMs,
          },
        },
      });
      if (result.verdict.feedback) {
        await simulateFeedback(tx, message, recipient, result.verdict.feedback, now);
      }
      return;
    case 'bounced':
      await bounce(tx, message, recipient, outcome, {
        now,
        subType: bounceSubType(result.verdict.outcome.report),
      });
      return;
    case 'deferred':
      await defer(tx, message, recipient, outcome, {
        now,
        dueAt: nextAttemptAt(message, outcome, { now, retryDelayMs: result.retryDelayMs }),
      });
      return;
    case 'held':
      await holdRecipient(
        tx,
        { message, recipient },
        { reason: outcome.reason, diagnostic: outcome.report.text, interruptedAttempts: 0, now },
      );
  }
}

/** Returns the outcome as it is stored and logged. */
export function finalOutcome(
  message: Pick<SpooledMessage, 'expiresAt'>,
  outcome: Outcome,
  now: number,
): Outcome {
  return storable(expire(message, outcome, now));
}

/**
 * Returns a transient bounce for a deferral of an expired message, with the last reply as its text (RFC 3463 X.4.7,
 * api.md 1.3).
 */
function expire(message: Pick<SpooledMessage, 'expiresAt'>, outcome: Outcome, now: number): Outcome {
  if (outcome.kind !== 'deferred' || now < message.expiresAt) return outcome;
  const report = { ...outcome.report, enhancedCode: '4.4.7', text: `Expired. Last: ${outcome.report.text}` };
  return { kind: 'bounced', report, bounce: 'transient' };
}

/**
 * Returns the time of the next attempt, in Unix milliseconds. The last attempt is made when the message expires, not
 * up to four hours before.
 */
export function nextAttemptAt(
  { expiresAt }: Pick<SpooledMessage, 'expiresAt'>,
  { retryAfterMs }: Extract<Outcome, { kind: 'deferred' }>,
  { now, retryDelayMs }: { now: number; retryDelayMs: number },
): number {
  return Math.min(now + (retryAfterMs ?? retryDelayMs), Math.max(expiresAt, now));
}

function lastResponse(report: Report) {
  const { smtpCode, enhancedCode, mx, tls } = report;
  return { smtpCode, enhancedCode, diagnostic: report.text, mx, tls };
}

async function finishRecipient(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  outcome: Extract<Outcome, { kind: 'delivered' | 'bounced' }>,
  now: number,
  event: RecipientEvent,
): Promise<void> {
  const patch = {
    state: outcome.kind,
    dueAt: null,
    runId: null,
    interruptedAttempts: 0,
    ...lastResponse(outcome.report),
  };
  await changeRecipient(tx, message, recipient, patch, { now, event });
}

async function bounce(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  outcome: Extract<Outcome, { kind: 'bounced' }>,
  { now, subType }: { now: number; subType: BounceSubType },
): Promise<void> {
  const { smtpCode, enhancedCode, text } = outcome.report;
  const details = { type: outcome.bounce, subType, smtpCode, enhancedCode, diagnostic: text, source: 'smtp' };
  await finishRecipient(tx, message, recipient, outcome, now, {
    type: 'email.bounced',
    details: { bounce: details },
  });
  // A permanent bounce suppresses the address. A simulated one never does (decisions.md 5 and 29).
  if (outcome.bounce !== 'permanent' || outcome.report.phase === 'simulated') return;
  const suppression = {
    id: newId('sup', now),
    tenantId: message.tenantId,
    email: recipient.address,
    reason: 'bounce',
    sourceEmailId: message.id,
    diagnostic: text,
    createdAt: now,
  } as const;
  await addSuppression(tx, suppression, { mode: message.mode, now });
}

async function defer(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  outcome: Extract<Outcome, { kind: 'deferred' }>,
  { now, dueAt }: { now: number; dueAt: number },
): Promise<void> {
  const notify = recipient.delayNoticeAt === null || now - recipient.delayNoticeAt >= DELAY_NOTICE_EVERY_MS;
  const event: RecipientEvent = {
    type: 'email.delivery_delayed',
    details: {
      delay: {
        diagnostic: outcome.report.text,
        attempt: recipient.attempts,
        nextAttemptAt: isoTime(dueAt),
        expiresAt: isoTime(message.expiresAt),
      },
    },
  };
  const patch = {
    state: 'deferred',
    dueAt,
    runId: null,
    interruptedAttempts: 0,
    delayNoticeAt: notify ? now : recipient.delayNoticeAt,
    ...lastResponse(outcome.report),
  } as const;
  await changeRecipient(tx, message, recipient, patch, { now, ...(notify && { event }) });
}

async function simulateFeedback(
  tx: Tx,
  message: SpooledMessage,
  recipient: RecipientRow,
  feedback: SimulatedFeedback,
  now: number,
): Promise<void> {
  const at = isoTime(now);
  switch (feedback) {
    case 'complained': {
      const complaint = { feedbackType: 'abuse', userAgent: 'Postrider simulator', arrivedAt: at };
      const event: RecipientEvent = { type: 'email.complained', details: { complaint } };
      return changeRecipient(tx, message, recipient, { state: 'complained' }, { now, event });
    }
    case 'opened': {
      const open = { timestamp: at, ip: null, userAgent: 'Postrider simulator', bot: false };
      return changeRecipient(
        tx,
        message,
        recipient,
        {},
        { now, event: { type: 'email.opened', details: { open } } },
      );
    }
    case 'clicked': {
      const click = {
        timestamp: at,
        link: 'https://example.com/',
        ip: null,
        userAgent: 'Postrider simulator',
        bot: false,
      };
      return changeRecipient(
        tx,
        message,
        recipient,
        {},
        { now, event: { type: 'email.clicked', details: { click } } },
      );
    }
  }
}

function attemptRow(recipient: RecipientRow, outcome: Outcome, now: number, durationMs: number) {
  const { phase, mx, address, tls, smtpCode, enhancedCode, text } = outcome.report;
  return {
    id: newId('att', now),
    recipientId: recipient.id,
    messageId: recipient.messageId,
    tenantId: recipient.tenantId,
    at: now,
    durationMs,
    outcome: outcome.kind,
    phase,
    mx,
    address,
    tls,
    smtpCode,
    enhancedCode,
    reply: text,
  };
}
