/** Sets annotations of folders and of the server (RFC 5464). They belong to the account, and no other account sees them. */
import { defineWrite } from '../db/operation.ts';
import { MAX_ENTRIES, type MetadataEntry } from '../mail/imap/metadata.ts';
import { limitReached } from '../system/errors.ts';
import type { OpenAccount } from './account.ts';
import { findFolderByName } from './folder-store.ts';
import {
  copyEntries,
  type EntrySize,
  listEntries,
  octetsOf,
  removeEntry,
  SERVER,
  setValue,
  sumMetadataOctets,
} from './metadata-store.ts';
import type { AccountTx } from './store.ts';

/**
 * Maximum number of octets of all annotations of an account, which do not count for its quota. A server must take ten of 1,024 octets for
 * a mailbox (RFC 5464 section 4.1), which this allows for 1,500 mailboxes.
 */
const MAX_OCTETS = 16 * 1024 * 1024;

type Setting = {
  /** Name of the folder; empty for the server. */
  mailbox: string;
  entries: readonly MetadataEntry[];
};

/** Reasons for which nothing was set: there is no such folder, it has too many entries, or those of the account are too large. */
export type NotSet = { refused: 'folder' | 'entries' | 'octets' };

type Outcome = NotSet | { folderId: number; changed: string[] };

const setEntries = defineWrite(
  'account.setMetadata',
  async (tx: AccountTx, { mailbox, entries }: Setting): Promise<Outcome> => {
    const folderId = await findSubject(tx, mailbox);
    if (folderId === undefined) return { refused: 'folder' };
    const before = await listEntries(tx, folderId);
    const after = apply(before, entries);
    if (after.length > MAX_ENTRIES && after.length > before.length) return { refused: 'entries' };
    const added = sumOf(after) - sumOf(before);
    if (added > 0 && (await sumMetadataOctets(tx)) + added > MAX_OCTETS) return { refused: 'octets' };
    const changed: string[] = [];
    for (const { entry, value } of entries) {
      if (value) await setValue(tx, { folderId, entry, value });
      if (value || (await removeEntry(tx, { folderId, entry }))) changed.push(entry);
    }
    return { folderId, changed };
  },
);

/** Returns the number under which entries are stored; undefined when the folder does not exist. An empty name stands for the server. */
export async function findSubject(tx: AccountTx, mailbox: string): Promise<number | undefined> {
  return mailbox === '' ? SERVER : (await findFolderByName(tx, mailbox))?.id;
}

/** Returns the entries as they are after they were set. */
function apply(before: readonly EntrySize[], entries: readonly MetadataEntry[]): EntrySize[] {
  const after = new Map(before.map((known) => [known.entry.toLowerCase(), known]));
  for (const { entry, value } of entries) {
    if (value) after.set(entry.toLowerCase(), { entry, sizeBytes: value.length });
    else after.delete(entry.toLowerCase());
  }
  return [...after.values()];
}

function sumOf(entries: readonly EntrySize[]): number {
  return entries.reduce((sum, entry) => sum + octetsOf(entry), 0);
}

/**
 * Sets or removes all of these entries, or none.
 * @throws AppError unavailable when the disk is full; DamagedDatabaseError
 */
export async function setMetadata(account: OpenAccount, setting: Setting): Promise<NotSet | undefined> {
  const outcome = await account.db.commit(setEntries, setting, (committed) => {
    if ('refused' in committed || committed.changed.length === 0) return;
    const { folderId, changed } = committed;
    account.changes.metadata.publish({
      folderId: folderId === SERVER ? undefined : folderId,
      entries: changed,
    });
  });
  return 'refused' in outcome ? outcome : undefined;
}

/**
 * Gives a new folder the entries of another one, inside a write.
 * @throws AppError validation_error when they would exceed the limits of the account
 */
export async function copyMetadata(tx: AccountTx, folders: { from: number; to: number }): Promise<void> {
  const copied = await listEntries(tx, folders.from);
  if (copied.length === 0) return;
  if ((await sumMetadataOctets(tx)) + sumOf(copied) > MAX_OCTETS)
    throw limitReached('annotations', copied.length, 'remove some of INBOX before you rename it');
  await copyEntries(tx, folders);
}
