/** Deletes a mailbox. Its folder is removed later (worker.ts). */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { endMailbox } from './store.ts';

/**
 * Deletes a mailbox. Its address is free at once.
 * @throws AppError not_found
 */
export async function deleteMailbox(
  app: Pick<App, 'db' | 'clock' | 'wakeups'>,
  tenantId: MailboxRow['tenantId'],
  id: string,
): Promise<void> {
  await app.db.commit(endMailbox, { tenantId, id, now: app.clock.now() });
  app.wakeups.notify('mailboxes');
}
