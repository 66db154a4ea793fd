/**
 * One delivery, from claim to settlement: where to, with which bytes, what the peers said, what is stored. It decides
 * nothing itself; each step is the file of its name.
 */
import type { App } from '../app.ts';
import type { SigningKeys } from '../domains/signing-key.ts';
import type { Delivery } from './claim.ts';
import type { Verdict } from './outcome.ts';
import { prepareMessage } from './prepare.ts';
import { chooseRoute } from './route.ts';
import { retryDelayMs } from './schedule.ts';
import { settle } from './settle.ts';
import { simulateDelivery } from './simulate.ts';
import { transact } from './transact.ts';

export type DeliveryApp = App & { signingKeys: SigningKeys };

export async function deliver(app: DeliveryApp, delivery: Delivery): Promise<void> {
  app.crashPoint('claim-after-commit');
  const startedAt = app.clock.elapsed();
  const { verdicts, signature } = await attempt(app, delivery);
  await app.db.commit(settle, {
    messageId: delivery.message.id,
    epoch: app.epoch,
    now: app.clock.now(),
    durationMs: Math.round(app.clock.elapsed() - startedAt),
    signature,
    results: delivery.recipients.flatMap((recipient, index) => {
      const verdict = verdicts[index];
      const delayMs = retryDelayMs(app.random, recipient.attempts);
      return verdict ? [{ recipientId: recipient.id, verdict, retryDelayMs: delayMs }] : [];
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
