/** Reads the copy of the main database that a backup has. Nothing is written beside it. */
import { listFilesAfter } from '../blobs/store.ts';
import { openReading } from '../db/connection.ts';
import { kyselyOn } from '../db/dialect.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tables } from '../db/tables.ts';
import { listMailboxesAfter } from '../mailboxes/store.ts';

/** Number of mailboxes that are read at once. */
const MAILBOXES_PER_PAGE = 100;

/** Calls a function with each mailbox of a copied database, one after the other. */
export async function eachMailbox(file: string, work: (mailbox: MailboxRow) => Promise<void>): Promise<void> {
  const connection = openReading(file);
  try {
    const db = kyselyOn<Tables>(connection);
    for (let after = ''; ; ) {
      const mailboxes = await listMailboxesAfter(db, { after, limit: MAILBOXES_PER_PAGE });
      for (const mailbox of mailboxes) await work(mailbox);
      const last = mailboxes.at(-1);
      if (!last) return;
      after = last.id;
    }
  } finally {
    connection.close();
  }
}

/** Number of hashes that are read at once. */
const HASHES_PER_PAGE = 10_000;

/** Yields the hash of each file that a copied database names. */
export async function* eachFileHash(file: string): AsyncGenerator<string> {
  const connection = openReading(file);
  try {
    const db = kyselyOn<Tables>(connection);
    for (let after = ''; ; ) {
      const rows = await listFilesAfter(db, { after, limit: HASHES_PER_PAGE });
      for (const { sha256 } of rows) yield sha256;
      const last = rows.at(-1);
      if (!last) return;
      after = last.id;
    }
  } finally {
    connection.close();
  }
}
