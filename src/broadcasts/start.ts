/** Starts a broadcast: checks it once more, freezes it, and leaves the rest to background work. A resume may be a start. */
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { findRun } from '../ledger/run-store.ts';
import { control } from './control.ts';
import { type Author, draftFieldsOf, readDraft } from './draft.ts';
import { freezeBroadcast } from './freeze.ts';
import { requireStartable, type StartedFrom, storeStart } from './runs/start.ts';
import { getBroadcast } from './store.ts';

/** The part of the application that sends broadcasts. */
export type SendingApp = Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder' | 'wakeups' | 'log'>;

/**
 * Starts a broadcast and returns it as `sending`. One that is paused must never have been started.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function startBroadcast(
  app: SendingApp,
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

/**
 * Resumes a paused broadcast, or starts the one that was paused because its start was late. Returns it.
 * @throws AppError not_found, invalid_state; for one that is started, also validation_error, restricted_api_key and
 * domain_not_verified
 */
export async function resumeBroadcast(app: SendingApp, caller: Author, id: string): Promise<BroadcastRow> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  const run = await findRun(app.db.read, broadcast.id);
  if (broadcast.status === 'paused' && run?.startedAt === null)
    return startBroadcast(app, caller, { id, from: ['paused'] });
  return control(app, { owner: caller, id, cause: 'resumed' });
}
