/** Finds the folders of a server, and decides which folder of the mailbox takes the messages of each. */
import type { ListResponse } from 'imapflow';
import type { Folder } from '../../mail/sieve/run/account.ts';
import { validFolderName } from '../archive/fit-name.ts';
import type { ExchangeLimits, SourceConnection } from './connection.ts';

/** A folder of a server, and the one that takes its messages. */
export type SourceFolder = { path: string; target: string };

/**
 * The list of a server with 5,000 folders, which lists those that are subscribed once more. With the shortest names it has 40,000 lines,
 * which take 60 MB.
 */
const LIST_LIMITS: ExchangeLimits = { maxBytes: 1024 * 1024, timeoutMs: 120_000 };

/** A folder as the server lists it. */
export type ListedSource = Pick<
  ListResponse,
  'path' | 'delimiter' | 'flags' | 'specialUse' | 'specialUseSource'
>;

/** Returns the folders of a server in the order in which they are imported. */
export async function listSourceFolders(
  connection: SourceConnection,
  targets: readonly Pick<Folder, 'name' | 'specialUse'>[],
): Promise<SourceFolder[]> {
  const listed = await connection.exchange(LIST_LIMITS, (commands) => commands.list());
  return mapFolders(listed, {
    targets,
    namespaces: connection.namespaces,
    hasLabels: connection.hasLabels,
  });
}

type Mapping = {
  targets: readonly Pick<Folder, 'name' | 'specialUse'>[];
  namespaces: SourceConnection['namespaces'];
  hasLabels: boolean;
};

/**
 * Special uses by the order of their folders. A message with labels is imported from the first folder that has it, so those that name
 * a message best come first, and the folder of all messages after those of labels.
 */
const BEFORE_OTHERS = ['\\Inbox', '\\Drafts', '\\Sent'];
const AFTER_OTHERS = ['\\Archive', '\\All', '\\Junk', '\\Trash'];

/** Returns the folders that are imported. Those of other users are not, and neither are views of messages that other folders have. */
export function mapFolders(listed: readonly ListedSource[], mapping: Mapping): SourceFolder[] {
  const { namespaces, hasLabels } = mapping;
  return listed
    .filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'))
    .filter(({ path }) => !namespaces.others.some((prefix) => prefix !== '' && path.startsWith(prefix)))
    .filter((folder) => !isView(folder, hasLabels))
    .sort((one, other) => rankOf(one) - rankOf(other) || (one.path < other.path ? -1 : 1))
    .map((folder) => ({ path: folder.path, target: targetOf(folder, mapping) }));
}

function isView({ flags, specialUse, specialUseSource }: ListedSource, hasLabels: boolean): boolean {
  if (flags.has('\\Important')) return true;
  if (specialUseSource !== 'extension') return false;
  return specialUse === '\\Flagged' || (specialUse === '\\All' && !hasLabels);
}

function rankOf({ specialUse = '' }: ListedSource): number {
  if (BEFORE_OTHERS.includes(specialUse)) return BEFORE_OTHERS.indexOf(specialUse);
  return BEFORE_OTHERS.length + 1 + AFTER_OTHERS.indexOf(specialUse);
}

/** Names of the folders with a special use, where the mailbox has none. */
const NAMES: Readonly<Record<string, string>> = {
  '\\Drafts': 'Drafts',
  '\\Sent': 'Sent',
  '\\Archive': 'Archive',
  '\\Junk': 'Junk',
  '\\Trash': 'Trash',
};

function targetOf({ path, delimiter, specialUse }: ListedSource, { targets, namespaces }: Mapping): string {
  if (specialUse === '\\Inbox') return 'INBOX';
  const use = specialUse === '\\All' ? '\\Archive' : specialUse;
  const found = use && targets.find((target) => target.specialUse === use)?.name;
  const name = found || (use && NAMES[use]);
  if (name) return name;
  const prefix = namespaces.own.find((own) => own !== '' && path.startsWith(own)) ?? '';
  const levels = delimiter ? path.slice(prefix.length).split(delimiter) : [path];
  return validFolderName(levels.map((level) => level.replaceAll('/', '_')).join('/'));
}
