/** Revokes app passwords, and ends their sessions. */

import type { RunningAccounts } from '../../accounts/running-accounts.ts';
import type { App } from '../../app.ts';
import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { deleteAppPassword, findAppPasswordById, listAppPasswordsOfMember } from './store.ts';

/**
 * Deletes an app password, and ends its sessions. Other sessions of the mailbox go on.
 * @throws AppError not_found
 */
export async function revokeAppPassword(
  app: Pick<App, 'db' | 'clock'> & { accounts: RunningAccounts },
  tenantId: MailboxRow['tenantId'],
  named: { mailboxId: string; id: string },
): Promise<AppPasswordRow> {
  const now = app.clock.now();
  const row = await app.db.commit(deleteAppPassword, { tenantId, ...named, now });
  await app.accounts.endSessions(row.mailboxId, row.id);
  return row;
}

/** Ends the sessions of those of these app passwords that are deleted, as they are with a membership or a mailbox. */
export async function endSessionsOfGone(
  { db, accounts }: Pick<App, 'db'> & { accounts: RunningAccounts },
  rows: readonly AppPasswordRow[],
): Promise<void> {
  for (const { id, mailboxId } of rows)
    if (!(await findAppPasswordById(db.read, id))) await accounts.endSessions(mailboxId, id);
}

/** Ends the sessions of a member in shared mailboxes. */
export async function endSessionsOfMember(
  { db, accounts }: Pick<App, 'db'> & { accounts: RunningAccounts },
  memberId: MailboxRow['id'],
): Promise<void> {
  for (const { id, mailboxId } of await listAppPasswordsOfMember(db.read, memberId))
    await accounts.endSessions(mailboxId, id);
}
