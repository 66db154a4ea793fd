/** An open account, as everything that works on it receives it. */

import type { FileHolds } from '../blobs/file-holds.ts';
import type { PrivateDatabase } from '../db/private-database.ts';
import type { MailboxMessageReader } from '../mail/mailbox-message/reader.ts';
import type { ByteBudget } from '../system/guards/byte-budget.ts';
import type { System } from '../system/system.ts';
import type { AccountChanges } from './changes.ts';
import type { UseCounts } from './counts.ts';
import type { FollowedAccounts } from './followed-accounts.ts';
import type { AccountTables } from './rows.ts';
import type { SearchDatabase } from './search-database.ts';
import type { FlagSettler } from './settle-flags.ts';

/** The parts of the application that accounts use. */
export type AccountApp = Pick<System, 'clock' | 'log' | 'metrics' | 'crashPoint'> & {
  parser: Pick<MailboxMessageReader, 'read'>;
  /** Counts what the sessions of all accounts of the thread keep for their clients (imap/session-memory.ts). */
  sessionMemory: ByteBudget;
  /** Gathers what changes in the accounts of the thread. */
  followed: FollowedAccounts;
};

export type OpenAccount = {
  /** Id of the mailbox. */
  id: string;
  folder: string;
  app: AccountApp;
  db: PrivateDatabase<AccountTables>;
  changes: AccountChanges;
  /** Texts of messages, in which SEARCH looks. */
  search: SearchDatabase;
  /** Hashes of files that were made for contents which no row names yet. */
  preparedFiles: UseCounts<string>;
  /** Keeps files from being removed while the account is copied. */
  fileHolds: FileHolds;
  /** Ids of contents whose messages were removed and that sessions still show. They are removed later. */
  heldContents: UseCounts<number>;
  /** Writes the rows of messages whose flags were committed as edits. */
  settler: FlagSettler;
  /** Closes the account once its writes have ended. Sessions have ended before. */
  close(): Promise<void>;
};
