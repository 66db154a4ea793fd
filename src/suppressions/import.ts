/**
 * Imports files of addresses, our own and those of other products. A reason that is not understood never costs the row: the address
 * is suppressed with the reason of the request, or the default one.
 */

import type { SuppressionReason, SuppressionRow } from '../db/marketing-tables.ts';
import { defineWrite, type Tx } from '../db/operation.ts';
import { type ImportBatch, importRows, type Outcome } from '../imports/batch.ts';
import { findBoolean, readTextCell, trimText } from '../imports/cells.ts';
import type { ImportHandler, RowReader } from '../imports/handler.ts';
import type { FileOptions } from '../imports/options.ts';
import { byPlainForm, plainForm } from '../imports/plain-form.ts';
import { REASON_TEXTS, REASON_WORDS } from '../imports/products/suppression-names.ts';
import { NOTHING_WORDS } from '../imports/products/words.ts';
import { readTime } from '../imports/times.ts';
import { cleanDiagnostic } from '../mail/dsn/notice.ts';
import { isoTime } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { readSuppressionColumns, type SuppressionColumns } from './import-columns.ts';
import { readAddress } from './request.ts';
import { strongerOf, suppress } from './store.ts';

/** Options in the form that the job stores. `reason` applies to rows whose reason is not understood. */
export type SuppressionImportOptions = FileOptions & { reason?: SuppressionReason };

type SuppressionImport = Pick<SuppressionRow, 'id' | 'email' | 'reason' | 'diagnostic' | 'createdAt'>;

/** Reason of rows for which neither the file nor the request gives one. */
const DEFAULT_REASON: SuppressionReason = 'manual';

const importSuppressions = defineWrite(
  'suppressions.import',
  (tx, batch: ImportBatch<SuppressionImport>) =>
    importRows(
      tx,
      batch,
      async ({ tenantId }) =>
        (row) =>
          putSuppression(tx, { ...row, tenantId, sourceEmailId: null }),
    ),
  { priority: 'bulk' },
);

/** Suppresses an address without an event, because the owner of the file knows its content. */
async function putSuppression(tx: Tx, wanted: SuppressionRow): Promise<Outcome> {
  const { outcome } = await suppress(tx, wanted);
  return outcome === 'unchanged' ? 'skipped' : outcome;
}

export const suppressionImport: ImportHandler<SuppressionImport> = {
  async readHeadings({ clock }, job, cells) {
    const options = JSON.parse(job.options) as SuppressionImportOptions;
    const columns = readSuppressionColumns(cells, options.mapping);
    const otherwise = options.reason ?? columns.ofList ?? DEFAULT_REASON;
    return {
      emailColumn: columns.email,
      isHeadless: columns.isHeadless,
      columns: columns.uses,
      readRow: (given) => readRow(columns, given, { otherwise, now: clock.now() }),
    };
  },
  show({ email, reason, diagnostic, createdAt }) {
    return { email, reason, diagnostic, createdAt: isoTime(createdAt) };
  },
  warn: warnOfReasons,
  write: importSuppressions,
};

/**
 * Reads a suppression from a row.
 * @throws AppError validation_error for a row without an address, and for an entry that its product no longer obeys
 */
function readRow(
  columns: SuppressionColumns,
  cells: readonly string[],
  { otherwise, now }: { otherwise: SuppressionReason; now: number },
): SuppressionImport {
  const textAt = (column: number | undefined) =>
    column === undefined ? '' : (readTextCell(trimText(cells[column] ?? '')) ?? '');
  const email = readAddress('email', textAt(columns.email));
  if (findBoolean(plainForm(textAt(columns.expired))) === true)
    throw invalid('expired', 'The entry has expired, so mail is sent to the address again');
  const reasons = columns.reasons.map(textAt);
  const marks = columns.marks.map(({ column, reason }) => ({ cell: textAt(column), reason }));
  const [mainReason = ''] = reasons;
  const diagnostic = textAt(columns.diagnostic) || (isDiagnostic(mainReason) ? mainReason : '');
  const time = readTime(textAt(columns.time));
  return {
    id: newId('sup', now),
    email,
    reason: findReason(reasons, marks) ?? otherwise,
    diagnostic: cleanDiagnostic(diagnostic),
    createdAt: Math.min(time ?? now, now),
  };
}

function warnOfReasons(
  { columns }: RowReader<SuppressionImport>,
  rows: readonly SuppressionImport[],
): string[] {
  const counts = Map.groupBy(rows, ({ reason }) => reason);
  const found = [...counts].map(([reason, { length }]) => `${length} ${reason}`).join(', ');
  return [
    ...(columns.some(({ field }) => field === 'reason')
      ? []
      : ['No column says why the addresses are suppressed; `reason` in the request can say so for all']),
    ...(rows.length > 0 ? [`Reasons of the checked rows: ${found}`] : []),
  ];
}

const REASONS = Object.keys(REASON_WORDS) as SuppressionReason[];
const WORDS = byPlainForm(REASONS.map((reason) => [REASON_WORDS[reason], reason]));
const NOTHING = new Set(['', ...NOTHING_WORDS.map(plainForm)]);
/** Maximum number of characters of a text that are searched for a reason. */
const MAX_SEARCHED_CHARACTERS = 500;

/** A cell that tells its reason by having a value. */
type Mark = { cell: string; reason: SuppressionReason };

/** Returns the strongest reason that the cells name or tell; undefined when none is understood. */
function findReason(cells: readonly string[], marks: readonly Mark[]): SuppressionReason | undefined {
  const reasons = [
    ...cells.map(reasonOf),
    ...marks.map(({ cell, reason }) => (hasValue(cell) ? reason : undefined)),
  ];
  return reasons.reduce(
    (best, reason) => (best && reason ? strongerOf(best, reason) : (best ?? reason)),
    undefined,
  );
}

/** Returns true for a text that is more than the name of a reason, and no time. */
function isDiagnostic(text: string): boolean {
  return text !== '' && !WORDS.has(plainForm(text)) && readTime(text) === undefined;
}

function reasonOf(cell: string): SuppressionReason | undefined {
  const word = WORDS.get(plainForm(cell));
  if (word || cell === '') return word;
  const start = cell.slice(0, MAX_SEARCHED_CHARACTERS);
  return REASON_TEXTS.find(({ pattern }) => pattern.test(start))?.reason;
}

function hasValue(cell: string): boolean {
  const plain = plainForm(cell);
  return !NOTHING.has(plain) && findBoolean(plain) !== false;
}
