/**
 * From the event log to deliveries: what an event means to whom. The events of a batch are marked in the transaction
 * that makes their deliveries, so after a crash none is missed and none is made twice.
 */
import type { App } from '../app.ts';
import type { Work } from '../system/worker.ts';
import { type FanOutCounts, fanOutEvents } from './store.ts';

/** Events in one write: enough to keep up with any sending rate, few enough not to hold up the other writes. */
const BATCH = 500;

/** The lease does all of it; what is left to run is to tell the webhook worker. */
export function createFanOutWork(app: Pick<App, 'db' | 'clock' | 'notices'>): Work<FanOutCounts> {
  return {
    name: 'webhook fan-out',
    wakeOn: ['events'],
    concurrency: 1,
    async lease() {
      const counts = await app.db.commit(fanOutEvents, { now: app.clock.now(), limit: BATCH });
      return counts.events > 0 ? [counts] : [];
    },
    async run({ deliveries }) {
      if (deliveries > 0) app.notices.notify('webhooks');
    },
    nextDueAt: async () => undefined,
  };
}
