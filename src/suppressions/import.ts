/** Imports files of addresses. The columns `email` and `reason` are read, and all others are ignored. */

import type { SuppressionReason, SuppressionRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type ImportBatch, importRows, type Outcome } from '../imports/batch.ts';
import { readTextCell } from '../imports/cells.ts';
import type { ImportHandler } from '../imports/handler.ts';
import { assignColumns, plainHeading, requireEmailColumn } from '../imports/headings.ts';
import { invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { readAddress } from './request.ts';
import { suppress } from './store.ts';

/** Options in the form that the job stores. `reason` applies to rows without a reason. */
export type SuppressionImportOptions = { reason: SuppressionReason };

type SuppressionImport = Pick<SuppressionRow, 'id' | 'email' | 'reason' | 'createdAt'>;

const importSuppressions = defineWrite(
  'suppressions.import',
  (tx, batch: ImportBatch<SuppressionImport>) =>
    importRows(
      tx,
      batch,
      async ({ tenantId }) =>
        (row) =>
          putSuppression(tx, { ...row, tenantId, sourceEmailId: null, diagnostic: null }),
    ),
  { priority: 'bulk' },
);

/** Suppresses an address without an event, because the owner of the file knows its content. */
async function putSuppression(tx: Tx, wanted: SuppressionRow): Promise<Outcome> {
  const { outcome } = await suppress(tx, wanted);
  return outcome === 'unchanged' ? 'skipped' : outcome;
}

export const suppressionImport: ImportHandler<SuppressionImport> = {
  async readHeadings({ clock }, job, headings) {
    const places = assignColumns(headings, (heading) => {
      const name = plainHeading(heading);
      return name === 'email' || name === 'reason' ? name : undefined;
    });
    const emailColumn = requireEmailColumn(places);
    const reasonColumn = places.get('reason');
    const options = JSON.parse(job.options) as SuppressionImportOptions;
    return {
      emailColumn,
      readRow(cells) {
        const now = clock.now();
        const email = readAddress('email', readTextCell(cells[emailColumn]?.trim() ?? '') ?? '');
        const reason = reasonColumn === undefined ? undefined : readReason(cells[reasonColumn] ?? '');
        return { id: newId('sup', now), email, reason: reason ?? options.reason, createdAt: now };
      },
    };
  },
  write: importSuppressions,
};

const REASONS: readonly string[] = [
  'manual',
  'bounce',
  'complaint',
  'unsubscribe',
] satisfies readonly SuppressionReason[];

function readReason(cell: string): SuppressionReason | undefined {
  const reason = cell.trim().toLowerCase();
  if (reason === '') return undefined;
  if (REASONS.includes(reason)) return reason as SuppressionReason;
  throw invalid('reason', `\`reason\` must be one of ${REASONS.join(', ')}`);
}
