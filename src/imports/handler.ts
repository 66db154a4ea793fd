/**
 * The interface of a list that imports files: how a row is read, and the write that stores rows. The features with
 * such lists come later in the import order, and main.ts connects them.
 */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import type { Write } from '../db/operation.ts';
import type { BatchResult, ImportBatch } from './batch.ts';

/** Reads the rows below a valid heading line. */
export type RowReader<Row> = {
  /** Column of the address that identifies a row in its errors. */
  emailColumn: number;
  /**
   * Returns the row for as many cells as there are headings.
   * @throws AppError validation_error
   */
  readRow(cells: readonly string[]): Row;
};

export type ImportHandler<Row = unknown> = {
  /**
   * Returns the reader of rows. `headings` are the cells of the heading line.
   * @throws AppError validation_error for unusable headings
   */
  readHeadings(
    app: Pick<App, 'db' | 'clock'>,
    job: Pick<JobRow, 'tenantId' | 'options'>,
    headings: readonly string[],
  ): Promise<RowReader<Row>>;
  write: Write<ImportBatch<Row>, BatchResult>;
};

/** Recipients of a broadcast are not imported. */
export type ImportHandlers = Readonly<Record<Exclude<JobRow['kind'], 'recipients' | 'links'>, ImportHandler>>;
