/** Deliveries to mailboxes that are not done yet. */
import { withDatabase } from '../open-database.ts';
import type { MailboxWorld } from './place.ts';

/**
 * Lets the time pass that deliveries wait which many kills have interrupted (webhooks/posting/schedule.ts). A life that ends in peace
 * comes first, because nothing but the daemon writes to a database that a kill has left.
 */
export async function letAttemptsPass({ world }: Pick<MailboxWorld, 'world'>): Promise<void> {
  const daemon = await world.start();
  await daemon.stop();
  await world.endLife(Date.now());
  withDatabase(world.dataDir, { readonly: false }, (database) =>
    database.exec("UPDATE receivedTasks SET dueAt = 0 WHERE state = 'pending'"),
  );
}

/** Returns the number of deliveries that are not done. The daemon may run. */
export function countPending(dataDir: string): number {
  return withDatabase(dataDir, { readonly: true }, (database) =>
    Number(database.prepare("SELECT count(*) FROM receivedTasks WHERE state = 'pending'").pluck().get()),
  );
}
