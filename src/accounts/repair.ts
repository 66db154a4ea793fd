/**
 * Repairs a damaged account that is closed: everything readable of its database is copied into a new one, and messages that have lost
 * their place go to the folder `Recovered`. All folders get a new UIDVALIDITY, so that no client takes a message for another one.
 * The damaged files are kept in the folder of the account.
 */
import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Database } from 'better-sqlite3';
import { pathOf } from '../blobs/files.ts';
import { flushPath } from '../db/flush-files.ts';
import { defineWrite } from '../db/operation.ts';
import { openPrivateDatabase, type PrivateDatabase } from '../db/private-database.ts';
import { createPause } from '../system/slices.ts';
import type { AccountApp } from './account.ts';
import { describeContent, type PreparedContent } from './content.ts';
import {
  findContent,
  insertContent,
  insertSalvagedContent,
  isFileInUse,
  releaseContents,
} from './content-store.ts';
import { emailIdOf } from './email-id.ts';
import { FIRST_FOLDERS } from './first-folders.ts';
import { contentFolder, indexFile, searchFile } from './folder.ts';
import {
  findFolderByName,
  findFolderBySpecialUse,
  insertFolder,
  insertSubscription,
  listFolderRows,
  reserveUids,
} from './folder-store.ts';
import { NO_KEYWORDS } from './keyword-store.ts';
import { insertMessage } from './message-store.ts';
import { removeLostEntries } from './metadata-store.ts';
import { ACCOUNT_SCHEMA } from './migrations.ts';
import { applyPendingEdits, listFoldersWithPendingEdits } from './pending-edit-store.ts';
import {
  forgetContent,
  listLostFolders,
  listUnusedContents,
  recount,
  removeEmptyContents,
  removeLostMessages,
  renumberFolder,
  rowInserter,
  setUidValidity,
} from './rebuild-store.ts';
import type { AccountTables } from './rows.ts';
import { openDamaged, readRows } from './salvage-store.ts';
import { type AccountTx, findAccountRow, insertAccount, nextModseq, nextUidValidity } from './store.ts';
import type { ContentBytesRow } from './tables.ts';

/** Folder of messages that have lost theirs. */
const RECOVERED = 'Recovered';

export type RepairReport = {
  messages: number;
  /** Number of messages that have lost their folder, flags and dates, and are in `Recovered`. */
  recovered: number;
  /** Number of contents whose bytes differ from those that were stored. They are kept as they are. */
  altered: number;
  /** Messages that are gone, such as `INBOX 17`, as far as their places are known. */
  gone: string[];
  /** Number of places in the tables that could not be read. More messages may be gone without a trace. */
  unreadable: number;
  /** Folder that keeps the damaged files. */
  evidence: string;
};

type Repair = {
  app: AccountApp;
  id: string;
  folder: string;
  now: number;
  old: Database | undefined;
  db: PrivateDatabase<AccountTables>;
  gaps: { count: number };
  report: RepairReport;
};

/**
 * Repairs the account in a folder.
 * @throws errors of the file system, when the new database cannot be written; the account then is as before
 */
export async function repairAccount(
  app: AccountApp,
  { id, folder }: { id: string; folder: string },
): Promise<RepairReport> {
  const now = app.clock.now();
  if (existsSync(readyFile(folder))) replaceDatabase(app, id, folder);
  const evidence = keepEvidence(folder, now);
  const file = `${indexFile(folder)}.repaired`;
  removeDatabase(file);
  const db = openPrivateDatabase<AccountTables>(app, { file, schema: ACCOUNT_SCHEMA, nowMs: now });
  const copy = join(evidence, 'index.db');
  const old = existsSync(copy) ? openDamaged(copy) : undefined;
  const gaps = { count: 0 };
  const report = { messages: 0, recovered: 0, altered: 0, gone: [], unreadable: 0, evidence };
  const repair: Repair = { app, id, folder, now, old, db, gaps, report };
  try {
    await salvage(repair);
  } finally {
    old?.close();
    await db.close();
  }
  renameSync(file, readyFile(folder));
  replaceDatabase(app, id, folder);
  return { ...report, unreadable: gaps.count };
}

