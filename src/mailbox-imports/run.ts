/**
 * The interface between the main thread, which decides which imports run and stores their progress, and the thread that reads the mail
 * of other servers. An import takes one or more runs, so that a long one delays others only by one run.
 */
import type { AddedMessage, ImportResult } from '../accounts/contents.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import type { Folder } from '../mail/sieve/run/account.ts';
import type { ImportCounts } from './counts.ts';
import type { FailedMessage, MessageError } from './error-store.ts';
import type { SourceSettings } from './source/connection.ts';

/** Values that a run begins with. */
export type RunRequest = Pick<MailboxImportRow, 'id' | 'mailboxId'> & {
  settings: SourceSettings;
  counts: ImportCounts;
  /** Messages that earlier runs could not import. */
  failed: readonly FailedMessage[];
  /** Folder for large messages on their way, on the disk of the accounts. Nothing else uses it. */
  spoolFolder: string;
};

/**
 * How a run has ended: all messages were read; the next run goes on (`paused`), at once or after a while (`interrupted`); the import
 * was deleted (`stale`); or another run cannot help.
 */
export type RunEnd =
  | { kind: 'completed' | 'paused' | 'stale' }
  | { kind: 'interrupted'; error: string; hasImported: boolean }
  | { kind: 'failed'; reason: NonNullable<MailboxImportRow['reason']>; error: string };

/** The end of a run that a bug has ended. */
export const INTERNAL_FAILURE: RunEnd = {
  kind: 'failed',
  reason: 'internal',
  error: 'The server failed to process the import; what the counts say was imported',
};

/** Functions of the thread that reads. */
export type ImportCalls = {
  /** Makes a run. It never rejects because of the other server. */
  runImport(request: RunRequest): Promise<RunEnd>;
};

type OfMailbox = Pick<MailboxImportRow, 'mailboxId'>;

/** Functions of the main thread for the one that reads. They throw the errors of `MailboxContents`. */
export type TargetCalls = {
  listTargets(input: OfMailbox): Promise<Folder[]>;
  openFolder(input: OfMailbox & { folderKey: string; uidValidity: string }): Promise<{ mayRepeat: boolean }>;
  findMissing(input: OfMailbox & { deliveryIds: readonly string[] }): Promise<string[]>;
  remember(input: OfMailbox & { deliveryIds: readonly string[] }): Promise<void>;
  add(
    input: OfMailbox & { folder: string; messages: readonly AddedMessage[] },
    transfer?: readonly ArrayBuffer[],
  ): Promise<ImportResult>;
  /**
   * Checks that a large message may be written to the disk.
   * @throws AppError unavailable below the reserve
   */
  requireReserve(): Promise<void>;
  /** Stores the progress, and returns whether the import still runs. */
  advance(input: {
    id: MailboxImportRow['id'];
    counts: ImportCounts;
    errors: readonly MessageError[];
  }): Promise<boolean>;
};
