/** Lists the mail that may have left after the cut to which a standby is promoted, in a file for the operator. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openReading } from '../../db/connection.ts';
import { eachRecipientInDoubt, type RecipientInDoubt } from '../../queue/in-doubt-store.ts';
import { makeDirectories } from '../../system/make-directories.ts';
import { standbyFolder } from '../owner.ts';

/** Maximum number of recipients that are returned. All are in the file. */
const MAX_SHOWN = 20;
/** Number of lines that are written at once. */
const LINES_PER_WRITE = 1_000;

export type MailInDoubt = Record<RecipientInDoubt['doubt'], number> & {
  /** The first recipients of the list. */
  first: RecipientInDoubt[];
};

/** Returns the path of the list in a data directory: a line for each recipient, with tabs between id, address, message and doubt. */
export function listOfMailInDoubt(dataDir: string): string {
  return join(standbyFolder(dataDir), 'may-have-left.tsv');
}

/** Writes the list into a copy, and returns how many recipients it has. */
export function listMailInDoubt(dataDir: string, times: { takenAt: number; now: number }): MailInDoubt {
  const found: MailInDoubt = { in_flight: 0, ready: 0, due_since: 0, first: [] };
  makeDirectories(standbyFolder(dataDir), 0o700);
  const database = openReading(join(dataDir, 'postrider.db'));
  const file = openSync(listOfMailInDoubt(dataDir), 'w', 0o600);
  let lines = ['id\taddress\tmessage\tdoubt\n'];
  const write = () => {
    writeSync(file, lines.join(''));
    lines = [];
  };
  try {
    for (const recipient of eachRecipientInDoubt(database, times)) {
      const { id, address, messageId, doubt } = recipient;
      found[doubt]++;
      if (found.first.length < MAX_SHOWN) found.first.push(recipient);
      lines.push(`${id}\t${address}\t${messageId}\t${doubt}\n`);
      if (lines.length >= LINES_PER_WRITE) write();
    }
    write();
    fsyncSync(file);
  } finally {
    closeSync(file);
    database.close();
  }
  return found;
}