/** Copies the damaged database, whose pages may be changed in the copy to make them readable. */
function keepEvidence(folder: string, now: number): string {
  const evidence = join(folder, `damaged-${now}`);
  mkdirSync(evidence, { recursive: true, mode: 0o700 });
  for (const name of ['index.db', 'index.db-wal']) {
    const source = join(folder, name);
    if (!existsSync(source)) continue;
    copyFileSync(source, join(evidence, name));
    copyFileSync(source, join(evidence, `${name}.original`));
  }
  return evidence;
}

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/** Returns the path of a complete new database that has not taken the place of the damaged one yet. */
function readyFile(folder: string): string {
  return `${indexFile(folder)}.ready`;
}

/** A crash in between leaves no other database than the new one. The next repair then begins here. */
function replaceDatabase({ followed }: Pick<AccountApp, 'followed'>, id: string, folder: string): void {
  // The replacement may fail after its first steps, and the account is copied as a whole then too.
  followed.replace(id);
  flushPath(folder);
  // A WAL of the damaged database must not be copied into the new one.
  removeDatabase(indexFile(folder));
  removeDatabase(searchFile(folder));
  renameSync(readyFile(folder), indexFile(folder));
  flushPath(folder);
}

async function salvage(repair: Repair): Promise<void> {
  const { db, now } = repair;
  await copyNumbers(repair);
  await copyRows(repair, 'folders');
  await copyRows(repair, 'subscriptions');
  await copyRows(repair, 'keywordSets');
  await copyRows(repair, 'deliveries');
  await copyRows(repair, 'metadata');
  await copyRows(repair, 'contents');
  await copyContents(repair);
  await copyRows(repair, 'messages');
  await copyRows(repair, 'pendingEdits');
  await copyRows(repair, 'spamSignals');
  await recoverFiles(repair);
  const unwanted = new Set(
    repair.old
      ? [...readRows(repair.old, 'releasedContents', repair.gaps)].map(({ contentId }) => contentId)
      : [],
  );
  const { gone, recovered, messages } = await db.commit(finish, { now, unwanted });
  Object.assign(repair.report, { gone, recovered, messages });
}

/** Adds the row of the account. Its numbers never fall, as far as they can be read. */
async function copyNumbers({ old, db, gaps }: Repair): Promise<void> {
  const [row] = old ? readRows(old, 'account', gaps) : [];
  await db.commit(beginAccount, {
    lastModseq: row?.lastModseq ?? 0,
    lastUidValidity: row?.lastUidValidity ?? 0,
  });
}

const beginAccount = defineWrite(
  'account.beginRepair',
  (tx: AccountTx, numbers: { lastModseq: number; lastUidValidity: number }): Promise<void> =>
    insertAccount(tx, numbers),
);

/** Number of rows that are copied in one transaction. */
const SLICE_ROWS = 500;

async function copyRows({ app, old, db, gaps }: Repair, table: keyof AccountTables): Promise<void> {
  if (!old) return;
  const rows = readRows(old, table, gaps);
  const pause = createPause(app.clock);
  for (let isDone = false; !isDone; await pause()) {
    isDone = await db.maintain((connection) => {
      const insert = rowInserter(connection, table);
      return connection.transaction(() => {
        for (let count = 0; count < SLICE_ROWS; count++) {
          const next = rows.next();
          if (next.done) return true;
          insert(next.value);
        }
        return false;
      })();
    });
  }
}

/** Number of contents that are read before they are stored in one commit. */
const SLICE_CONTENTS = 50;

/** Copies the bytes of contents, and reads again from them what clients ask for, since its rows may have changed too. */
async function copyContents(repair: Repair): Promise<void> {
  const { old, gaps } = repair;
  if (!old) return;
  let writes: Promise<void>[] = [];
  for (const row of readRows(old, 'contentBytes', gaps)) {
    writes.push(copyContent(repair, row));
    if (writes.length < SLICE_CONTENTS) continue;
    await Promise.all(writes);
    writes = [];
  }
  await Promise.all(writes);
}

/** A content that cannot be read goes with its messages. One in a file whose row is lost is found by its file (`recoverFiles`). */
async function copyContent(repair: Repair, bytes: ContentBytesRow): Promise<void> {
  const { db, report } = repair;
  const { contentId } = bytes;
  const row = await findContent(db.read, contentId);
  const blobSha256 = row?.blobSha256 ?? null;
  const octets = await bytesOf(repair, bytes, blobSha256);
  if (octets && row && row.crc32 !== crc32(octets)) report.altered++;
  const content = octets && (await describeContent(repair, octets, blobSha256));
  await db.commit(replaceContent, { contentId, content });
}

