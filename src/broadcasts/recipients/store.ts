/** Reads the ledger of a broadcast for its owner: what became of each contact. This module writes nothing. */
import { sql } from 'kysely';
import type { BroadcastEngagementRow, BroadcastRecipientRow } from '../../db/broadcast-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../../db/page.ts';

/** A contact of a broadcast. `openedAt` and `clickedAt` are the times of the first open and the first click by a person. */
export type Recipient = Pick<
  BroadcastRecipientRow,
  'contactId' | 'address' | 'state' | 'emailId' | 'reason' | 'changedAt'
> &
  Pick<BroadcastEngagementRow, 'openedAt' | 'clickedAt'>;

export type RecipientFilter = { status?: BroadcastRecipientRow['state'] };

/** Returns a page of the contacts of a broadcast, those that were created last first. */
export function listRecipients(
  tx: Tx,
  broadcastId: BroadcastRecipientRow['broadcastId'],
  { status, ...page }: PageRequest & RecipientFilter,
): Promise<Page<Recipient>> {
  const all = tx
    .selectFrom('broadcastRecipients as entry')
    .leftJoin('broadcastEngagements as engagement', (join) =>
      join
        .onRef('engagement.broadcastId', '=', 'entry.broadcastId')
        .onRef('engagement.contactId', '=', 'entry.contactId'),
    )
    .select(['entry.contactId', 'entry.address', 'entry.state', 'entry.emailId', 'entry.reason'])
    .select(['entry.changedAt', 'engagement.openedAt', 'engagement.clickedAt'])
    .where('entry.broadcastId', '=', broadcastId);
  // Without the estimate, SQLite scans the primary key and reads all contacts that have another state.
  const wanted =
    status === undefined ? all : all.where(sql<boolean>`unlikely(${sql.ref('entry.state')} = ${status})`);
  return readPage(page, (slice) => inSlice(wanted, 'entry.contactId', slice).execute());
}
