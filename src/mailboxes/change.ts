/**
 * Changes a mailbox. Its sessions end when it gets another password, is suspended, or has other capabilities, which clients ask for once.
 * They follow a new quota.
 */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { readAll } from '../system/errors.ts';
import { readDisabledCapabilities } from './disabled-capabilities.ts';
import { hashPassword } from './passwords/hash.ts';
import { readPassword } from './passwords/password.ts';
import type { RunningAccounts } from './running-accounts.ts';
import type { MailboxChange } from './schemas.ts';
import { getMailbox, updateMailbox } from './store.ts';

type Wanted = { id: string; change: MailboxChange };

/**
 * Changes the named fields of a mailbox and returns it.
 * @throws AppError not_found, validation_error, unavailable; invalid_state for the status of a damaged mailbox
 */
export async function changeMailbox(
  app: Pick<App, 'db' | 'clock'> & { accounts: RunningAccounts },
  tenantId: MailboxRow['tenantId'],
  { id, change }: Wanted,
): Promise<MailboxRow> {
  const { displayName, quotaBytes, status, password, disabledCapabilities } = change;
  const { read, disabled } = readAll({
    read: () => (password === undefined ? undefined : readPassword('password', password)),
    disabled: () =>
      disabledCapabilities === undefined ? undefined : readDisabledCapabilities(disabledCapabilities),
  });
  const before = await getMailbox(app.db.read, tenantId, id);
  const passwordHash = read === undefined ? undefined : await hashPassword(read, tenantId);
  const after = await app.db.commit(updateMailbox, {
    tenantId,
    id: before.id,
    now: app.clock.now(),
    change: {
      ...(displayName !== undefined && { displayName }),
      ...(quotaBytes !== undefined && { quotaBytes }),
      ...(status !== undefined && { status }),
      ...(passwordHash !== undefined && { passwordHash }),
      ...(disabled !== undefined && { disabledCapabilities: disabled }),
    },
  });
  const isSuspended = before.status === 'active' && after.status === 'suspended';
  const hasOtherCapabilities = before.disabledCapabilities !== after.disabledCapabilities;
  if (isSuspended || hasOtherCapabilities || passwordHash !== undefined) await app.accounts.close(after.id);
  else if (before.quotaBytes !== after.quotaBytes) await app.accounts.configure(after);
  return after;
}
