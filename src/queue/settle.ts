/**
 * Settles an attempt. One transaction stores each recipient's new state, its attempt row, its event, and the
 * suppression and the notification that may follow.
 */

import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { insertAttempt } from './attempts/store.ts';
import { makeNotificationDue } from './notifications/store.ts';
import { bounceSubType } from './outcome/bounce-subtype.ts';
import { type Outcome, storable, type Verdict } from './outcome/outcome.ts';
import { withPart } from './parts/store.ts';
import { type Change, changeRecipients, type Mail } from './state/change.ts';
import type { Transition } from './state/transition.ts';
import { findMessage, type SpooledMessage } from './store.ts';
import { suppressRecipient } from './suppress.ts';

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
 * Settles an attempt and returns the ids of the recipients that it settled. Recipients that another claim has taken
 * since are skipped.
 */
export const settle = defineWrite('queue.settle', settleAttempt, {
  crashPoints: { beforeCommit: 'settle-before-commit', afterCommit: 'settle-after-commit' },
});

async function settleAttempt(tx: Tx, settlement: Settlement): Promise<RecipientRow['id'][]> {
  const { messageId, now } = settlement;
  const names = settlement.results.map(({ recipientId }) => recipientId);
  const message = await findMessage(tx, messageId);
  if (!message) throw new Error(`message ${messageId} does not exist`);
  const mail = await withPart(tx, message, { by: 'id', names });
  const { recipients } = mail;
  const changes: Change[] = [];
  for (const result of settlement.results) {
    const recipient = recipients.find(({ id }) => id === result.recipientId);
    if (!recipient || !isOfThisClaim(recipient, result, settlement)) continue;
    const outcome = finalOutcome(message, result.verdict.outcome, now);
    await insertAttempt(tx, recipient, describeAttempt(outcome, settlement));
    changes.push({ recipient, transition: transitionOf(message, { outcome, result }, settlement) });
  }
  message.signature = signatureAfter(mail, changes, settlement);
  await changeRecipients(tx, mail, { now, changes });
  for (const change of changes) await suppressBounced(tx, message, { now, ...change });
  if (changes.some(({ transition }) => transition.cause === 'bounced'))
    await makeNotificationDue(tx, messageId, now);
  return changes.map(({ recipient }) => recipient.id);
}

/**
 * Returns true when the result belongs to the recipient's current claim. After a lease has expired, another attempt
 * may have claimed the recipient, and the earlier one no longer counts.
 */
function isOfThisClaim(recipient: RecipientRow, result: Result, { runId }: Settlement): boolean {
  return (
    recipient.state === 'in_flight' && recipient.runId === runId && recipient.attempts === result.attempts
  );
}

function transitionOf(
  message: SpooledMessage,
  { outcome, result }: { outcome: Outcome; result: Result },
  { now, durationMs }: Settlement,
): Transition {
  const { report } = outcome;
  switch (outcome.kind) {
    case 'delivered':
      return {
        cause: 'delivered',
        report,
        durationMs,
        feedback: result.verdict.feedback,
        notifiesSender: result.verdict.notifiesSender,
      };
    case 'bounced': {
      const subType = bounceSubType(result.verdict.outcome.report);
      return { cause: 'bounced', report, bounce: outcome.bounce, subType };
    }
    case 'deferred': {
      const { retryDelayMs } = result;
      return { cause: 'deferred', report, dueAt: nextAttemptAt(message, outcome, { now, retryDelayMs }) };
    }
    case 'held':
      return { cause: 'held', reason: outcome.reason, diagnostic: report.text };
  }
}

/**
 * Returns the signature that later attempts send; null when there are none, and for marketing mail, whose readers get
 * different bytes: there each attempt computes the signature of its reader again. A message with a held recipient gets none
 * either: its stored bytes may be damaged, so that the signature may cover a damaged header. A new signature uses the
 * same date, so for intact mail it is identical.
 */
function signatureAfter(
  { message, recipients, others }: Mail,
  changes: readonly Change[],
  { signature }: Settlement,
): string | null {
  const isHeld =
    [...recipients, ...others].some(({ state }) => state === 'held') ||
    changes.some(({ transition }) => transition.cause === 'held');
  const ended = new Set(
    changes
      .filter(({ transition: { cause } }) => cause === 'delivered' || cause === 'bounced')
      .map(({ recipient }) => recipient),
  );
  const mayBeTried = ({ state }: Pick<RecipientRow, 'state'>) =>
    state === 'ready' || state === 'in_flight' || state === 'deferred';
  const open = [...recipients.filter((recipient) => !ended.has(recipient)), ...others];
  const isOver = !open.some(mayBeTried);
  return isHeld || isOver || message.kind === 'broadcast' ? null : (message.signature ?? signature);
}

/** Suppresses the address of a permanent bounce. A simulated bounce never does. */
async function suppressBounced(
  tx: Tx,
  message: SpooledMessage,
  { recipient, transition, now }: Change & { now: number },
): Promise<void> {
  if (transition.cause !== 'bounced' || transition.bounce !== 'permanent') return;
  if (transition.report.phase === 'simulated') return;
  // A mistyped address in the mail of a person concerns its writer alone.
  if (message.mailboxId !== null) return;
  const diagnostic = transition.report.text;
  await suppressRecipient(tx, message, { recipient, reason: 'bounce', diagnostic, now });
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
 * Returns a transient bounce for a deferral of an expired message, with the last reply as its text (X.4.7, RFC 3463 section 3.5).
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

function describeAttempt(outcome: Outcome, { now, durationMs }: Settlement) {
  const { phase, mx, address, tls, smtpCode, enhancedCode, text } = outcome.report;
  return {
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
