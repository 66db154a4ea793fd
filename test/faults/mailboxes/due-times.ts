/** Deliveries to mailboxes that are not done yet. */
import { withDatabase } from '../open-database.ts';

/** Returns the number of deliveries that are not done. The daemon may run. */
export function countPending(dataDir: string): number {
  return withDatabase(dataDir, { readonly: true }, (database) =>
    Number(database.prepare("SELECT count(*) FROM receivedTasks WHERE state = 'pending'").pluck().get()),
  );
}
