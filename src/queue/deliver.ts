/**
 * Delivers one claim: check the sender, open a session, transact, settle. An internal error becomes an outcome too, so
 * that every claim is settled.
 */
import type { App } from '../app.ts';
import { DamagedBlobError } from '../blobs/damaged.ts';
import { commitOutcome } from '../db/commit-outcome.ts';
import { mayStillSend } from '../domains/sender.ts';
import { logAttempt, logHeld } from '../events/mail-log.ts';
import { isoTime } from '../system/clock.ts';
import { AppError, errorMessage } from '../system/errors.ts';
import { type Claim, DELIVERY_DEADLINE_MS } from './claim.ts';
import { encodeLines, linesOf } from './conversation/lines.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { finalOutcome } from './outcome/explain.ts';
import { NO_REPORT, type Outcome } from './outcome/outcome.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { nextAttemptAt, type Result, type Settlement, settle } from './settle.ts';
import { isSuspect } from './state/suspect.ts';
import { type Attempt, type Evaluated, notSent, type Transport } from './transport.ts';

type DeliveryOptions = {
  transport: Pick<Transport, 'open' | 'transact'>;
  /** Is called when the session can begin the next claim, at the latest when this one has its outcome. */
  onReady(): void;
  /** Takes back the recipients that another session may try. */
  putBack(claim: Claim): void;
};

/**
 * Delivers a claim. Resolves when the outcome of its recipients is stored.
 * @throws Error when the outcome could not be stored for two minutes; the lease of the claim then ends
 */
export async function deliver(app: DeliveryApp, claim: Claim, options: DeliveryOptions): Promise<void> {
  app.crashPoint('claim-after-commit');
  if (claim.message.kind === 'transactional') app.precedence.step();
  const begunAt = app.clock.elapsed();
  const attempt = await attemptDelivery(app, claim, options).catch((error) =>
    internalFailure(app, claim, error),
  );
  if (attempt.kind === 'released') return;
  // Another session adds to the conversation of what is put back, so it is written first.
  const conversation = describeConversation(claim, attempt);
  const durationMs = attempt.transactionMs ?? Math.round(app.clock.elapsed() - begunAt);
  if (attempt.undecided) options.putBack(attempt.undecided);
  if (attempt.verdicts.size > 0) await settleClaim(app, claim, { ...attempt, durationMs, conversation });
}

async function attemptDelivery(
  app: DeliveryApp,
  claim: Claim,
  { transport, onReady }: DeliveryOptions,
): Promise<Attempt> {
  const stopped = checkAge(app, claim) ?? (await checkSender(app, claim));
  if (stopped) return notSent(claim, stopped);
  return (await transport.open(claim)) ?? transport.transact(claim, onReady);
}

/**
 * Returns a deferral when earlier mail of the session has used up the time of the claim. A delivery that began now
 * could outlast the lease (claim.ts).
 */
function checkAge({ clock }: Pick<App, 'clock'>, { claimedAt }: Claim): Outcome | undefined {
  if (clock.elapsed() < claimedAt + DELIVERY_DEADLINE_MS) return undefined;
  const text = 'Not tried: mail before it took too long';
  return { kind: 'deferred', report: { ...NO_REPORT, phase: 'local', fact: 'local', text } };
}

/** X.7.1 is a sender that is not authorized (RFC 3463 section 3.8). */
const NOT_AUTHORISED = '5.7.1';

/**
 * Returns a bounce when the sender's domain is no longer verified, and undefined when the mail may be sent. Only
 * scheduled mail is checked: other mail was checked when it was accepted, and mail with a signature is only being
 * retried.
 */
async function checkSender(
  app: Pick<DeliveryApp, 'db' | 'clock'>,
  { message }: Claim,
): Promise<Outcome | undefined> {
  const wasScheduled = message.datedAt > message.createdAt;
  if (!wasScheduled || message.signature !== null || message.domainId === null) return undefined;
  if (await mayStillSend(app, message.domainId)) return undefined;
  const text = 'The domain of the sender was no longer verified when this email was due';
  return {
    kind: 'bounced',
    report: { ...NO_REPORT, phase: 'local', enhancedCode: NOT_AUTHORISED, text, fact: 'unverified-sender' },
  };
}

/** Delay before mail is tried again that the daemon was too busy to compose, in milliseconds. */
const BUSY_RETRY_MS = 30_000;

/** Returns a deferral for mail that could not be composed because the daemon was busy. Nothing was sent. */
function deferBusy(claim: Claim, { message }: AppError): Attempt {
  const report = { ...NO_REPORT, phase: 'local', fact: 'local', text: `Not tried: ${message}` } as const;
  return notSent(claim, { kind: 'deferred', report, retryAfterMs: BUSY_RETRY_MS });
}

