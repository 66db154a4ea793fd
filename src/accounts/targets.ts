/** Finds the folders that scripts name, and their annotations. */

import type { Target } from '../mail/sieve/actions.ts';
import type { Annotations, Folder } from '../mail/sieve/run/account.ts';
import { AppError } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import { createFolder, INBOX, listFolders, subscribe } from './folders.ts';
import { findSubject } from './metadata.ts';
import { findValue, listEntries } from './metadata-store.ts';
import type { FolderRow } from './tables.ts';

/** Number of folders from which on scripts create no more: texts of a message can name them. */
const MAX_FOLDERS_WITH_SCRIPTS = 500;

/** Returns the folders as scripts name them. */
export async function listTargets(account: OpenAccount): Promise<Folder[]> {
  const { folders } = await listFolders(account);
  return folders.map(({ name, objectId, specialUse }) => ({ name, mailboxId: objectId, specialUse }));
}

/** Maximum length of a value that scripts see, that of a variable. */
const MAX_VALUE_CHARACTERS = 8_192;

/** Returns the annotations of a folder, or of the server where the name is empty, as scripts see them. */
export async function readAnnotations(
  { db: { read } }: OpenAccount,
  folder: string,
): Promise<Annotations['entries']> {
  const folderId = await findSubject(read, folder);
  if (folderId === undefined) return [];
  const entries: { entry: string; value: string }[] = [];
  for (const { entry } of await listEntries(read, folderId)) {
    const value = await findValue(read, { folderId, entry });
    if (value) entries.push({ entry, value: Buffer.from(value).toString().slice(0, MAX_VALUE_CHARACTERS) });
  }
  return entries;
}

/**
 * Returns the name of the folder of a target: that with its id, that with its special use, or that with its name, which is created where
 * the target asks for it. Returns undefined when there is none, so that the message goes where it goes by default.
 */
export async function findTarget(account: OpenAccount, target: Target): Promise<string | undefined> {
  const { mailbox, mailboxId, specialUse, createsMailbox } = target;
  if (mailbox === INBOX && mailboxId === undefined && specialUse === undefined) return undefined;
  const { folders } = await listFolders(account);
  const use = specialUse?.toLowerCase();
  const found =
    folders.find(({ objectId }) => objectId === mailboxId) ??
    folders.find((folder) => use !== undefined && folder.specialUse?.toLowerCase() === use) ??
    folders.find(({ name }) => name === mailbox);
  if (found || !createsMailbox || folders.length >= MAX_FOLDERS_WITH_SCRIPTS) return found?.name;
  return await createTarget(account, mailbox, findUse(folders, specialUse));
}

/** A special use has one folder. */
function findUse(folders: readonly FolderRow[], specialUse: string | undefined): string | null {
  return folders.some((folder) => folder.specialUse === specialUse) ? null : (specialUse ?? null);
}

/** Creates a folder, and subscribes it, since some mail programs show no other ones. A name that no folder can have creates none. */
async function createTarget(
  account: OpenAccount,
  name: string,
  specialUse: string | null,
): Promise<string | undefined> {
  try {
    await createFolder(account, name, specialUse);
    await subscribe(account, name);
    return name;
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'unavailable') throw error;
    return error.code === 'already_exists' ? name : undefined;
  }
}
