/**
 * Delivers accepted mail to an account. A delivery that is repeated after a crash changes nothing, because the account keeps the
 * ids of deliveries. No quota applies: the mail was accepted.
 */

import { defineWrite } from '../db/operation.ts';
import type { Target } from '../mail/sieve/actions.ts';
import type { Annotations, Folder } from '../mail/sieve/run/account.ts';
import { AppError } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import { type Addition, addInWrite, type Committed, publishAdded, settle } from './add.ts';
import type { PreparedContent } from './content.ts';
import { insertDelivery } from './delivery-store.ts';
import { findFolderByName, findFolderBySpecialUse } from './folder-store.ts';
import { createFolder, INBOX, listFolders, subscribe } from './folders.ts';
import { findSubject } from './metadata.ts';
import { findValue, listEntries } from './metadata-store.ts';
import type { AccountTx } from './store.ts';
import type { FolderRow } from './tables.ts';

type FolderChoice = { name: string } | { specialUse: string };

type Delivery = {
  /** Id that is the same for every attempt of this delivery, and that no other one has. */
  deliveryId: string;
  /** Id that several deliveries of the message share, of which a folder stores the first one. */
  sharedId?: string;
  /** The folder by its name, or by a special use such as `\Junk`. INBOX by default, and when there is no such folder. */
  folder?: FolderChoice;
  content: PreparedContent;
  /** Header fields of this recipient, in front of the content, each with its CRLF. */
  prefix: Uint8Array;
  /** Bits of system flags, and sorted keywords, if there are any (`readFlags`). */
  flags: number;
  keywords?: readonly string[];
  /** Time of arrival, which becomes the internal date. */
  receivedAt: number;
};

/** A delivery that was stored before is `known`. */
type Delivered = { folderId: number; uid: number; isKnown: false } | { isKnown: true };

type DeliveryInput = Omit<Delivery, 'content' | 'prefix' | 'flags' | 'keywords' | 'receivedAt'> &
  Omit<Addition, 'folder'> & { now: number };

const insertDelivered = defineWrite(
  'account.deliver',
  async (
    tx: AccountTx,
    { deliveryId, sharedId, folder = { name: INBOX }, messages, now }: DeliveryInput,
  ): Promise<Committed | { isKnown: true }> => {
    if (!(await insertDelivery(tx, { id: deliveryId, at: now }))) return { isKnown: true };
    const found =
      'name' in folder
        ? await findFolderByName(tx, folder.name)
        : await findFolderBySpecialUse(tx, folder.specialUse);
    const name = found?.name ?? INBOX;
    // A message is filed into a folder once (RFC 5228 section 2.10.3).
    if (sharedId !== undefined && !(await insertDelivery(tx, { id: `${sharedId}/in/${name}`, at: now })))
      return { isKnown: true };
    return addInWrite(tx, { folder: name, messages, now });
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-delivery-before-commit',
      afterCommit: 'mailbox-delivery-after-commit',
    },
  },
);

/**
 * Stores a message once. The content is used up: it is stored, or discarded.
 * @throws AppError unavailable when the disk is full; DamagedDatabaseError
 */
export async function deliver(
  account: OpenAccount,
  { deliveryId, sharedId, folder, content, prefix, flags, keywords = [], receivedAt }: Delivery,
): Promise<Delivered> {
  const internalDate = { atMs: receivedAt, zoneMinutes: 0 };
  const messages = [{ content, flags, keywords, internalDate, prefix }];
  const input: DeliveryInput = {
    deliveryId,
    messages,
    now: account.app.clock.now(),
    ...(folder !== undefined && { folder }),
    ...(sharedId !== undefined && { sharedId }),
  };
  const committed = await settle(account, [content], () =>
    account.db.commit(insertDelivered, input, (result) => {
      if (!('isKnown' in result)) publishAdded(account, result);
    }),
  );
  if ('isKnown' in committed) return committed;
  if ('refused' in committed) throw new Error('the account has no INBOX');
  const [uid = 0] = committed.uids;
  return { folderId: committed.folderId, uid, isKnown: false };
}

/** Finds the folders that scripts name, and their annotations. */

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
