/** Starts the thread of webhooks. An installation without endpoints never has it. */
import type { App } from '../app.ts';
import { createThreadStart, type StartableThread, startIfNeeded } from '../system/thread/on-demand.ts';
import type { Work } from '../system/worker.ts';
import { needsWebhooks } from './store.ts';

/**
 * Starts the thread if there are endpoints.
 * @throws the error for which it could not start
 */
export function startWebhooksIfNeeded({ db }: Pick<App, 'db'>, thread: StartableThread): Promise<void> {
  return startIfNeeded(thread, { isNeeded: () => needsWebhooks(db.read) });
}

/** Returns the work that starts the thread once there are endpoints. */
export function createWebhookStart({ db }: Pick<App, 'db'>, thread: StartableThread): Work<never> {
  return createThreadStart(thread, {
    name: 'start of webhooks',
    wakeOn: ['events'],
    isNeeded: () => needsWebhooks(db.read),
  });
}
