/** LIST and LSUB over an account (RFC 9051 section 6.3.9, RFC 3501 section 6.3.9, RFC 5258, RFC 5819, RFC 6154). */
import { writeListed, writeStatus } from '../../mail/imap/encode/mailboxes.ts';
import type { TextForm } from '../../mail/imap/encode/strings.ts';
import { compilePattern, SEPARATOR } from '../../mail/imap/list-pattern.ts';
import type { Chunks, ListQuery } from '../../mail/imap/session.ts';
import { createPause } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import {
  findFolderByName,
  hasFoldersBelow,
  isSubscribed,
  listFolderRows,
  listSubscriptions,
} from '../folder-store.ts';
import type { FolderRow } from '../tables.ts';
import type { AccountState } from './account-state.ts';
import { Responses } from './responses.ts';
import { statusOf } from './status.ts';

/** Names of the folders of an account, and what LIST reports about them. */
type Names = {
  folders: ReadonlyMap<string, FolderRow>;
  subscribed: ReadonlySet<string>;
  /** Names that have folders below them. */
  parents: ReadonlySet<string>;
};

/** Facts of a name, as LIST tells them. */
type NameFacts = {
  folder: FolderRow | undefined;
  isSubscribed: boolean;
  hasChildren: boolean;
};

/** Yields LIST or LSUB responses in the order of names, each followed by its STATUS response where that is asked for. */
export async function* listFolders(shared: AccountState, query: ListQuery, form: TextForm): Chunks {
  const names = await readNames(shared.account);
  const { folders } = names;
  const responses = new Responses();
  for (const { name, isParent, hasWanted } of await chooseNames(shared, query, names)) {
    const childInfo = query.select.recursiveMatch && hasWanted ? ['SUBSCRIBED'] : [];
    const folder = folders.get(name);
    const facts = {
      folder,
      isSubscribed: names.subscribed.has(name),
      hasChildren: names.parents.has(name),
    };
    const attributes = attributesOf(query, facts, { isParent });
    responses.add(writeListed({ response: query.response, mailbox: name, attributes, childInfo }, form));
    const items = query.return.status;
    if (items.length > 0 && folder) {
      const values = { ...(await statusOf(shared, folder, items)), APPENDLIMIT: query.appendLimit };
      responses.add(writeStatus({ mailbox: name, items, values }, form));
    }
    if (responses.isFull) yield* responses.take();
  }
  yield* responses.take();
  return undefined;
}

/** Reads the names of the folders of an account. */
export async function readNames({ db: { read } }: OpenAccount): Promise<Names> {
  const rows = await listFolderRows(read);
  const folders = new Map(rows.map((row) => [row.name, row]));
  return {
    folders,
    subscribed: new Set(await listSubscriptions(read)),
    parents: parentsOf(folders.keys()),
  };
}

/** Reads what LIST reports about one name. */
export async function readName({ db: { read } }: OpenAccount, name: string): Promise<NameFacts> {
  return {
    folder: await findFolderByName(read, name),
    isSubscribed: await isSubscribed(read, name),
    hasChildren: await hasFoldersBelow(read, name),
  };
}

type Chosen = {
  name: string;
  /** The name is answered for the sake of a name below it. */
  isParent: boolean;
  /** A name below fulfils the criteria. */
  hasWanted: boolean;
};

async function chooseNames(
  { account }: AccountState,
  { response, select, patterns }: ListQuery,
  { folders, subscribed }: Names,
): Promise<Chosen[]> {
  const isLsub = response === 'LSUB';
  const isWanted = (name: string): boolean =>
    (select.subscribed || isLsub ? subscribed.has(name) : folders.has(name)) &&
    (!select.specialUse || (folders.get(name)?.specialUse ?? null) !== null);
  const wanted = new Set([...folders.keys(), ...subscribed].filter(isWanted));
  const above = parentsOf(wanted);
  const matching = await findMatching(account, [...wanted, ...above], patterns);
  // A parent is answered only for the sake of names that the patterns do not reach (RFC 3501 section 6.3.9, RFC 5258 section 3.5).
  const unreached = parentsOf([...wanted].filter((name) => !matching.has(name)));
  const answersParents = isLsub || select.recursiveMatch;
  return [...new Set([...wanted, ...(answersParents ? unreached : [])])]
    .filter((name) => matching.has(name))
    .sort()
    .map((name) => ({ name, isParent: !wanted.has(name), hasWanted: above.has(name) }));
}

/** Returns the names that match one of the patterns. Other work runs in between, because a client may send many patterns. */
async function findMatching(
  { app }: OpenAccount,
  names: readonly string[],
  patterns: readonly string[],
): Promise<ReadonlySet<string>> {
  const matchers = patterns.map(compilePattern);
  const pause = createPause(app.clock);
  const matching = new Set<string>();
  for (const name of names) {
    for (const matches of matchers) {
      if (matching.has(name)) break;
      if (matches(name)) matching.add(name);
      await pause();
    }
  }
  return matching;
}

/**
 * Returns the attributes of a name. `isParent` is true when it is answered for the sake of a name below it; `exists` tells whether a
 * folder had this name at the time that is described, which is now unless it is given.
 */
export function attributesOf(
  { response, return: returned }: Pick<ListQuery, 'response' | 'return'>,
  facts: NameFacts,
  {
    isParent,
    exists = facts.folder !== undefined,
  }: Pick<Chosen, 'isParent'> & { exists?: boolean | undefined },
): string[] {
  const specialUse = exists ? (facts.folder?.specialUse ?? null) : null;
  const isMissing = response === 'LSUB' ? isParent : !exists;
  return [
    ...(isMissing ? [response === 'LSUB' ? '\\Noselect' : '\\NonExistent'] : []),
    ...(returned.subscribed && facts.isSubscribed ? ['\\Subscribed'] : []),
    ...(returned.children ? [facts.hasChildren ? '\\HasChildren' : '\\HasNoChildren'] : []),
    ...(returned.specialUse && specialUse !== null ? [specialUse] : []),
  ];
}

/** Returns the names of all levels above these names. */
function parentsOf(names: Iterable<string>): Set<string> {
  const parents = new Set<string>();
  for (const name of names)
    for (let end = name.lastIndexOf(SEPARATOR); end > 0; end = name.lastIndexOf(SEPARATOR, end - 1)) {
      const parent = name.slice(0, end);
      // The levels above are known then too. 10,000 names can have 500 levels each.
      if (parents.has(parent)) break;
      parents.add(parent);
    }
  return parents;
}
