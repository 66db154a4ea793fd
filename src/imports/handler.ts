/**
 * The interface of a list that imports files: how a row is read, and the write that stores rows. The features with
 * such lists come later in the import order, and main.ts connects them.
 */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import type { Write } from '../db/operation.ts';
import type { BatchResult, ImportBatch } from './batch.ts';

/** The field of a column, as a preview shows it. */
export type ColumnUse = {
  heading: string;
  /** The field of a contact or a suppression; null when the column is left out. */
  field: string | null;
};

/** Reads the rows of a file whose columns are known. */
export type RowReader<Row> = {
  /** Column of the address that identifies a row in its errors. */
  emailColumn: number;
  /** True for a file without a heading line, whose first line is a row. */
  isHeadless: boolean;
  columns: readonly ColumnUse[];
  /**
   * Returns the row for as many cells as there are headings.
   * @throws AppError validation_error
   */
  readRow(cells: readonly string[]): Row;
};

export type ImportHandler<Row = unknown> = {
  /**
   * Returns the reader of rows. `cells` are the first record of the file.
   * @throws AppError validation_error for unusable headings
   */
  readHeadings(
    app: Pick<App, 'db' | 'clock'>,
    job: Pick<JobRow, 'tenantId' | 'options'>,
    cells: readonly string[],
  ): Promise<RowReader<Row>>;
  /** Returns a row as a preview shows it. */
  show(row: Row): object;
  /** Returns what the owner of a file should know about rows that could be read, for a preview. */
  warn(reader: RowReader<Row>, rows: readonly Row[]): string[];
  write: Write<ImportBatch<Row>, BatchResult>;
};

/** Recipients of a broadcast are not imported. */
export type ImportHandlers = Readonly<Record<Exclude<JobRow['kind'], 'recipients' | 'links'>, ImportHandler>>;
