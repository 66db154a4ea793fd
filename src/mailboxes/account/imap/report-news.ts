/** Tells the client of a session what has happened in its account (RFC 5465 section 5, RFC 5464 section 4.4.2). */
import { writeListed, writeStatus } from '../../../mail/imap/encode/mailboxes.ts';
import { writeMetadataNames } from '../../../mail/imap/encode/metadata.ts';
import { textFormOf } from '../../../mail/imap/encode/strings.ts';
import type { NotifyEvent } from '../../../mail/imap/notify.ts';
import type { Chunks, Features, StatusItem } from '../../../mail/imap/session.ts';
import { createPause } from '../../../system/next-turn.ts';
import { SERVER } from '../metadata-store.ts';
import type { FolderRow } from '../tables.ts';
import type { AccountNews, NameNews, News, StatusNews } from './account-news.ts';
import type { AccountState } from './account-state.ts';
import { attributesOf, type Names, readNames } from './list.ts';
import { Responses } from './responses.ts';
import { statusOf } from './status.ts';

/** Attributes of names that were changed: all that the server knows (RFC 5465 sections 5.4 and 5.5). */
const ATTRIBUTES = {
  response: 'LIST',
  return: { subscribed: true, children: true, specialUse: true, status: [] },
} as const;

type Session = {
  shared: AccountState;
  news: AccountNews;
  features: Features;
  /** The selected folder, whose messages the view tells of. */
  selectedId: number | undefined;
};

/** Yields the states of all folders but the selected one whose messages the client wants to know of. */
export async function* listStatuses(session: Session): Chunks {
  const { news, shared, features, selectedId } = session;
  const names = await readNames(shared.account);
  const responses = new Responses();
  const pause = createPause(shared.account.app.clock);
  for (const folder of names.folders.values()) {
    await pause();
    const events = eventsOf(news, names, folder.name);
    if (folder.id === selectedId || !events.has('MessageNew')) continue;
    const items: StatusItem[] = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY'];
    if (events.has('FlagChange') || features.condstore) items.push('HIGHESTMODSEQ');
    responses.add(await writeStatusOf(session, folder, items));
    if (responses.isFull) yield* responses.take();
  }
  yield* responses.take();
  return undefined;
}

/** Yields LIST, STATUS and METADATA responses about what has happened. Names are told first, since the others use them. */
export async function* reportNews(session: Session): Chunks {
  const taken = session.news.take();
  if (!taken) return undefined;
  if (taken.isOverflow) {
    yield Buffer.from('* OK [NOTIFICATIONOVERFLOW] There were too many changes\r\n');
    return undefined;
  }
  const names = await readNames(session.shared.account);
  const responses = new Responses();
  const pause = createPause(session.shared.account.app.clock);
  await addNames(session, { taken, names, pause }, responses);
  const folders = new Map([...names.folders.values()].map((folder) => [folder.id, folder]));
  for (const [folderId, status] of taken.statuses) {
    await pause();
    const folder = folders.get(folderId);
    if (!folder || folderId === session.selectedId) continue;
    const items = statusItems(status, eventsOf(session.news, names, folder.name), session.features);
    if (items.length > 0) responses.add(await writeStatusOf(session, folder, items));
    if (responses.isFull) yield* responses.take();
  }
  await addMetadata(session, { taken, names, pause, folders }, responses);
  yield* responses.take();
  return undefined;
}

/** `pause` lets other sessions in, because an account can have thousands of folders with hundreds of levels. */
type Told = { taken: News; names: Names; pause: () => Promise<void> };

async function addNames(
  { news, features }: Session,
  { taken, names, pause }: Told,
  responses: Responses,
): Promise<void> {
  const add = ({ name, oldName, exists }: NameNews): void => {
    const attributes = attributesOf(ATTRIBUTES, names, { name, isParent: false, exists });
    responses.add(
      writeListed({ response: 'LIST', mailbox: name, attributes, oldName }, textFormOf(features)),
    );
  };
  const isWanted = (name: string | undefined): boolean =>
    name !== undefined && eventsOf(news, names, name).has('MailboxName');
  const told = new Set<string>();
  for (const [index, one] of taken.names.entries()) {
    await pause();
    const isToldLater = (): boolean =>
      taken.names.slice(index + 1).some(({ name, oldName }) => one.name === name || one.name === oldName);
    if (one.exists === undefined && isToldLater()) continue;
    if (!isWanted(one.name) && !isWanted(one.oldName)) continue;
    add(one);
    told.add(one.name);
  }
  for (const name of taken.subscriptions) {
    await pause();
    // A name that is no longer subscribed was until now.
    const isAsked = news.eventsOf({ name, isSubscribed: true }).has('SubscriptionChange');
    if (isAsked && !told.has(name)) add({ name });
  }
}

async function addMetadata(
  { news, features }: Session,
  { taken, names, pause, folders }: Told & { folders: ReadonlyMap<number, FolderRow> },
  responses: Responses,
): Promise<void> {
  for (const [folderId, entries] of Map.groupBy(taken.metadata, (one) => one.folderId)) {
    await pause();
    const name = folders.get(folderId)?.name;
    // A folder that was deleted has no entries any more.
    if (folderId !== SERVER && name === undefined) continue;
    const folder = name === undefined ? undefined : { name, isSubscribed: names.subscribed.has(name) };
    if (!news.wantsMetadata(folder)) continue;
    const changed = entries.map(({ entry }) => entry);
    responses.add(writeMetadataNames(name ?? '', changed, textFormOf(features)));
  }
}

/** Returns what a STATUS response tells of changes (RFC 5465 sections 5.1 to 5.3). */
function statusItems(
  { messages, flags, identity }: StatusNews,
  events: ReadonlySet<NotifyEvent>,
  { condstore }: Features,
): StatusItem[] {
  const items: StatusItem[] = [];
  const hasMessages = messages && events.has('MessageNew');
  const hasFlags = (flags || identity) && events.has('FlagChange');
  if (hasMessages) items.push('UIDNEXT', 'MESSAGES');
  if (hasFlags) items.push('UIDVALIDITY', 'UNSEEN');
  if (condstore && items.length > 0) items.push('HIGHESTMODSEQ');
  return items;
}

function eventsOf(news: AccountNews, { subscribed }: Names, name: string): ReadonlySet<NotifyEvent> {
  return news.eventsOf({ name, isSubscribed: subscribed.has(name) });
}

async function writeStatusOf(
  { shared, features }: Session,
  folder: FolderRow,
  items: readonly StatusItem[],
): Promise<string> {
  const values = await statusOf(shared, folder, items);
  return writeStatus({ mailbox: folder.name, items, values }, textFormOf(features));
}
