/** Deletes a mailbox. Its folder is removed later (worker.ts). */

import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { endSessionsOfGone } from './app-passwords/revoke.ts';
import { listAppPasswordsOfMember } from './app-passwords/store.ts';
import { endMailbox } from './store.ts';

/**
 * Deletes a mailbox. Its address is free at once, and its memberships end.
 * @throws AppError not_found
 */
export async function deleteMailbox(
  app: Pick<App, 'db' | 'clock' | 'wakeups'> & { accounts: RunningAccounts },
  tenantId: MailboxRow['tenantId'],
  id: string,
): Promise<void> {
  const used = await listAppPasswordsOfMember(app.db.read, id as MailboxRow['id']);
  await app.db.commit(endMailbox, { tenantId, id, now: app.clock.now() });
  app.wakeups.notify('logins', [id]);
  await endSessionsOfGone(app, used);
}
