/**
 * The steps of retention for received mail, whose bytes are deleted first and its rows later, and for the mail that this installation
 * sends itself.
 */
import type { App } from '../app.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { ExpiryRange, ExpirySlice, ExpiryStep } from '../db/expiry.ts';
import { defineWrite } from '../db/operation.ts';
import { SliceSize } from '../db/slice-size.ts';
import { deleteReceived, expireReceivedContent, listOldReceived } from '../inbound/store.ts';
import { deleteTasksOf } from '../inbound/tasks/store.ts';
import { expireReports } from '../mail-reports/reports/store.ts';
import { expireForwarded } from '../mailbox-delivery/forward/store.ts';
import { deletePlansOf } from '../mailbox-delivery/scripts/plan-store.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';

/** A message has up to 100 recipients, and freeing a blob reads all of its pages. */
const MESSAGES = { first: 25, min: 5, max: 50 };
/** A report has some kilobytes. */
const REPORTS = { first: 100, min: 25, max: 250 };

/** Deletes the rows of the messages of the range whose bytes were deleted before. */
const expireReceived = defineWrite(
  'inbound.expire',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const rows = await listOldReceived(tx, range);
    const expired = rows.filter(({ contentDeletedAt }) => contentDeletedAt !== null);
    for (const message of expired) {
      await deletePlansOf(tx, message.id);
      await deleteTasksOf(tx, message.id);
      await deleteReceived(tx, message);
    }
    return { next: rows[range.rows - 1]?.id, deleted: expired.length };
  },
  { priority: 'bulk' },
);

/** Returns the steps of retention for received mail. */
export function receivedSteps(app: Pick<App, 'db' | 'blobs' | 'config'>): readonly ExpiryStep[] {
  const { retention } = app.config;
  return [
    {
      kind: 'received_contents',
      size: new SliceSize(MESSAGES),
      async expire(now, { rows }) {
        const endedBy = now - retention.inboundDays * DAY_MS;
        const { files, ...expired } = await app.db.commit(expireReceivedContent, { now, endedBy, rows });
        await discardAll(app.blobs, files);
        return expired;
      },
    },
    {
      kind: 'forwarded',
      size: new SliceSize(MESSAGES),
      async expire(now, { rows }) {
        const endedBy = now - retention.inboundDays * DAY_MS;
        const { files, ...expired } = await app.db.commit(expireForwarded, { endedBy, rows });
        await discardAll(app.blobs, files);
        return expired;
      },
    },
    {
      kind: 'received',
      size: new SliceSize(MESSAGES),
      expire: (now, slice) =>
        app.db.commit(expireReceived, { before: firstKeptId('in', now, retention.eventDays), ...slice }),
    },
    {
      kind: 'reports',
      size: new SliceSize(REPORTS),
      expire: (now, slice) =>
        app.db.commit(expireReports, { before: firstKeptId('rep', now, retention.eventDays), ...slice }),
    },
  ];
}
