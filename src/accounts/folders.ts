/**
 * Creates, deletes and renames folders (RFC 9051 sections 6.3.4 to 6.3.6), and lists them. Names are decoded: `INBOX` is in upper case,
 * `/` separates levels, and no separator stands at the end. Levels above a folder exist too; when they are deleted, the folder
 * stays.
 */

import { defineWrite } from '../db/operation.ts';
import { AppError, limitReached, notFound } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import type { FolderChange } from './changes.ts';
import { problemOfName } from './folder.ts';
import {
  changeCounts,
  deleteFolderRow,
  deleteSubscription,
  findFolderByName,
  findFolderBySpecialUse,
  insertFolder,
  insertSubscription,
  listFolderRows,
  listSubscriptions,
  renameFolderRow,
  reserveUids,
} from './folder-store.ts';
import { moveAllMessages } from './message-store.ts';
import { copyMetadata } from './metadata.ts';
import { removeEntries } from './metadata-store.ts';
import { applyPendingEdits, removePendingEdits } from './pending-edit-store.ts';
import { type AccountTx, changeUsage, nextModseq } from './store.ts';
import type { FolderRow, MessageRow } from './tables.ts';

/** Maximum number of folders, and of subscriptions. A LIST answers with all of them. */
export const MAX_FOLDERS = 10_000;

export const INBOX = 'INBOX';
const SEPARATOR = '/';

/** Returns the folder with this name; undefined when there is none. */
export function findFolder(account: OpenAccount, name: string): Promise<FolderRow | undefined> {
  return findFolderByName(account.db.read, name);
}

/** Returns all folders by name, and the names that are subscribed. Such a folder may not exist. */
export async function listFolders(
  account: OpenAccount,
): Promise<{ folders: FolderRow[]; subscriptions: string[] }> {
  const [folders, subscriptions] = await Promise.all([
    listFolderRows(account.db.read),
    listSubscriptions(account.db.read),
  ]);
  return { folders, subscriptions };
}

type Creation = { name: string; specialUse: string | null; now: number };

const insertFolders = defineWrite(
  'account.createFolder',
  async (tx: AccountTx, { name, specialUse, now }: Creation): Promise<FolderRow[]> => {
    if (await findFolderByName(tx, name))
      throw new AppError('already_exists', 'A mailbox with this name exists already');
    if (specialUse !== null && (await findFolderBySpecialUse(tx, specialUse)))
      throw new AppError('already_exists', 'Another mailbox has this special use already');
    const created = await createParents(tx, name, now);
    created.push(await insertFolder(tx, { name, specialUse, now }));
    return created;
  },
);

/** Creates the levels above a folder that do not exist (RFC 9051 section 6.3.4), and refuses when there would be too many folders. */
async function createParents(tx: AccountTx, name: string, now: number): Promise<FolderRow[]> {
  const known = new Set((await listFolderRows(tx)).map((folder) => folder.name));
  const missing = parentsOf(name).filter((parent) => !known.has(parent));
  if (known.size + missing.length >= MAX_FOLDERS) throw limitReached('mailboxes', known.size);
  const created: FolderRow[] = [];
  for (const parent of missing) created.push(await insertFolder(tx, { name: parent, specialUse: null, now }));
  return created;
}

/** Returns the names of the levels above a folder, the highest first. */
function parentsOf(name: string): string[] {
  const levels = name.split(SEPARATOR).slice(0, -1);
  return levels.map((_, index) => levels.slice(0, index + 1).join(SEPARATOR));
}

/**
 * Creates a folder, and the levels above it that are missing.
 * @throws AppError already_exists, validation_error
 */
export async function createFolder(
  account: OpenAccount,
  name: string,
  specialUse: string | null = null,
): Promise<FolderRow> {
  requireName(name);
  const now = account.app.clock.now();
  const created = await account.db.commit(insertFolders, { name, specialUse, now }, (folders) => {
    for (const folder of folders) account.changes.publish(creationOf(folder));
  });
  return created.at(-1) as FolderRow;
}

