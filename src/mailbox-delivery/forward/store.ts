/** Deletes mail that this installation itself has sent: forwarded mail and reports. They are emails of no API. */
import { sql } from 'kysely';
import type { StoredBytes } from '../../blobs/store.ts';
import type { ExpirySlice } from '../../db/expiry.ts';
import { defineWrite } from '../../db/operation.ts';
import { constant, type Param, statement } from '../../db/statement.ts';
import { freeReceivedBytes } from '../../inbound/store.ts';
import { deleteNotifications, NOTIFICATION_TASKS } from '../../queue/notifications-store.ts';
import { deleteMessages } from '../../queue/store.ts';
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';
import { GIVE_BACK } from './give-back.ts';

type Expiry = { endedBy: number; rows: number };

const nextEnded = statement((db, param: Param<Expiry>) =>
  db
    .selectFrom('messages')
    .select(['id', 'blobId'])
    .where('tenantId', '=', INSTALLATION_TENANT)
    .where('mode', '=', 'live')
    // Mail in any other state is still tried.
    .where(sql<boolean>`status IN ('delivered', 'bounced', 'complained', 'canceled')`)
    .where('lastEventAt', '<=', constant(param('endedBy')))
    .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM recipients WHERE recipients.messageId = messages.id
      AND recipients.state IN ('ready', 'in_flight', 'deferred', 'held'))`)
    // A mailbox that takes its message back may be damaged for longer than mail is kept.
    .where(sql<boolean>`NOT EXISTS (SELECT 1 FROM failureNotifications
      JOIN tasks ON tasks.kind = ${NOTIFICATION_TASKS} AND tasks.reference = failureNotifications.messageId
      WHERE failureNotifications.messageId = messages.id AND address = ${GIVE_BACK})`)
    .limit(constant(param('rows'))),
);

/**
 * Deletes the messages that ended at `endedBy` or before, in Unix milliseconds, with their bytes. Returns the bytes that are in files,
 * which the caller discards.
 */
export const expireForwarded = defineWrite(
  'inbound.expireForwarded',
  async (tx, expiry: Expiry): Promise<ExpirySlice & { files: StoredBytes[] }> => {
    const rows = await nextEnded.all(tx, expiry);
    const files: StoredBytes[] = [];
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) {
      await deleteNotifications(tx, ids);
      await deleteMessages(tx, ids);
    }
    for (const { blobId } of rows) {
      const file = blobId === null ? undefined : await freeReceivedBytes(tx, blobId);
      if (file) files.push(file);
    }
    return { next: rows.length === expiry.rows ? 'more' : undefined, deleted: rows.length, files };
  },
  { priority: 'bulk' },
);
