/** Exports the list as a file, newest first. An import reads all of them but the email that caused a suppression. */

import type { SuppressionReason, SuppressionRow } from '../db/marketing-tables.ts';
import { defineRead } from '../db/operation.ts';
import type { ExportHandler, ExportSlice } from '../exports/handler.ts';
import { guardText } from '../imports/cells.ts';
import { csvLine } from '../imports/write-csv.ts';
import { isoTime } from '../system/clock.ts';
import { listSuppressions } from './store.ts';

/** The filter in the form that the job stores. */
type SuppressionExportFilter = { reason?: SuppressionReason };

const SLICE_ROWS = 1_000;
const HEADINGS = ['email', 'reason', 'sourceEmailId', 'diagnostic', 'createdAt'];

type Slice = Pick<SuppressionRow, 'tenantId'> & {
  filter: SuppressionExportFilter;
  after: string | undefined;
};

const exportSlice = defineRead(
  'suppressions.exportSlice',
  async (tx, { tenantId, filter, after }: Slice): Promise<ExportSlice> => {
    const page = { limit: SLICE_ROWS, ...(after !== undefined && { startingAfter: after }) };
    const { items, hasMore } = await listSuppressions(tx, tenantId, { ...filter, ...page });
    return {
      csv: items.map(toLine).join(''),
      rows: items.length,
      last: hasMore ? items.at(-1)?.id : undefined,
    };
  },
);

function toLine({ email, reason, sourceEmailId, diagnostic, createdAt }: SuppressionRow): string {
  const diagnosticCell = diagnostic === null ? '' : guardText(diagnostic);
  return csvLine([guardText(email), reason, sourceEmailId ?? '', diagnosticCell, isoTime(createdAt)]);
}

export const suppressionExport: ExportHandler = {
  async open({ db }, job) {
    const { tenantId } = job;
    const filter = JSON.parse(job.options) as SuppressionExportFilter;
    return {
      headings: HEADINGS,
      readSlice: (after) => db.query(exportSlice, { tenantId, filter, after }),
    };
  },
};