function creationOf({ id, name, createdModseq }: FolderRow): FolderChange {
  return { kind: 'created', folderId: id, modseq: createdModseq, name };
}

function requireName(name: string): void {
  const problem = problemOfName(name);
  if (problem !== undefined) throw new AppError('validation_error', problem);
}

type Changed = { folderId: number; modseq: number };

const removeFolder = defineWrite(
  'account.deleteFolder',
  async (tx: AccountTx, { name }: { name: string }): Promise<Changed> => {
    const folder = await findFolderByName(tx, name);
    if (!folder) throw notFound('Mailbox');
    const modseq = await nextModseq(tx);
    await deleteFolderRow(tx, folder.id);
    await removeEntries(tx, folder.id);
    await removePendingEdits(tx, folder.id);
    await changeUsage(tx, { usedBytes: -folder.sizeBytes, messageCount: -folder.messageCount });
    return { folderId: folder.id, modseq };
  },
);

/**
 * Deletes a folder with its annotations and its messages. The rows of the messages, which no folder names any more, are removed later
 * (remove-unused.ts). Folders below it and its subscription stay.
 *
 * @throws AppError not_found, invalid_state for INBOX
 */
export async function deleteFolder(account: OpenAccount, name: string): Promise<void> {
  if (name === INBOX) throw new AppError('invalid_state', 'INBOX cannot be deleted');
  await account.db.commit(removeFolder, { name }, (changed) =>
    account.changes.publish({ kind: 'deleted', ...changed, name }),
  );
}

type Renaming = { from: string; to: string; now: number };
type Renamed = { created: FolderRow[]; renamed: (Changed & { from: string; to: string })[] };

const renameFolders = defineWrite(
  'account.renameFolder',
  async (tx: AccountTx, { from, to, now }: Renaming): Promise<Renamed> => {
    const folders = await listFolderRows(tx);
    const names = new Set(folders.map(({ name }) => name));
    const moving = folders.filter(({ name }) => name === from || name.startsWith(from + SEPARATOR));
    if (!names.has(from)) throw notFound('Mailbox');
    const target = (name: string) => to + name.slice(from.length);
    const taken = moving.find(({ name }) => names.has(target(name)));
    if (taken) throw new AppError('already_exists', 'A mailbox with the new name exists already');
    for (const { name } of moving) requireName(target(name));
    const created = await createParents(tx, to, now);
    const modseq = await nextModseq(tx);
    for (const { id, name } of moving) await renameFolderRow(tx, id, target(name));
    const renamed = moving.map(({ id, name }) => ({ folderId: id, modseq, from: name, to: target(name) }));
    return { created, renamed };
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-rename-before-commit',
      afterCommit: 'mailbox-rename-after-commit',
    },
  },
);

/** `messages` are those of INBOX as they were. */
type Emptied = { created: FolderRow[]; folder: Changed; inbox: Changed; messages: MessageRow[] };

/**
 * INBOX itself stays, and its messages move to the new folder, with the same UIDs under another UIDVALIDITY. Its annotations are copied
 * (RFC 5464 section 4.1).
 */