/**
 * Returns a deferral for mail whose delivery failed because of an internal error. The error is logged, and the mail is
 * retried until it expires.
 */
function internalFailure(app: Pick<App, 'log'>, claim: Claim, error: unknown): Attempt {
  if (error instanceof DamagedBlobError) return holdDamaged(app, claim, error);
  if (error instanceof AppError && error.code === 'unavailable') return deferBusy(claim, error);
  app.log.error(
    { err: error, messageId: claim.message.id },
    'a delivery failed because of an internal error',
  );
  const report = {
    ...NO_REPORT,
    phase: 'local',
    fact: 'local',
    text: `Local error: ${errorMessage(error)}`,
  } as const;
  return notSent(claim, { kind: 'deferred', report });
}

const DAMAGED =
  'The stored message is damaged and is not delivered; an operator can release it once it is restored';

/**
 * Holds a message whose stored bytes are damaged. No receiver has seen the end of the message, so none has accepted it.
 * Its signature may cover damaged bytes, and `settle` discards it.
 */
function holdDamaged({ log }: Pick<App, 'log'>, claim: Claim, error: DamagedBlobError): Attempt {
  const { location, message: damage } = error;
  const { id: emailId, tenantId } = claim.message;
  log.error({ emailId, tenantId, location, damage }, 'a stored message is damaged');
  const report = { ...NO_REPORT, phase: 'local', fact: 'local', text: DAMAGED } as const;
  return notSent(claim, { kind: 'held', report, reason: 'damaged' });
}

/** Returns the lines of the sessions of a claim; null when all recipients with a verdict got the mail, or there was no session. */
function describeConversation({ conversation }: Claim, { verdicts }: Evaluated): string | null {
  if (conversation.length === 0) return null;
  if ([...verdicts.values()].every(({ outcome }) => outcome.kind === 'delivered')) return null;
  return encodeLines(linesOf(conversation));
}

/**
 * Settles the recipients of a claim that have a verdict.
 * @throws Error when the outcome could not be stored for two minutes
 */
async function settleClaim(
  app: DeliveryApp,
  claim: Claim,
  attempt: Evaluated & Pick<Settlement, 'conversation' | 'durationMs'>,
): Promise<void> {
  const now = app.clock.now();
  const { message } = claim;
  const { verdicts, signature, durationMs, transactionMs, conversation } = attempt;
  const settlement = {
    messageId: message.id,
    site: claim.site,
    runId: app.runId,
    now,
    durationMs,
    signature,
    conversation,
    results: claim.recipients.flatMap(({ id, attempts, domain: recipientDomain }) => {
      const verdict = verdicts.get(id);
      if (!verdict) return [];
      const { table } = app.replies;
      const outcome = finalOutcome(verdict.outcome, { table, message, recipientDomain, now });
      const delay = retryDelayMs(app.random, attempts);
      return [{ recipientId: id, attempts, verdict: { ...verdict, outcome }, retryDelayMs: delay }];
    }),
  };
  const begunAt = app.clock.elapsed();
  const settled = new Set(await commitOutcome(app, settle, settlement));
  app.monitor.observePart('store', app.clock.elapsed() - begunAt);
  if ([...verdicts.values()].some(({ outcome }) => outcome.kind === 'deferred')) app.wakeups.notify('queue');
  if (claim.recipients.some(isSuspect)) app.wakeups.notify('suspects');
  for (const result of settlement.results) {
    if (!settled.has(result.recipientId)) continue;
    app.monitor.observe(result.verdict.outcome, transactionMs ?? 0);
    if (app.trace.isWatched) showOutcome(app, claim, result);
    logSettled(app, claim, { settlement, result });
  }
  const refusals = settlement.results.flatMap((result) => refusalOf(claim, result));
  if (refusals.length > 0) app.shaping.observe({ site: claim.site, tenantId: claim.scheduledFor, refusals });
}

/** Returns a refusal as back-off rules are compared with it; an empty list for another outcome. */
function refusalOf({ recipients }: Claim, { recipientId, verdict: { outcome } }: Result) {
  if (outcome.kind !== 'deferred' && outcome.kind !== 'bounced') return [];
  const domain = recipients.find(({ id }) => id === recipientId)?.domain ?? '';
  return [{ report: outcome.report, class: outcome.meaning.class, ownNames: [domain] }];
}

function showOutcome({ trace }: DeliveryApp, claim: Claim, { recipientId, verdict }: Result): void {
  const to = claim.recipients.find(({ id }) => id === recipientId)?.address ?? '';
  trace.showOutcome(claim, to, verdict.outcome);
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
