/**
 * Delivers one claim: check the sender, open a session, transact, settle. An internal error becomes an outcome too, so
 * that every claim is settled.
 */
import type { App } from '../app.ts';
import { DamagedBlobError } from '../blobs/damaged.ts';
import { mayStillSend } from '../domains/sender.ts';
import { AppError, errorMessage } from '../system/errors.ts';
import type { Claim } from './claim.ts';
import { DELIVERY_DEADLINE_MS } from './claim.ts';
import type { DeliveryApp } from './delivery-app.ts';
import { NO_REPORT, type Outcome } from './outcome/outcome.ts';
import { settleClaim } from './settle-claim.ts';
import { type Attempt, notSent, type Transport } from './transport.ts';

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
  const attempt = await attemptDelivery(app, claim, options).catch((error) =>
    internalFailure(app, claim, error),
  );
  if (attempt.kind === 'released') return;
  if (attempt.undecided) options.putBack(attempt.undecided);
  if (attempt.verdicts.size > 0) await settleClaim(app, claim, attempt);
}

async function attemptDelivery(
  app: DeliveryApp,
  claim: Claim,
  { transport, onReady }: DeliveryOptions,
): Promise<Attempt> {
  const stopped = checkAge(app, claim) ?? (await checkSender(app, claim));
  if (stopped) return notSent(claim, stopped);
  const refused = await transport.open(claim);
  if (refused) return notSent(claim, refused);
  return transport.transact(claim, onReady);
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
async function checkSender(app: Pick<App, 'db' | 'clock'>, { message }: Claim): Promise<Outcome | undefined> {
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
