/** Makes a copy fit together before it is opened as a data directory. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { accountFolder } from '../../accounts/folder.ts';
import { eachMailbox } from '../../backups/copied-database.ts';
import { isMailboxId, namesIn } from '../../backups/format.ts';
import { openReading } from '../../db/connection.ts';
import { readInstallationFile, writeInstallationFile } from '../../db/installation/file.ts';
import { findInstallation } from '../../db/installation/store.ts';
import type { InstallationRow } from '../../db/own-tables.ts';
import { StandbyError } from '../standby-error.ts';

/**
 * Removes the accounts that the main database does not have: a cut has the main database first, and a mailbox may have been made after
 * that. Returns their number.
 */
export async function removeForeignAccounts(dataDir: string): Promise<number> {
  const foreign = new Set((await namesIn(join(dataDir, 'mailboxes'))).filter(isMailboxId));
  await eachMailbox(join(dataDir, 'postrider.db'), async ({ id }) => void foreign.delete(id));
  for (const id of foreign) rmSync(accountFolder(dataDir, id), { recursive: true });
  return foreign.size;
}

/**
 * Writes the generation that the main database has into `installation.json`. The file of a cut is later than the database, which would
 * look like an older copy.
 * @throws StandbyError when the database belongs to another installation
 */
export function alignInstallation(dataDir: string, installation: string): void {
  const row = readRow(join(dataDir, 'postrider.db'));
  if (row?.id !== installation)
    throw new StandbyError(`the copy has the database of another installation (${row?.id ?? 'none'})`);
  const { usedAt = row.wallAt } = readInstallationFile(dataDir) ?? {};
  writeInstallationFile(dataDir, { id: row.id, generation: row.generation, usedAt, walBytes: null });
}

function readRow(file: string): InstallationRow | undefined {
  const database = openReading(file);
  try {
    return findInstallation(database);
  } finally {
    database.close();
  }
}