const emptyInbox = defineWrite(
  'account.renameInbox',
  async (tx: AccountTx, { to, now }: Omit<Renaming, 'from'>): Promise<Emptied> => {
    if (await findFolderByName(tx, to))
      throw new AppError('already_exists', 'A mailbox with the new name exists already');
    const inbox = await findFolderByName(tx, INBOX);
    if (!inbox) throw new Error('the account has no INBOX');
    const created = await createParents(tx, to, now);
    const folder = await insertFolder(tx, { name: to, specialUse: null, now });
    await applyPendingEdits(tx, inbox.id);
    const modseq = await nextModseq(tx);
    const messages = await moveAllMessages(tx, { from: inbox.id, to: folder.id, modseq });
    await reserveUids(tx, folder.id, inbox.uidNext - 1);
    await copyMetadata(tx, { from: inbox.id, to: folder.id });
    const { messageCount, unseenCount, deletedCount, sizeBytes } = inbox;
    const counts = { messageCount, unseenCount, deletedCount, sizeBytes };
    await changeCounts(tx, { folderId: folder.id, modseq, ...counts });
    await changeCounts(tx, { folderId: inbox.id, modseq, ...negative(counts) });
    return {
      created,
      folder: { folderId: folder.id, modseq },
      inbox: { folderId: inbox.id, modseq },
      messages,
    };
  },
);

type Counts = Pick<FolderRow, 'messageCount' | 'unseenCount' | 'deletedCount' | 'sizeBytes'>;

function negative({ messageCount, unseenCount, deletedCount, sizeBytes }: Counts): Counts {
  return {
    messageCount: -messageCount,
    unseenCount: -unseenCount,
    deletedCount: -deletedCount,
    sizeBytes: -sizeBytes,
  };
}

/**
 * Renames a folder and those below it. UIDVALIDITY stays, and so do subscriptions. Renaming INBOX moves its messages and leaves it
 * empty (RFC 9051 section 6.3.6).
 *
 * @throws AppError not_found, already_exists, validation_error, invalid_state
 */
export async function renameFolder(account: OpenAccount, from: string, to: string): Promise<void> {
  requireName(to);
  const now = account.app.clock.now();
  const { publish } = account.changes;
  const publishCreated = (folders: readonly FolderRow[]) => {
    for (const folder of folders) publish(creationOf(folder));
  };
  if (from === INBOX) {
    await account.db.commit(emptyInbox, { to, now }, ({ created, folder, inbox, messages }) => {
      publishCreated(created);
      publish({ kind: 'renamed', ...folder, from, to, isBelow: false });
      if (messages.length > 0) publish({ kind: 'expunged', ...inbox, messages });
    });
    return;
  }
  if (to.startsWith(from + SEPARATOR))
    throw new AppError('invalid_state', 'A mailbox cannot be moved into itself');
  await account.db.commit(renameFolders, { from, to, now }, ({ created, renamed }) => {
    publishCreated(created);
    for (const changed of renamed) publish({ kind: 'renamed', ...changed, isBelow: changed.from !== from });
  });
}

const addToSubscriptions = defineWrite(
  'account.subscribe',
  async (tx: AccountTx, { name }: { name: string }): Promise<boolean> => {
    const subscribed = await listSubscriptions(tx);
    if (subscribed.includes(name)) return false;
    if (subscribed.length >= MAX_FOLDERS) throw limitReached('subscriptions', subscribed.length);
    await insertSubscription(tx, name);
    return true;
  },
);

/**
 * Subscribes a name, whether such a folder exists or not.
 * @throws AppError validation_error
 */
export async function subscribe(account: OpenAccount, name: string): Promise<void> {
  requireName(name);
  await changeSubscriptions(account, addToSubscriptions, name);
}

const removeFromSubscriptions = defineWrite(
  'account.unsubscribe',
  async (tx: AccountTx, { name }: { name: string }): Promise<boolean> => {
    if (!(await listSubscriptions(tx)).includes(name)) return false;
    await deleteSubscription(tx, name);
    return true;
  },
);

/** Removes a name from the subscriptions. One that is not subscribed is no error. */
export async function unsubscribe(account: OpenAccount, name: string): Promise<void> {
  await changeSubscriptions(account, removeFromSubscriptions, name);
}

async function changeSubscriptions(
  account: OpenAccount,
  write: typeof addToSubscriptions,
  name: string,
): Promise<void> {
  await account.db.commit(write, { name }, (isChanged) => {
    if (isChanged) account.changes.subscriptions.publish({ name });
  });
}
