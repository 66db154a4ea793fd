/** Stores what mailboxes do with their mail by themselves. All SQL of this table is here, and nothing else writes it. */

import type { MailboxFilterRow, MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { deleteRows, findColumns, insertRow } from '../../db/rows.ts';
import { compileFilters } from './compile.ts';
import { type Filters, NO_FILTERS } from './filters.ts';

type MailboxId = MailboxRow['id'];

/** The script of filters that do nothing with mail but store it, such as a wish about copies where nothing is forwarded. */
const NO_SCRIPT = '';

/** Returns the script that the filters of a mailbox have become; undefined when it has none. */
export async function findFilterScript(tx: Tx, mailboxId: MailboxId): Promise<string | undefined> {
  const { script = NO_SCRIPT } =
    (await findColumns(tx, 'mailboxFilters', { select: ['script'], where: { mailboxId } })) ?? {};
  return script === NO_SCRIPT ? undefined : script;
}

/** Returns the mailboxes with their filters. */
export async function withFilters<Mailbox extends Pick<MailboxRow, 'id'>>(
  tx: Tx,
  mailboxes: readonly Mailbox[],
): Promise<(Mailbox & { filters: Filters })[]> {
  const ids = mailboxes.map(({ id }) => id);
  const rows = await tx.selectFrom('mailboxFilters').selectAll().where('mailboxId', 'in', ids).execute();
  const byMailbox = new Map(rows.map((row) => [row.mailboxId, row]));
  return mailboxes.map((mailbox) => ({ ...mailbox, filters: readRow(byMailbox.get(mailbox.id)) }));
}

function readRow(row: MailboxFilterRow | undefined): Filters {
  return row ? (JSON.parse(row.filters) as Filters) : NO_FILTERS;
}

/** Returns the filters of a mailbox. */
export async function findFilters(tx: Tx, mailboxId: MailboxId): Promise<Filters> {
  const [found] = await withFilters(tx, [{ id: mailboxId }]);
  return found?.filters ?? NO_FILTERS;
}

/** Stores the filters of a mailbox in place of those that it has, as part of a write. Returns false when they are the same. */
export async function putFilters(tx: Tx, mailboxId: MailboxId, filters: Filters): Promise<boolean> {
  const script = compileFilters(filters) ?? NO_SCRIPT;
  const text = JSON.stringify(filters);
  if (JSON.stringify(await findFilters(tx, mailboxId)) === text) return false;
  await deleteRows(tx, 'mailboxFilters', { mailboxId });
  if (script !== NO_SCRIPT || !filters.keepCopy)
    await insertRow(tx, 'mailboxFilters', { mailboxId, filters: text, script });
  return true;
}

/** Changes some of the filters of a mailbox, as part of a write. They were checked before. Returns false when that changes nothing. */
export async function changeFilters(
  tx: Tx,
  mailboxId: MailboxId,
  change: Partial<Filters>,
): Promise<boolean> {
  return await putFilters(tx, mailboxId, { ...(await findFilters(tx, mailboxId)), ...change });
}

/** Deletes the filters of a mailbox, as part of the write that deletes the mailbox. */
export async function deleteFiltersOf(tx: Tx, mailboxId: MailboxId): Promise<void> {
  await deleteRows(tx, 'mailboxFilters', { mailboxId });
}
