/** The progress of an import, which is stored as JSON. */
import type { MailboxImportRow } from '../db/mailbox-tables.ts';

export type ImportCounts = {
  /** Number of folders that are imported, and of those that are done. */
  folders: number;
  foldersDone: number;
  /** Number of messages that were found in the folders so far. */
  messages: number;
  /** Number of messages that this import has added, and their size. */
  imported: number;
  importedBytes: number;
  /** Number of messages that were in the mailbox already, or have been. */
  known: number;
  /** Number of messages that could not be imported. */
  failed: number;
};

/** Counts of an import that has not begun. */
export const NO_COUNTS: ImportCounts = {
  folders: 0,
  foldersDone: 0,
  messages: 0,
  imported: 0,
  importedBytes: 0,
  known: 0,
  failed: 0,
};

/** Returns the counts of an import. */
export function readCounts({ progress }: Pick<MailboxImportRow, 'progress'>): ImportCounts {
  return JSON.parse(progress) as ImportCounts;
}
