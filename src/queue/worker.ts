/** The queue's background work: claim what is due, deliver it, and put back what a crash left behind. */
import type { App } from '../app.ts';
import { createSigningKeys } from '../domains/signing-key.ts';
import type { Work } from '../system/worker.ts';
import { claimDeliveries, type Delivery, recoverAbandoned } from './claim.ts';
import { deliver } from './deliver.ts';
import { findNextDue } from './store.ts';

export function createQueueWork(app: App): Work<Delivery> {
  const deliveryApp = { ...app, signingKeys: createSigningKeys(app) };
  return {
    name: 'queue',
    wakeOn: ['queue'],
    concurrency: app.config.delivery.concurrency,
    lease: (limit) => app.db.commit(claimDeliveries, { now: app.clock.now(), epoch: app.epoch, limit }),
    run: (delivery) => deliver(deliveryApp, delivery),
    nextDueAt: () => findNextDue(app.db.read),
  };
}

/** To be run once before the queue starts. */
export async function recoverQueue(app: Pick<App, 'db' | 'clock' | 'epoch' | 'log'>): Promise<void> {
  const recovered = await app.db.commit(recoverAbandoned, { now: app.clock.now(), epoch: app.epoch });
  if (recovered.retried > 0 || recovered.held > 0)
    app.log.warn(recovered, 'mail was in flight when the daemon ended');
}
