/**
 * Settles an attempt. One transaction stores each recipient's new state, its attempt row, its event, and the
 * suppression and the notification that may follow.
 */

import { defineWrite, type Tx } from '../db/operation.ts';
import type { RecipientRow } from '../db/tables.ts';
import { insertAttempt } from './attempts-store.ts';
import { evaluateBounce, notifyOfBounce, notifyOfDelay, notifyOfRelay, suppressBounced } from './bounce.ts';
import { rememberSite } from './control/site-store.ts';
import { insertConversation } from './conversation/store.ts';
import { findMailPart, type Mail } from './mail-store.ts';
import type { FinalOutcome, Verdict } from './outcome/outcome.ts';
import { type Change, changeRecipients } from './state/change.ts';
import type { Transition } from './state/transition.ts';
import type { SpooledMessage } from './store.ts';

export type Result = {
  recipientId: RecipientRow['id'];
  /** Number of attempts of the recipient when it was claimed. It identifies the claim that the result belongs to. */
  attempts: number;
  verdict: Verdict<FinalOutcome>;
  /** Delay until the next attempt, in milliseconds, if the outcome is a deferral. */
  retryDelayMs: number;
};

export type Settlement = {
  messageId: string;
  /** The key of the site that the attempt went to. */
  site: string;
  runId: string;
  now: number;
  durationMs: number;
  /** DKIM-Signature and Date fields that this attempt sent. They are stored for later attempts. */
  signature: string | null;
  /** The lines of its sessions (conversation/lines.ts); null when it delivered, or no session was begun. */
  conversation: string | null;
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
  const mail = await findMailPart(tx, messageId, { by: 'id', names });
  if (!mail) throw new Error(`message ${messageId} does not exist`);
  const { message, recipients } = mail;
  const changes: Change[] = [];
  for (const result of settlement.results) {
    const recipient = recipients.find(({ id }) => id === result.recipientId);
    if (!recipient || !isOfThisClaim(recipient, result, settlement)) continue;
    await insertAttempt(tx, recipient, describeAttempt(result.verdict.outcome, settlement));
    changes.push({
      recipient,
      transition: await transitionOf(tx, { message, recipient, result }, settlement),
    });
  }
  if (settlement.conversation !== null && changes.length > 0) {
    const { site, conversation: lines } = settlement;
    await insertConversation(tx, { messageId: message.id, tenantId: message.tenantId, at: now, site, lines });
  }
  const signature = signatureAfter(mail, changes, settlement);
  await changeRecipients(tx, mail, { now, changes, signature });
  for (const change of changes) await suppressBounced(tx, message, { now, ...change });
  await notifyOfBounce(tx, changes, now);
  await notifyOfDelay(tx, message, { changes, now });
  await notifyOfRelay(tx, message, { changes, now });
  const delayed = changes.filter(({ transition }) => transition.cause === 'deferred');
  for (const domain of new Set(delayed.map(({ recipient }) => recipient.domain)))
    await rememberSite(tx, { domain, site: settlement.site, now });
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

async function transitionOf(
  tx: Tx,
  { message, recipient, result }: { message: SpooledMessage; recipient: RecipientRow; result: Result },
  { now, durationMs }: Settlement,
): Promise<Transition> {
  const { outcome } = result.verdict;
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
      const { meaning } = outcome;
      const bounce = await evaluateBounce(tx, message, { recipient, report, meaning, now });
      return { cause: 'bounced', report, meaning, bounce };
    }
    case 'deferred': {
      const { retryDelayMs } = result;
      const dueAt = nextAttemptAt(message, outcome, { now, retryDelayMs });
      return { cause: 'deferred', report, meaning: outcome.meaning, dueAt };
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

/**
 * Returns the time of the next attempt, in Unix milliseconds. The last attempt is made when the message expires, not
 * up to four hours before.
 */
export function nextAttemptAt(
  { expiresAt }: Pick<SpooledMessage, 'expiresAt'>,
  { retryAfterMs }: Extract<FinalOutcome, { kind: 'deferred' }>,
  { now, retryDelayMs }: { now: number; retryDelayMs: number },
): number {
  return Math.min(now + (retryAfterMs ?? retryDelayMs), Math.max(expiresAt, now));
}

function describeAttempt(outcome: FinalOutcome, { now, durationMs }: Settlement) {
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
