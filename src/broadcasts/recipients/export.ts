/** Exports the contacts of a broadcast as a file, with what became of each. */
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineRead } from '../../db/operation.ts';
import type { ExportHandler, ExportSlice } from '../../exports/handler.ts';
import { guardText } from '../../imports/cells.ts';
import { csvLine } from '../../imports/write-csv.ts';
import { showRecipient } from './show.ts';
import { listRecipients, type Recipient, type RecipientFilter } from './store.ts';

/** The filter in the form that the job stores. */
export type RecipientExportFilter = RecipientFilter & { broadcastId: BroadcastRow['id'] };

/** Number of contacts in a slice, which a reader thread formats in a few milliseconds. */
const SLICE_ROWS = 1_000;
const HEADINGS = ['email', 'status', 'reason', 'changedAt', 'openedAt', 'clickedAt', 'contactId', 'emailId'];

type Slice = { filter: RecipientExportFilter; after: string | undefined };

const exportSlice = defineRead(
  'broadcastRecipients.exportSlice',
  async (tx, { filter: { broadcastId, ...filter }, after }: Slice): Promise<ExportSlice> => {
    const page = { limit: SLICE_ROWS, ...(after !== undefined && { startingAfter: after }) };
    const { items, hasMore } = await listRecipients(tx, broadcastId, { ...filter, ...page });
    return {
      csv: items.map(toLine).join(''),
      rows: items.length,
      last: hasMore ? items.at(-1)?.contactId : undefined,
    };
  },
);

function toLine(row: Recipient): string {
  const { email, status, reason, changedAt, openedAt, clickedAt, contactId, emailId } = showRecipient(row);
  const reasonCell = reason === null ? '' : guardText(reason);
  const times = [changedAt, openedAt ?? '', clickedAt ?? ''];
  return csvLine([guardText(email), status, reasonCell, ...times, contactId, emailId ?? '']);
}

/** Export of the contacts of a broadcast, for the table of exports. */
export const recipientExport: ExportHandler = {
  async open({ db }, { options }) {
    const filter = JSON.parse(options) as RecipientExportFilter;
    return { headings: HEADINGS, readSlice: (after) => db.query(exportSlice, { filter, after }) };
  },
};
