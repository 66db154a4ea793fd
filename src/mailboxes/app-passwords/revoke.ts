/** Revokes an app password. */
import type { App } from '../../app.ts';
import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import type { RunningAccounts } from '../running-accounts.ts';
import { deleteAppPassword } from './store.ts';

/**
 * Deletes an app password, and ends its sessions. Other sessions of the mailbox go on.
 * @throws AppError not_found
 */
export async function revokeAppPassword(
  app: Pick<App, 'db'> & { accounts: RunningAccounts },
  tenantId: MailboxRow['tenantId'],
  named: { mailboxId: string; id: string },
): Promise<AppPasswordRow> {
  const row = await app.db.commit(deleteAppPassword, { tenantId, ...named });
  await app.accounts.endSessions(row.mailboxId, row.id);
  return row;
}
