/** The folders of an account as programs name them: by a role such as `sent`, by their id, or by their name. */
import { notFound } from '../../system/errors.ts';
import type { OpenAccount } from '../account.ts';
import { findFolderByName, findFolderBySpecialUse, listFolderRows } from '../folder-store.ts';
import { INBOX } from '../folders.ts';
import type { FolderRow } from '../tables.ts';

/** Purpose of a folder. Each role has one folder at most. */
export const FOLDER_ROLES = ['inbox', 'drafts', 'sent', 'junk', 'trash', 'archive'] as const;
export type FolderRole = (typeof FOLDER_ROLES)[number];

/** Special uses (RFC 6154) by the role. INBOX has none. */
const SPECIAL_USES: Readonly<Record<Exclude<FolderRole, 'inbox'>, string>> = {
  drafts: '\\Drafts',
  sent: '\\Sent',
  junk: '\\Junk',
  trash: '\\Trash',
  archive: '\\Archive',
};

/** A folder. `id` is its MAILBOXID (RFC 8474), which stays when the folder is renamed. */
export type NamedFolder = {
  id: string;
  name: string;
  role: FolderRole | null;
  messageCount: number;
  unreadCount: number;
};

/** Returns all folders by name. */
export async function listNamedFolders({ db }: OpenAccount): Promise<NamedFolder[]> {
  return (await listFolderRows(db.read)).map(showFolder);
}

function showFolder(folder: FolderRow): NamedFolder {
  const { objectId: id, name, messageCount, unseenCount: unreadCount } = folder;
  return { id, name, role: roleOf(folder), messageCount, unreadCount };
}

export function roleOf({ name, specialUse }: Pick<FolderRow, 'name' | 'specialUse'>): FolderRole | null {
  if (name === INBOX) return 'inbox';
  const found = Object.entries(SPECIAL_USES).find(
    ([, use]) => use.toLowerCase() === specialUse?.toLowerCase(),
  );
  return found ? (found[0] as FolderRole) : null;
}

/**
 * Returns the folder with this role, id or name.
 * @throws AppError not_found
 */
export async function getNamedFolder({ db }: OpenAccount, wanted: string): Promise<FolderRow> {
  const found =
    wanted === 'inbox'
      ? await findFolderByName(db.read, INBOX)
      : isUse(wanted)
        ? await findFolderBySpecialUse(db.read, SPECIAL_USES[wanted])
        : await findByIdOrName(db, wanted);
  if (!found) throw notFound('Folder');
  return found;
}

function isUse(wanted: string): wanted is keyof typeof SPECIAL_USES {
  return Object.hasOwn(SPECIAL_USES, wanted);
}

async function findByIdOrName({ read }: OpenAccount['db'], wanted: string): Promise<FolderRow | undefined> {
  const folders = await listFolderRows(read);
  return folders.find(({ objectId }) => objectId === wanted) ?? folders.find(({ name }) => name === wanted);
}
