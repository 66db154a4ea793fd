/**
 * What a list gives to take in files: how a row of it is read, and the write that puts rows on it. The features that have
 * such lists come after this one; main.ts brings them together.
 */
import type { App } from '../app.ts';
import type { ImportRow } from '../db/marketing-tables.ts';
import type { Write } from '../db/operation.ts';
import type { BatchResult, ImportBatch } from './batch.ts';

/** A heading line that was understood. */
export type RowReader<Row> = {
  /** Where a row says what it is known by. */
  emailColumn: number;
  /** As many cells as there are headings. @throws AppError validation_error */
  readRow(cells: readonly string[]): Row;
};

export type ImportHandler<Row = unknown> = {
  /** `headings`: as they stand in the file. @throws AppError validation_error for what will not do */
  readHeadings(
    app: Pick<App, 'db' | 'clock'>,
    job: Pick<ImportRow, 'tenantId' | 'options'>,
    headings: readonly string[],
  ): Promise<RowReader<Row>>;
  write: Write<ImportBatch<Row>, BatchResult>;
};

export type ImportHandlers = Readonly<Record<ImportRow['kind'], ImportHandler>>;
