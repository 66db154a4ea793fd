/** Copies an account for a backup: its database, and the files of its large contents. Search texts are made again. */
import { existsSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { linkFiles, type OnLinked } from '../blobs/link-files.ts';
import { openPrivate } from '../db/connection.ts';
import { CopyPace, copyDatabase, flushCopy, markWithoutWal } from '../db/copy-database.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { OpenAccount } from './account.ts';
import { accountFolder, contentFolder, indexFile } from './folder.ts';

/** A copied account: the files that were linked are not hashed again, because their names are their hashes. */
export type CopiedAccount = { linked: { sha256: string; path: string }[] };

/** Copies an open account to a folder that does not exist. Its sessions go on. */
export async function copyAccount(
  { folder, db, fileHolds }: Pick<OpenAccount, 'folder' | 'db' | 'fileHolds'>,
  to: string,
): Promise<CopiedAccount> {
  return fileHolds.during(() => copyParts(folder, to, (file) => db.copyTo(file)));
}

/** Returns what copies accounts that no thread has open, when no daemon runs. */
export function copyClosed(
  dataDir: string,
): (mailbox: Pick<MailboxRow, 'id'>, to: string) => Promise<CopiedAccount> {
  return ({ id }, to) => copyClosedAccount(accountFolder(dataDir, id), to);
}

function copyClosedAccount(folder: string, to: string): Promise<CopiedAccount> {
  return copyParts(folder, to, async (file) => {
    const connection = openPrivate(indexFile(folder));
    try {
      const pace = new CopyPace();
      await flushCopy(file, pace, copyDatabase(connection, file, pace));
    } finally {
      connection.close();
    }
  });
}

/** Copies the files of a damaged account as they are, for its later repair. Nothing has it open. */
export async function copyDamagedAccount(folder: string, to: string): Promise<void> {
  if (existsSync(folder)) await cp(folder, to, { recursive: true });
}

async function copyParts(
  folder: string,
  to: string,
  copyIndex: (file: string) => Promise<void>,
): Promise<CopiedAccount> {
  const linked: CopiedAccount['linked'] = [];
  const onLinked: OnLinked = (file) => linked.push(file);
  await mkdir(to, { recursive: true, mode: 0o700 });
  await copyIndex(indexFile(to));
  markWithoutWal(indexFile(to));
  await linkFiles(contentFolder(folder), contentFolder(to), onLinked);
  return { linked };
}
