/** Reads what belongs to mailboxes and is stored in tables of its own. */
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { withAliases } from './addresses/store.ts';
import { withFilters } from './filters/store.ts';
import { withMembers } from './member-store.ts';
import type { MailboxDetails } from './schemas.ts';

/** Returns the mailboxes with what the API shows of them. */
export async function withDetails(tx: Tx, mailboxes: readonly MailboxRow[]): Promise<MailboxDetails[]> {
  return withFilters(tx, await withMembers(tx, await withAliases(tx, mailboxes)));
}

/** Returns the mailbox with what the API shows of it. */
export async function withItsDetails(tx: Tx, mailbox: MailboxRow): Promise<MailboxDetails> {
  const [found] = await withDetails(tx, [mailbox]);
  if (!found) throw new Error('a mailbox has no details');
  return found;
}
