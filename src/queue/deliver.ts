/**
 * One delivery, from claim to settlement: where to, with which bytes, what the peers said, what is stored. It decides
 * nothing itself; each step is the file of its name.
 */
import type { App } from '../app.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import { sleep } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';
import type { Delivery } from './claim.ts';
import { NO_REPORT, type Verdict } from './outcome.ts';
import { prepareMessage } from './prepare.ts';
import { chooseRoute } from './route.ts';
import { retryDelayMs } from './schedule.ts';
import { type Settlement, settle } from './settle.ts';
import { simulateDelivery } from './simulate.ts';
import { transact } from './transact.ts';

export type DeliveryApp = App & { signingKeys: SigningKeys };

export async function deliver(app: DeliveryApp, delivery: Delivery): Promise<void> {
  app.crashPoint('claim-after-commit');
  const startedAt = app.clock.elapsed();
  const { verdicts, signature } = await attempt(app, delivery).catch((error) =>
    ourFault(app, delivery, error),
  );
  await settleDurably(app, {
    messageId: delivery.message.id,
    epoch: app.epoch,
    now: app.clock.now(),
    durationMs: Math.round(app.clock.elapsed() - startedAt),
    signature,
    results: delivery.recipients.flatMap(({ id, attempts }, index) => {
      const verdict = verdicts[index];
      if (!verdict) return [];
      return [{ recipientId: id, attempts, verdict, retryDelayMs: retryDelayMs(app.random, attempts) }];
    }),
  });
  app.notices.notify('events');
}

type Attempt = {
  /** One for each recipient of the delivery, in its order. */
  verdicts: Verdict[];
  signature: string | null;
};

async function attempt(app: DeliveryApp, delivery: Delivery): Promise<Attempt> {
  const route = await chooseRoute(app, delivery);
  switch (route.kind) {
    case 'simulator':
      return { verdicts: simulateDelivery(delivery, route.isSimulatorDomain), signature: null };
    case 'verdict':
      return { verdicts: delivery.recipients.map(() => ({ outcome: route.outcome })), signature: null };
    case 'hosts': {
      const prepared = await prepareMessage(app, delivery.message);
      const outcomes = await transact(app, delivery, route.hosts, prepared);
      return { verdicts: outcomes.map((outcome) => ({ outcome })), signature: prepared.signature };
    }
  }
}

/** A bug or a broken part of ours: said loudly, and the mail waits for us to mend it, until its time is up. */
function ourFault(app: DeliveryApp, delivery: Delivery, error: unknown): Attempt {
  app.log.error({ err: error, messageId: delivery.message.id }, 'a delivery failed by our own fault');
  const report = { ...NO_REPORT, phase: 'local', text: `Local error: ${errorMessage(error)}` } as const;
  return {
    verdicts: delivery.recipients.map(() => ({ outcome: { kind: 'deferred', report } })),
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
