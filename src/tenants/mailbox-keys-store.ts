/** Reads the API keys that reach the messages of one mailbox. Nothing is written here. */
import type { Tx } from '../db/operation.ts';
import { findRow } from '../db/rows.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { invalid, limitReached, notFound } from '../system/errors.ts';

/** Maximum number of API keys of one mailbox that are not revoked. They do not count for its tenant. Our own limit. */
const MAX_KEYS_OF_MAILBOX = 20;

/**
 * Checks that a mailbox can have one more key, and that the key of a shared mailbox is for a member.
 * @throws AppError not_found, validation_error
 */
export async function requireKeyOfMailbox(
  tx: Tx,
  { mailboxId, memberId, tenantId }: Pick<ApiKeyRow, 'mailboxId' | 'memberId' | 'tenantId'>,
): Promise<void> {
  const mailbox = mailboxId && (await findRow(tx, 'mailboxes', { id: mailboxId }));
  if (!mailbox || mailbox.tenantId !== tenantId) throw notFound('Mailbox');
  if (memberId !== null && !(await findRow(tx, 'mailboxMembers', { mailboxId: mailbox.id, memberId })))
    throw invalid('member', '`member` is not a member of the mailbox');
  const { length } = await listKeysOfMailbox(tx, mailbox.id);
  if (length >= MAX_KEYS_OF_MAILBOX)
    throw limitReached('API keys for this mailbox', length, 'revoke one before you add another');
}

/** Returns the keys of a mailbox that are not revoked, the newest first. They are at most `MAX_KEYS_OF_MAILBOX`. */
export function listKeysOfMailbox(
  tx: Tx,
  mailboxId: NonNullable<ApiKeyRow['mailboxId']>,
): Promise<ApiKeyRow[]> {
  return tx
    .selectFrom('apiKeys')
    .selectAll()
    .where('mailboxId', '=', mailboxId)
    .where('revokedAt', 'is', null)
    .orderBy('id', 'desc')
    .execute();
}
