/** Opens the account of a mailbox: its folder, its database and what its sessions share. The thread that opens it owns it. */

import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { FileHolds } from '../blobs/file-holds.ts';
import { flushPath } from '../db/flush-files.ts';
import { defineWrite } from '../db/operation.ts';
import {
  DamagedDatabaseError,
  openPrivateDatabase,
  type PrivateDatabase,
  releaseMemory,
} from '../db/private-database.ts';
import { DAY_MS, type Timer } from '../system/clock.ts';
import { runForOwner } from '../system/slices.ts';
import type { AccountApp, OpenAccount } from './account.ts';
import { createAccountChanges } from './changes.ts';
import { findStructuralDamage } from './check-store.ts';
import { UseCounts } from './counts.ts';
import { FIRST_FOLDERS } from './first-folders.ts';
import { indexFile, searchFile } from './folder.ts';
import { insertFolder, insertSubscription, listFolderRows } from './folder-store.ts';
import { ACCOUNT_SCHEMA } from './migrations.ts';
import { setUidValidity } from './rebuild-store.ts';
import { removeUnused, sweepStrayFiles } from './remove-unused.ts';
import type { AccountTables } from './rows.ts';
import { SearchDatabase } from './search-database.ts';
import { createFlagSettler } from './settle-flags.ts';
import { type AccountTx, beginAnew, findAccountRow, insertAccount, nextUidValidity } from './store.ts';
import type { AccountRow } from './tables.ts';

type Opening = {
  id: string;
  /** Folder of the account (`accountFolder`). */
  folder: string;
  /** True when the account is created unless it exists. Otherwise a missing one is damage. */
  isNew?: boolean;
  /** Number of a change that the account has had. A database with a lower number is an older copy. */
  lastModseq?: number;
};

/** Creates what every account has. Running it again changes nothing. */
export const createAccount = defineWrite(
  'account.create',
  async (tx: AccountTx, { now }: { now: number }): Promise<void> => {
    if (await findAccountRow(tx)) return;
    await insertAccount(tx);
    for (const { name, specialUse } of FIRST_FOLDERS) {
      await insertFolder(tx, { name, specialUse, now });
      await insertSubscription(tx, name);
    }
  },
);

/**
 * Gives everything new numbers in an older copy of the database: clients and search texts know its messages and contents by numbers that
 * stand for others, which are lost.
 */
const renumberOldCopy = defineWrite(
  'account.renumberOldCopy',
  async (tx: AccountTx, { lastModseq, now }: { lastModseq: number; now: number }): Promise<void> => {
    await beginAnew(tx, lastModseq);
    for (const { id } of await listFolderRows(tx))
      await setUidValidity(tx, id, await nextUidValidity(tx, now));
  },
);

/**
 * Opens an account. An older copy of its database, such as one from a backup, gets new UIDVALIDITYs.
 * @throws DamagedDatabaseError when its database is missing or damaged; SchemaVersionError; errors of SQLite and the file system
 */
export async function openAccount(
  app: AccountApp,
  { id, folder, isNew = false, lastModseq = 0 }: Opening,
): Promise<OpenAccount> {
  const file = indexFile(folder);
  const now = app.clock.now();
  if (isNew) mkdirSync(folder, { recursive: true, mode: 0o700 });
  else if (!existsSync(file)) throw new DamagedDatabaseError(file, `${file} is missing`);
  const wasInterrupted = hasWal(file);
  const options = { file, schema: ACCOUNT_SCHEMA, nowMs: now, keepsWalSpace: true };
  const db = openPrivateDatabase<AccountTables>(app, options);
  app.followed.begin(id, db);
  const close = async () => {
    await db.close();
    app.followed.end(id, db);
  };
  let row: AccountRow | undefined;
  try {
    if (wasInterrupted) await checkQuickly(db);
    if (isNew) await create(db, folder, now);
    row = await findAccountRow(db.read);
    if (row && row.lastModseq < lastModseq) {
      app.log.warn(
        { mailbox: id },
        'the database of a mailbox is an older copy; its folders get new numbers',
      );
      await db.commit(renumberOldCopy, { lastModseq, now });
      row = await findAccountRow(db.read);
    }
    if (!row) throw new DamagedDatabaseError(file, `${file} has no account`);
    await releaseMemory(db);
  } catch (error) {
    await close();
    throw error;
  }
  const search = new SearchDatabase(app, { file: searchFile(folder), identity: row.identity });
  const account: OpenAccount = {
    id,
    folder,
    app,
    db,
    changes: createAccountChanges(),
    search,
    preparedFiles: new UseCounts(),
    fileHolds: new FileHolds(),
    heldContents: new UseCounts(),
    settler: createFlagSettler(app, db),
    async close() {
      await account.settler.stop();
      await upkeep.stop();
      await search.close();
      await close();
    },
  };
  const upkeep = startUpkeep(account);
  return account;
}

/** Creates the account and makes the names of its files durable. */
async function create(db: PrivateDatabase<AccountTables>, folder: string, now: number): Promise<void> {
  await db.commit(createAccount, { now });
  for (const path of [folder, dirname(folder), dirname(dirname(folder))]) flushPath(path);
}

/** Returns true when the database was not closed: its WAL was not copied back and removed. */
function hasWal(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/**
 * Checks the structure of the database.
 * @throws DamagedDatabaseError
 */
async function checkQuickly(db: PrivateDatabase<AccountTables>): Promise<void> {
  const [damage] = await db.maintain((connection) => findStructuralDamage(connection, { isQuick: true }));
  if (damage !== undefined) throw new DamagedDatabaseError(db.file, `${db.file} is damaged: ${damage}`);
}

/** Removes regularly what an open account no longer needs (remove-unused.ts). */

/** Time between two runs, and between the opening and the first one. Our own. */
const UPKEEP_PERIOD_MS = 600_000;

type Upkeep = {
  /** Ends the runs, waits for the one that is under way, and runs once more. */
  stop(): Promise<void>;
};

/** Starts the upkeep of an account. */
function startUpkeep(account: OpenAccount): Upkeep {
  const { clock } = account.app;
  let timer: Timer;
  let running = Promise.resolve();
  let sweptAt = Number.NEGATIVE_INFINITY;
  const schedule = () => {
    timer = clock.after(UPKEEP_PERIOD_MS, () => {
      running = run(account, async () => {
        await removeUnused(account);
        await releaseMemory(account.db);
        if (clock.elapsed() - sweptAt < DAY_MS) return;
        sweptAt = clock.elapsed();
        await sweepStrayFiles(account);
      }).then(schedule);
    });
  };
  schedule();
  return {
    async stop() {
      timer.cancel();
      await running;
      timer.cancel();
      await run(account, () => removeUnused(account));
    },
  };
}

/** A failure is logged, since the next run may succeed. Damage of the database is reported by the account itself. */
async function run({ id, app: { log } }: OpenAccount, work: () => Promise<void>): Promise<void> {
  try {
    await runForOwner(id, work);
  } catch (error) {
    log.warn({ err: error, mailbox: id }, 'the upkeep of a mailbox failed');
  }
}
