/**
 * One delivery, from claim to settlement: prepared, carried to where it goes, and what came of it stored. Who carries
 * is for its site (session.ts): a session with a mail server, the simulator, or a verdict that stands already.
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

/** A claim that is on its way. */
export type Claimed = Delivery & {
  /** The key of the site that the delivery goes to. */
  site: string;
  /** On the monotonic clock. */
  claimedAt: number;
  /** Sessions it was handed to, and came back from untouched. */
  tries: number;
  /** The outcome of the last session that broke off in the middle of this delivery. Undefined when none did. */
  brokenOff: Outcome | undefined;
  /** Asked for when somebody is about to send it; made once. */
  prepare(): Promise<PreparedMessage>;
};

export type Attempt = {
  verdicts: ReadonlyMap<RecipientRow['id'], Verdict>;
  /** What was put before the message; null when nothing was sent. */
  signature: string | null;
};

export type Carry = (claimed: Claimed) => Promise<Attempt>;

/** Recipients without a verdict are the carrier's to hand on: they stay claimed. */
export async function deliver(app: DeliveryApp, claimed: Claimed, carry: Carry): Promise<void> {
  app.crashPoint('claim-after-commit');
  const startedAt = app.clock.elapsed();
  const { verdicts, signature } = await carry(claimed).catch((error) => internalFailure(app, claimed, error));
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

/** A bug or a broken part of ours: said loudly, and the mail waits for us to mend it, until its time is up. */
function internalFailure(app: DeliveryApp, { message, recipients }: Claimed, error: unknown): Attempt {
  if (error instanceof DamagedBlobError) return holdDamaged(app, { message, recipients }, error);
  app.log.error({ err: error, messageId: message.id }, 'a delivery failed by our own fault');
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

/** About two minutes in all; after that the lease runs out, and the mail is tried again as after a crash. */
const SETTLE_PAUSES_MS = [100, 500, 1_000, 5_000, 15_000, 30_000, 60_000] as const;

/** What a peer has said is not thrown away because the disk is full for a moment: it would send the mail twice. */
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
