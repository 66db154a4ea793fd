/**
 * Removes the folders of deleted mailboxes. The list of them is durable, so a folder is removed also when the daemon ends in
 * between: its lease runs out, and the removal begins again with what is left.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accountFolder } from '../accounts/folder.ts';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import { flushPath } from '../db/flush-files.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Work } from '../system/worker.ts';
import { endRemoval, findNextRemoval, leaseRemovals } from './removal-store.ts';

/** Length of a lease. It is longer than the removal of a large folder takes; a failed removal is tried again after it. */
const LEASE_MS = 10 * 60_000;

/** Returns the work that removes the folders of deleted mailboxes. */
export function createRemovalWork(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  closeAccount: RunningAccounts['close'],
): Work<MailboxRow['id']> {
  return {
    name: 'removal of mailboxes',
    wakeOn: ['mailboxes'],
    concurrency: 1,
    async lease(limit) {
      const now = app.clock.now();
      const dueAt = await findNextRemoval(app.db.read);
      if (dueAt === undefined || dueAt > now) return { items: [], nextDueAt: dueAt };
      const items = await app.db.commit(leaseRemovals, { now, until: now + LEASE_MS, limit });
      return { items, nextDueAt: await findNextRemoval(app.db.read) };
    },
    async run(id) {
      await closeAccount(id);
      const folder = accountFolder(app.config.dataDir, id);
      await rm(folder, { recursive: true, force: true });
      const parent = dirname(folder);
      if (existsSync(parent)) flushPath(parent);
      await app.db.commit(endRemoval, { id });
    },
  };
}
