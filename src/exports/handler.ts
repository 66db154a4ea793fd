/** What a list gives to become a file. The features that have such lists come after this one; main.ts brings them together. */
import type { App } from '../app.ts';
import type { ExportRow } from '../db/marketing-tables.ts';

export type ExportSlice = {
  /** Whole lines. */
  csv: string;
  rows: number;
  /** Where to go on; undefined at the end. */
  last: string | undefined;
};

export type ExportSource = {
  headings: readonly string[];
  /** Made in a reader thread. `after`: the `last` of the slice before. @throws AppError when the list is gone */
  readSlice(after: string | undefined): Promise<ExportSlice>;
};

export type ExportHandler = {
  /** May read the whole list once, to know its columns. @throws AppError in words for the owner of the list */
  open(app: Pick<App, 'db'>, job: ExportRow): Promise<ExportSource>;
};

export type ExportHandlers = Readonly<Record<ExportRow['kind'], ExportHandler>>;