async function bytesOf(
  { folder }: Repair,
  { header, body }: ContentBytesRow,
  blobSha256: string | null,
): Promise<Buffer | undefined> {
  if (body) return Buffer.concat([header, body]);
  if (blobSha256 === null) return undefined;
  return readFile(pathOf(contentFolder(folder), blobSha256)).catch(() => undefined);
}

const replaceContent = defineWrite(
  'account.repairContent',
  async (
    tx: AccountTx,
    { contentId, content }: { contentId: number; content: PreparedContent | undefined },
  ): Promise<void> => {
    await forgetContent(tx, contentId);
    if (content) await insertSalvagedContent(tx, { id: contentId, ...content.row }, content);
  },
);

/** Adds contents for the files that none names and whose bytes are those of their name. */
async function recoverFiles(repair: Repair): Promise<void> {
  const { db } = repair;
  const root = contentFolder(repair.folder);
  if (!existsSync(root)) return;
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    const [, sha256] = CONTENT_FILE.exec(name) ?? [];
    if (sha256 === undefined || (await isFileInUse(db.read, sha256))) continue;
    const octets = await readFile(pathOf(root, sha256));
    if (hash('sha256', octets) !== sha256) continue;
    await db.commit(addContent, await describeContent(repair, octets, sha256));
  }
}

const CONTENT_FILE = /^[0-9a-f]{2}\/([0-9a-f]{64})$/;

const addContent = defineWrite(
  'account.recoverContent',
  (tx: AccountTx, content: PreparedContent): Promise<number> => insertContent(tx, content.row, content),
);

type Finished = Pick<RepairReport, 'gone' | 'recovered' | 'messages'>;

/** Gives every message a folder and every content a message, and counts again. `unwanted` are contents that were being removed. */
const finish = defineWrite(
  'account.finishRepair',
  async (
    tx: AccountTx,
    { now, unwanted }: { now: number; unwanted: ReadonlySet<number> },
  ): Promise<Finished> => {
    for (const id of await listFoldersWithPendingEdits(tx)) await applyPendingEdits(tx, id);
    await removeEmptyContents(tx);
    const gone = await removeLostMessages(tx);
    for (const { name, specialUse } of FIRST_FOLDERS) {
      const known =
        (await findFolderByName(tx, name)) ??
        (specialUse !== null && (await findFolderBySpecialUse(tx, specialUse)));
      if (!known) await insertFolder(tx, { name, specialUse, now });
    }
    for (const id of await listLostFolders(tx)) {
      const name = `${RECOVERED} ${id}`;
      const folder = await insertFolder(tx, { name, specialUse: null, now });
      await insertSubscription(tx, name);
      await renumberFolder(tx, folder.id, id);
    }
    await removeLostEntries(tx);
    const lost = (await listUnusedContents(tx)).filter((id) => !unwanted.has(id));
    await releaseContents(tx, unwanted);
    if (lost.length > 0) await recoverContents(tx, lost, now);
    for (const { id } of await listFolderRows(tx))
      await setUidValidity(tx, id, await nextUidValidity(tx, now));
    await recount(tx);
    const messages = (await findAccountRow(tx))?.messageCount ?? 0;
    return { gone, recovered: lost.length, messages };
  },
);

/** Adds messages for contents to `Recovered`. */
async function recoverContents(tx: AccountTx, contentIds: readonly number[], now: number): Promise<void> {
  const folder =
    (await findFolderByName(tx, RECOVERED)) ??
    (await insertFolder(tx, { name: RECOVERED, specialUse: null, now }));
  await insertSubscription(tx, RECOVERED);
  const modseq = await nextModseq(tx);
  const firstUid = await reserveUids(tx, folder.id, contentIds.length);
  for (const [index, contentId] of contentIds.entries()) {
    const content = await findContent(tx, contentId);
    if (!content) continue;
    await insertMessage(tx, {
      folderId: folder.id,
      uid: firstUid + index,
      emailId: emailIdOf(contentId),
      contentId,
      modseq,
      createdModseq: modseq,
      flags: 0,
      keywordSetId: NO_KEYWORDS,
      internalAt: now,
      internalZoneMinutes: 0,
      savedAt: now,
      sizeBytes: content.sizeBytes,
      prefix: new Uint8Array(),
    });
  }
}
