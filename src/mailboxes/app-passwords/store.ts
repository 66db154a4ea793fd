/** Stores the app passwords of mailboxes. All SQL of their table is here, and nothing else writes it. */

import type { AppPasswordRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';
import { countRows, deleteRows, findRow, insertRow, listRows, updateRows } from '../../db/rows.ts';
import { cancelWithdrawn } from '../../queue/state/cancel-submitted.ts';
import { invalid, limitReached, notFound } from '../../system/errors.ts';
import { isMember } from '../member-store.ts';
import { getMailbox } from '../store.ts';

/** Maximum number of app passwords of a mailbox. A SCRAM proof is tried against each of them. */
export const MAX_APP_PASSWORDS = 50;

type TenantId = MailboxRow['tenantId'];
/** An app password, as a caller names it. */
type Named = { tenantId: TenantId; mailboxId: string; id: string };

/**
 * Stores a new app password.
 * @throws AppError not_found when the mailbox is deleted; validation_error when it has the maximum number of app passwords, or when the
 * member is none
 */
export const insertAppPassword = defineWrite(
  'mailboxes.insertAppPassword',
  async (tx, row: AppPasswordRow): Promise<void> => {
    const { tenantId, mailboxId, memberId } = row;
    await getMailbox(tx, tenantId, mailboxId);
    if (memberId !== null && !(await isMember(tx, { mailboxId, memberId })))
      throw invalid('member', '`member` is not a member of the mailbox');
    await requireAppPasswordLimit(tx, mailboxId);
    await insertRow(tx, 'appPasswords', row);
  },
);

/**
 * Checks that a mailbox can have one more app password, before it is made. The write checks again.
 * @throws AppError validation_error
 */
export async function requireAppPasswordLimit(tx: Tx, mailboxId: MailboxRow['id']): Promise<void> {
  const count = await countRows(tx, 'appPasswords', { mailboxId });
  if (count >= MAX_APP_PASSWORDS)
    throw limitReached('app passwords for this mailbox', count, 'revoke one before you add another');
}

function passwordsOf(tx: Tx, tenantId: TenantId, mailboxId: MailboxRow['id']) {
  return tx
    .selectFrom('appPasswords')
    .selectAll()
    .where('mailboxId', '=', mailboxId)
    .where('tenantId', '=', tenantId);
}

/**
 * Returns a page of the app passwords of a mailbox, newest first.
 * @throws AppError not_found when the tenant has no such mailbox
 */
export async function listAppPasswords(
  tx: Tx,
  tenantId: TenantId,
  { mailboxId, ...page }: { mailboxId: string } & PageRequest,
): Promise<Page<AppPasswordRow>> {
  const { id } = await getMailbox(tx, tenantId, mailboxId);
  return readPage(page, (slice) => inSlice(passwordsOf(tx, tenantId, id), 'id', slice).execute());
}

/**
 * Returns an app password.
 * @throws AppError not_found
 */
export async function getAppPassword(
  tx: Tx,
  tenantId: TenantId,
  { mailboxId, id }: Omit<Named, 'tenantId'>,
): Promise<AppPasswordRow> {
  const mailbox = await getMailbox(tx, tenantId, mailboxId);
  return passwordsOf(tx, tenantId, mailbox.id)
    .where('id', '=', id as AppPasswordRow['id'])
    .executeTakeFirstOrThrow(() => notFound('App password'));
}

/**
 * Deletes an app password, and returns it. Mail that was held with it is canceled. `now` is in Unix milliseconds.
 * @throws AppError not_found
 */
export const deleteAppPassword = defineWrite(
  'mailboxes.deleteAppPassword',
  async (tx, { tenantId, now, ...named }: Named & { now: number }): Promise<AppPasswordRow> => {
    const row = await getAppPassword(tx, tenantId, named);
    await deleteRows(tx, 'appPasswords', { id: row.id });
    await cancelWithdrawn(tx, { mailboxId: row.mailboxId, now });
    return row;
  },
);

/** Returns the app passwords of all mailboxes with this hint. */
export function listAppPasswordsByHint(tx: Tx, hint: string): Promise<AppPasswordRow[]> {
  return listRows(tx, 'appPasswords', { where: { hint }, orderBy: 'id' });
}

/** Returns all app passwords of a mailbox, which are at most `MAX_APP_PASSWORDS`. */
export function listAppPasswordsOf(tx: Tx, mailboxId: MailboxRow['id']): Promise<AppPasswordRow[]> {
  return listRows(tx, 'appPasswords', { where: { mailboxId }, orderBy: 'id' });
}

/** Returns the app passwords that a member has for shared mailboxes. */
export function listAppPasswordsOfMember(tx: Tx, memberId: MailboxRow['id']): Promise<AppPasswordRow[]> {
  return tx.selectFrom('appPasswords').selectAll().where('memberId', '=', memberId).execute();
}

/** Returns an app password of any mailbox. The id comes from this installation, never from a caller. */
export function findAppPasswordById(tx: Tx, id: AppPasswordRow['id']): Promise<AppPasswordRow | undefined> {
  return findRow(tx, 'appPasswords', { id });
}

/** Records that somebody has logged in with an app password. `now` is in Unix milliseconds. */
export const recordAppPasswordUse = defineWrite(
  'mailboxes.recordAppPasswordUse',
  async (tx, { id, now }: { id: AppPasswordRow['id']; now: number }): Promise<void> => {
    await updateRows(tx, 'appPasswords', { set: { lastUsedAt: now }, where: { id } });
  },
);
