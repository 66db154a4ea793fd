/**
 * Stores delivery attempts, one row each, which explain the outcome of a delivery. All SQL of this table is here.
 */

import { sql } from 'kysely';
import type { AttemptRow } from '../db/email-tables.ts';
import { type ExpiryRange, type ExpirySlice, findSlice } from '../db/expiry.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { findRow, insertRow } from '../db/rows.ts';
import type { RecipientRow } from '../db/tables.ts';
import { isAboutOpenMail } from '../events/store.ts';
import { newId } from '../system/ids.ts';

/** Deletes the attempts among the next `EXPIRY_ROWS` of the range, apart from those of open mail. */
export const expireAttempts = defineWrite(
  'queue.expireAttempts',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'attempts', range);
    const { numDeletedRows } = await tx
      .deleteFrom('attempts')
      .where(isInSlice)
      .where(sql<boolean>`NOT ${isAboutOpenMail('attempts.messageId')}`)
      .executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);

/** Deletes the attempts of a message, as part of the write that deletes the message and before its recipients are gone. */
export async function deleteAttemptsOf(tx: Tx, messageId: RecipientRow['messageId']): Promise<void> {
  await tx
    .deleteFrom('attempts')
    .where('recipientId', 'in', (where) =>
      where.selectFrom('recipients').select('recipients.id').where('messageId', '=', messageId),
    )
    .execute();
}

/** Returns the attempt at which mail to a recipient bounced; undefined when it bounced later or the attempt is deleted. */
export function findBounceAttempt(
  tx: Tx,
  recipientId: AttemptRow['recipientId'],
): Promise<AttemptRow | undefined> {
  return findRow(tx, 'attempts', { recipientId, outcome: 'bounced' });
}

/** Maximum number of attempts of a message in an answer. A message with 50 recipients has more only after weeks of deferrals. */
const MAX_LISTED = 1_000;

/** Returns the newest attempts of a message, the oldest of them first. */
export async function listAttempts(tx: Tx, messageId: RecipientRow['messageId']): Promise<AttemptRow[]> {
  const newest = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('recipientId', 'in', (where) =>
      where.selectFrom('recipients').select('recipients.id').where('messageId', '=', messageId),
    )
    .orderBy('id', 'desc')
    .limit(MAX_LISTED)
    .execute();
  return newest.reverse();
}

type NewAttempt = Omit<AttemptRow, 'id' | 'recipientId' | 'messageId' | 'tenantId'>;

/** Stores one attempt to deliver to the recipient, as part of the write that ends the attempt. */
export async function insertAttempt(
  tx: Tx,
  { id: recipientId, messageId, tenantId }: Pick<RecipientRow, 'id' | 'messageId' | 'tenantId'>,
  attempt: NewAttempt,
): Promise<void> {
  const id = newId('att', attempt.at);
  await insertRow(tx, 'attempts', { ...attempt, id, recipientId, messageId, tenantId });
}
