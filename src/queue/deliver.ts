/**
 * Runs one delivery from its claim to its settlement. The session of its site (session.ts) decides how it is sent: to
 * a mail server, to the simulator, or not at all because the verdict is known already.
 */
import type { App } from '../app.ts';
import { DamagedBlobError } from '../blobs/damaged.ts';
import type { RecipientRow } from '../db/tables.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { logAttempt, logHeld } from '../events/mail-log.ts';
import { isoTime, sleep } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { Delivery } from './claim.ts';
import { isSuspect } from './held/suspect.ts';
import { NO_REPORT, type Outcome, type Verdict, verdictForAll } from './outcome.ts';
import type { PreparedMessage } from './prepare.ts';
import { retryDelayMs } from './schedule.ts';
import { finalOutcome, nextAttemptAt, type Result, type Settlement, settle } from './settle.ts';

export type DeliveryApp = App & { signingKeys: SigningKeys };

/** A claimed delivery that is in memory and not settled yet. */
export type Claimed = Delivery & {
  /** The key of the site that the delivery goes to. */
  site: string;
  /** Time of the claim, in milliseconds of the monotonic clock. */
  claimedAt: number;
  /** Number of sessions that took this delivery and handed it back. */
  tries: number;
  /** The outcome of the last session that broke off in the middle of this delivery. Undefined when none did. */
  brokenOff: Outcome | undefined;
  /** Opens and signs the message. The work is done on the first call; later calls return the same promise. */
  prepare(): Promise<PreparedMessage>;
};

export type Attempt = {
  verdicts: ReadonlyMap<RecipientRow['id'], Verdict>;
  /** The header fields that were sent before the stored message; null when nothing was sent. */
  signature: string | null;
};

export type SendClaimed = (claimed: Claimed) => Promise<Attempt>;

/**
 * Runs an attempt and settles the recipients that received a verdict. Recipients without a verdict stay claimed, and
 * `send` hands them to another session.
 */
export async function deliver(app: DeliveryApp, claimed: Claimed, send: SendClaimed): Promise<void> {
  app.crashPoint('claim-after-commit');
  const startedAt = app.clock.elapsed();
  const { verdicts, signature } = await send(claimed).catch((error) => internalFailure(app, claimed, error));
  if (verdicts.size === 0) return;
  const settlement = {
    messageId: claimed.message.id,
    runId: app.runId,
    now: app.clock.now(),
    durationMs: Math.round(app.clock.elapsed() - startedAt),
    signature,
    results: claimed.recipients.flatMap(({ id, attempts }) => {
      const verdict = verdicts.get(id);
      if (!verdict) return [];
      return [{ recipientId: id, attempts, verdict, retryDelayMs: retryDelayMs(app.random, attempts) }];
    }),
  };
  const settled = new Set(await settleDurably(app, settlement));
  app.wakeups.notify('events');
  if ([...verdicts.values()].some(({ outcome }) => outcome.kind === 'deferred')) app.wakeups.notify('queue');
  if (claimed.recipients.some(isSuspect)) app.wakeups.notify('suspects');
  for (const result of settlement.results)
    if (settled.has(result.recipientId)) logSettled(app, claimed, { settlement, result });
}

/** Writes one line of the mail log for each recipient. */
function logSettled(
  app: DeliveryApp,
  { message, recipients, site }: Claimed,
  { settlement: { now, durationMs }, result }: { settlement: Settlement; result: Result },
): void {
  const outcome = finalOutcome(message, result.verdict.outcome, now);
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

/**
 * Returns a deferral for mail that a fault of this daemon has stopped. The fault is logged as an error, and the mail
 * is retried until it expires.
 */
function internalFailure(app: DeliveryApp, { message, recipients }: Claimed, error: unknown): Attempt {
  if (error instanceof DamagedBlobError) return holdDamaged(app, { message, recipients }, error);
  app.log.error({ err: error, messageId: message.id }, 'a delivery failed because of an internal error');
  const report = { ...NO_REPORT, phase: 'local', text: `Local error: ${errorMessage(error)}` } as const;
  return {
    verdicts: verdictForAll({ recipients }, { kind: 'deferred', report }),
    signature: null,
  };
}

const DAMAGED =
  'The stored message is damaged and is not delivered; an operator can release it once it is restored';

/**
 * Holds a message whose stored bytes are damaged. No receiver has seen the end of the message, so none has accepted it.
 * Its signature may cover damaged bytes, and `settle` discards it.
 */
function holdDamaged(app: DeliveryApp, { message, recipients }: Delivery, error: DamagedBlobError): Attempt {
  const { place, message: damage } = error;
  app.log.error(
    { emailId: message.id, tenantId: message.tenantId, place, damage },
    'a stored message is damaged',
  );
  const report = { ...NO_REPORT, phase: 'local', text: DAMAGED } as const;
  return {
    verdicts: verdictForAll({ recipients }, { kind: 'held', report, reason: 'damaged' }),
    signature: null,
  };
}

/**
 * Pauses between attempts to store an outcome, about two minutes in all. After that the lease ends, and the mail is
 * tried again as after a crash.
 */
const SETTLE_PAUSES_MS = [100, 500, 1_000, 5_000, 15_000, 30_000, 60_000] as const;

/**
 * Stores an outcome, and tries again when that fails. A full disk must not discard the answer of a peer, because the
 * mail would then be sent twice.
 */
async function settleDurably(
  app: DeliveryApp,
  settlement: Settlement,
): Promise<readonly RecipientRow['id'][]> {
  for (const pauseMs of SETTLE_PAUSES_MS) {
    try {
      return await app.db.commit(settle, settlement);
    } catch (error) {
      app.log.error({ err: error, messageId: settlement.messageId }, 'an outcome could not be stored yet');
      await sleep(app.clock, pauseMs);
    }
  }
  return app.db.commit(settle, settlement);
}
