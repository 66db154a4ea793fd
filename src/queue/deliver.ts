/**
 * One delivery, from claim to settlement: prepared, carried to where it goes, and what came of it stored. Who carries
 * is for its place (conversation.ts): a session with a mail server, the simulator, or a verdict that stands already.
 */
import type { App } from '../app.ts';
import type { RecipientRow } from '../db/tables.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { sleep } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { Delivery } from './claim.ts';
import { NO_REPORT, type Outcome, type Verdict, verdictForAll } from './outcome.ts';
import type { PreparedMessage } from './prepare.ts';
import { retryDelayMs } from './schedule.ts';
import { type Settlement, settle } from './settle.ts';

export type DeliveryApp = App & { signingKeys: SigningKeys };

/** A claim that is on its way. */
export type Claimed = Delivery & {
  /** On the monotonic clock. */
  claimedAt: number;
  /** Sessions it was handed to, and came back from untouched. */
  tries: number;
  /** What the last session reported that broke off in the middle of this delivery. Undefined when none did. */
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
  const { verdicts, signature } = await carry(claimed).catch((error) => ourFault(app, claimed, error));
  if (verdicts.size === 0) return;
  await settleDurably(app, {
    messageId: claimed.message.id,
    epoch: app.epoch,
    now: app.clock.now(),
    durationMs: Math.round(app.clock.elapsed() - startedAt),
    signature,
    results: claimed.recipients.flatMap(({ id, attempts }) => {
      const verdict = verdicts.get(id);
      if (!verdict) return [];
      return [{ recipientId: id, attempts, verdict, retryDelayMs: retryDelayMs(app.random, attempts) }];
    }),
  });
  app.notices.notify('events');
  if ([...verdicts.values()].some(({ outcome }) => outcome.kind === 'deferred')) app.notices.notify('queue');
}

/** A bug or a broken part of ours: said loudly, and the mail waits for us to mend it, until its time is up. */
function ourFault(app: DeliveryApp, { message, recipients }: Claimed, error: unknown): Attempt {
  app.log.error({ err: error, messageId: message.id }, 'a delivery failed by our own fault');
  const report = { ...NO_REPORT, phase: 'local', text: `Local error: ${errorMessage(error)}` } as const;
  return {
    verdicts: verdictForAll({ recipients }, { kind: 'deferred', report }),
    signature: null,
  };
}

/** About two minutes in all; after that the lease runs out, and the mail is tried again as after a crash. */
const SETTLE_PAUSES_MS = [100, 500, 1_000, 5_000, 15_000, 30_000, 60_000] as const;

/** What a peer has said is not thrown away because the disk is full for a moment: it would send the mail twice. */
async function settleDurably(app: DeliveryApp, settlement: Settlement): Promise<void> {
  for (const pauseMs of SETTLE_PAUSES_MS) {
    try {
      return await app.db.commit(settle, settlement);
    } catch (error) {
      app.log.error({ err: error, messageId: settlement.messageId }, 'an outcome could not be stored yet');
      await sleep(app.clock, pauseMs);
    }
  }
  await app.db.commit(settle, settlement);
}
