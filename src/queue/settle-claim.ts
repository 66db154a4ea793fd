/** Stores the outcome of an attempt durably, wakes the workers that wait for it, and writes the mail log. */

import { commitOutcome } from '../db/commit-outcome.ts';
import { logAttempt, logHeld } from '../events/mail-log.ts';
import { isoTime } from '../system/clock.ts';
import type { Claim } from './claim.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { finalOutcome } from './outcome/explain.ts';
import { retryDelayMs } from './schedule.ts';
import { nextAttemptAt, type Result, type Settlement, settle } from './settle.ts';
import { isSuspect } from './state/suspect.ts';
import type { Evaluated } from './transport.ts';

/**
 * Settles the recipients of a claim that have a verdict.
 * @throws Error when the outcome could not be stored for two minutes
 */
export async function settleClaim(
  app: DeliveryApp,
  claim: Claim,
  { verdicts, signature, durationMs }: Evaluated,
): Promise<void> {
  const now = app.clock.now();
  const { id: messageId, expiresAt } = claim.message;
  const settlement = {
    messageId,
    runId: app.runId,
    now,
    durationMs,
    signature,
    results: claim.recipients.flatMap(({ id, attempts, domain: recipientDomain }) => {
      const verdict = verdicts.get(id);
      if (!verdict) return [];
      const { table } = app.replies;
      const outcome = finalOutcome(verdict.outcome, { table, expiresAt, recipientDomain, now });
      const delay = retryDelayMs(app.random, attempts);
      return [{ recipientId: id, attempts, verdict: { ...verdict, outcome }, retryDelayMs: delay }];
    }),
  };
  const settled = new Set(await commitOutcome(app, settle, settlement));
  app.wakeups.notify('events');
  if ([...verdicts.values()].some(({ outcome }) => outcome.kind === 'deferred')) app.wakeups.notify('queue');
  if (claim.recipients.some(isSuspect)) app.wakeups.notify('suspects');
  for (const result of settlement.results)
    if (settled.has(result.recipientId)) logSettled(app, claim, { settlement, result });
}

/** Writes one line of the mail log for each recipient. */
function logSettled(
  app: DeliveryApp,
  { message, recipients, site }: Claim,
  { settlement: { now, durationMs }, result }: { settlement: Settlement; result: Result },
): void {
  const { outcome } = result.verdict;
  const { mx: host, smtpCode: code, text: diagnostic, address, tls, enhancedCode } = outcome.report;
  const to = recipients.find(({ id }) => id === result.recipientId)?.address ?? '';
  const mail = { emailId: message.id, tenantId: message.tenantId, mode: message.mode, to };
  const attempt = result.attempts;
  if (outcome.kind === 'held') {
    logHeld(app, { ...mail, attempt, reason: outcome.reason, diagnostic });
    return;
  }
  const server = { site, host, address, tls };
  const reply = { code, enhancedCode, diagnostic };
  const line = { ...mail, attempt, ...server, ...reply, durationMs };
  if (outcome.kind !== 'deferred') logAttempt(app, outcome.kind, line);
  else
    logAttempt(app, outcome.kind, {
      ...line,
      nextAttemptAt: isoTime(nextAttemptAt(message, outcome, { now, ...result })),
    });
}
