/** The queue's background work: claim what is due, deliver it, and put back what was left in flight. */
import type { App } from '../app.ts';
import { createSigningKeys } from '../domains/signing-key.ts';
import { periodic, type Work } from '../system/worker.ts';
import { claimDeliveries, type Delivery, recoverAbandoned } from './claim.ts';
import { deliver } from './deliver.ts';
import { findNextDue } from './store.ts';

export function createQueueWork(app: App): Work<Delivery> {
  const deliveryApp = { ...app, signingKeys: createSigningKeys(app) };
  return {
    name: 'queue',
    wakeOn: ['queue'],
    concurrency: app.config.delivery.concurrency,
    async lease(limit) {
      const claim = { now: app.clock.now(), epoch: app.epoch, limit };
      const deliveries = await app.db.commit(claimDeliveries, claim);
      if (deliveries.length > 0) app.notices.notify('events');
      return deliveries;
    },
    run: (delivery) => deliver(deliveryApp, delivery),
    nextDueAt: () => findNextDue(app.db.read),
  };
}

const RECOVERY_PERIOD_MS = 60_000;

/** What a delivery that failed unsettled left behind in this start: its lease has run out. */
export function createRecoveryWork(app: App): Work<'run'> {
  return periodic(app.clock, {
    name: 'queue recovery',
    periodMs: RECOVERY_PERIOD_MS,
    run: () => recoverQueue(app),
  });
}

/** Also run once before the queue starts, for what an earlier start left behind. */
export async function recoverQueue(
  app: Pick<App, 'db' | 'clock' | 'epoch' | 'log' | 'notices'>,
): Promise<void> {
  const recovered = await app.db.commit(recoverAbandoned, { now: app.clock.now(), epoch: app.epoch });
  if (recovered.retried === 0 && recovered.held === 0) return;
  app.log.warn(recovered, 'mail was left in flight');
  app.notices.notify('queue');
}
