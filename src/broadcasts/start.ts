/** Starts a broadcast: checks it once more, freezes it, and leaves the rest to background work. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { type Author, draftFieldsOf, readDraft } from './draft.ts';
import { freezeBroadcast } from './freeze.ts';
import { requireStartable, type StartedFrom, storeStart } from './runs/start.ts';
import { getBroadcast } from './store.ts';

type StartApp = Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder' | 'wakeups' | 'log'>;

/**
 * Starts a broadcast and returns it as `sending`. One that is paused must never have been started.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function startBroadcast(
  app: StartApp,
  caller: Author,
  { id, from }: { id: string; from: StartedFrom },
): Promise<BroadcastRow> {
  for (;;) {
    const broadcast = await getBroadcast(app.db.read, caller, id);
    requireStartable(broadcast, from);
    await readDraft(app, caller, { wanted: draftFieldsOf(broadcast), given: {} });
    const content = await freezeBroadcast(app, caller, broadcast);
    const now = app.clock.now();
    const started = await app.db.commit(storeStart, { broadcast, from, ...content, now });
    // A draft that was changed meanwhile is checked and frozen again.
    if (!started) continue;
    app.log.info({ broadcastId: id, tenantId: caller.tenantId }, 'a broadcast has started');
    app.wakeups.notify('broadcasts');
    return started;
  }
}
