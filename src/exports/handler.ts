/**
 * The interface of a list that can be exported. The features with such lists come later in the import order, and
 * main.ts connects them.
 */
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';

export type ExportSlice = {
  /** Whole lines of CSV. */
  csv: string;
  rows: number;
  /** Position after which the next slice starts; undefined at the end of the list. */
  last: string | undefined;
};

export type ExportSource = {
  headings: readonly string[];
  /**
   * Returns a slice, which a reader thread makes. `after` is the `last` of the slice before.
   * @throws AppError when the list is deleted
   */
  readSlice(after: string | undefined): Promise<ExportSlice>;
};

export type ExportHandler = {
  /**
   * Opens a list for export. It may read the whole list once to find the columns.
   * @throws AppError with a message for the owner of the list
   */
  open(app: Pick<App, 'db'>, job: JobRow): Promise<ExportSource>;
};

export type ExportHandlers = Readonly<Record<JobRow['kind'], ExportHandler>>;
