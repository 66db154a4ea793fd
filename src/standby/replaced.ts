/** Refuses to run where another host has taken the place of this one. */
import type { App } from '../app.ts';
import { openStore } from '../objects/open-store.ts';
import { isoTime, withTimeout } from '../system/clock.ts';
import { findOwner, isReplaced, type Owner, readOwnOwner } from './owner.ts';
import { storeSettings } from './store-settings.ts';

/** Maximum time in which the store has to say who owns the installation at the start, in milliseconds. */
const START_TIMEOUT_MS = 5_000;

/** Reports that another host goes on in the place of this one, in a message for the operator. */
export class ReplacedError extends Error {
  override readonly name = 'ReplacedError';
}

/**
 * Checks at the start that this host was not replaced. A store that cannot be reached is no reason to stay down: it is asked again while
 * the daemon runs.
 * @throws ReplacedError
 */
export async function requireNotReplaced(app: App): Promise<void> {
  const { clock, config, db, log } = app;
  const own = config.standby.store === '' ? undefined : readOwnOwner(config.dataDir);
  if (!own) return;
  const store = openStore(app, storeSettings(config));
  try {
    const asked = findOwner(store, db.installation.id);
    const found = await withTimeout(clock, asked, { timeoutMs: START_TIMEOUT_MS, what: 'the standby store' });
    if (found && isReplaced(own, found)) throw new ReplacedError(replacedBy(found));
  } catch (error) {
    if (error instanceof ReplacedError) throw error;
    log.warn({ err: error }, 'the standby store does not say who owns this installation; this host goes on');
  } finally {
    await store.close();
  }
}

/** Says who has taken the place of this host, and what an operator can do. */
export function replacedBy({ host, since }: Owner): string {
  return `${host} has taken the place of this host since ${isoTime(since)} (postrider standby promote), so this host does not run. To let it run all the same, stop that one for good, and remove the folder "standby" of the data directory here`;
}
