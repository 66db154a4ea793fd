/** Lets the time pass that deliveries wait which many kills have interrupted (webhooks/posting/schedule.ts). */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { MailboxWorld } from './place.ts';

/** Makes waiting deliveries due, after a life that ends in peace: nothing but the daemon opens a database that a kill has left. */
export async function letAttemptsPass({ world }: Pick<MailboxWorld, 'world'>): Promise<void> {
  const daemon = await world.start();
  await daemon.stop();
  await world.endLife(Date.now());
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  try {
    database.exec("UPDATE receivedTasks SET dueAt = 0 WHERE state = 'pending'");
  } finally {
    database.close();
  }
}
