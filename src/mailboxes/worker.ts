/**
 * Removes the folders of deleted mailboxes, as tasks. The task is made in the write that deletes the mailbox, so a folder is
 * removed also when the daemon ends in between: the removal then begins again with what is left.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { accountFolder } from '../accounts/folder.ts';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import { flushPath } from '../db/flush-files.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import { completeTask, retryTask } from '../tasks/store.ts';
import { REMOVALS } from './store.ts';

/** Delay after a removal that has failed, in milliseconds. */
const RETRY_MS = 10 * 60_000;

/** Delay of a removal while no file may be removed, in milliseconds. */
const HELD_RETRY_MS = 60_000;

/** Returns the removal of the folders of deleted mailboxes as a kind of task. */
export function createRemovalKind(
  app: Pick<App, 'blobs' | 'clock' | 'config' | 'db'>,
  closeAccount: RunningAccounts['close'],
): TaskKind {
  return {
    name: REMOVALS,
    leavesHost: false,
    concurrency: 1,
    backOff: () => RETRY_MS,
    async run(task) {
      // A backup copies the folder.
      if (app.blobs.holds.isHeld)
        return app.db.commit(retryTask, {
          lease: leaseOf(task),
          dueAt: app.clock.now() + HELD_RETRY_MS,
          attempts: 0,
        });
      const id = task.reference as MailboxRow['id'];
      await closeAccount(id);
      const folder = accountFolder(app.config.dataDir, id);
      await rm(folder, { recursive: true, force: true });
      const parent = dirname(folder);
      if (existsSync(parent)) flushPath(parent);
      return app.db.commit(completeTask, leaseOf(task));
    },
  };
}
