/** Tells the client of a session what has happened in its account (RFC 5465 section 5, RFC 5464 section 4.4.2). */
import { writeListed, writeMetadataNames, writeStatus } from '../../mail/imap/encode/mailboxes.ts';
import { textFormOf } from '../../mail/imap/encode/strings.ts';
import type { NotifyEvent } from '../../mail/imap/notify.ts';
import type { Chunks, Features, StatusItem } from '../../mail/imap/session.ts';
import { createPause } from '../../system/slices.ts';
import { findFolderById, isSubscribed } from '../folder-store.ts';
import { SERVER } from '../metadata-store.ts';
import type { FolderRow } from '../tables.ts';
import type {
  AccountNotifications,
  NameNotification,
  Notifications,
  StatusNotification,
} from './account-notifications.ts';
import type { AccountState } from './account-state.ts';
import { attributesOf, readName, readNames } from './list.ts';
import { Responses } from './responses.ts';
import { statusOf } from './status.ts';

/** Attributes of names that were changed: all that the server knows (RFC 5465 sections 5.4 and 5.5). */
const ATTRIBUTES = {
  response: 'LIST',
  return: { subscribed: true, children: true, specialUse: true, status: [] },
} as const;

type Session = {
  shared: AccountState;
  notifications: AccountNotifications;
  features: Features;
  /** The selected folder, whose messages the view reports. */
  selectedId: number | undefined;
};

/** Yields the states of all folders but the selected one whose messages the client wants to know of. */
export async function* listStatuses(session: Session): Chunks {
  const { notifications, shared, features, selectedId } = session;
  const names = await readNames(shared.account);
  const responses = new Responses();
  const pause = createPause(shared.account.app.clock);
  for (const folder of names.folders.values()) {
    await pause();
    const isListed = { name: folder.name, isSubscribed: names.subscribed.has(folder.name) };
    const events = notifications.eventsOf(isListed);
    if (folder.id === selectedId || !events.has('MessageNew')) continue;
    const items: StatusItem[] = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY'];
    if (events.has('FlagChange') || features.condstore) items.push('HIGHESTMODSEQ');
    responses.add(await writeStatusOf(session, folder, items));
    if (responses.isFull) yield* responses.take();
  }
  yield* responses.take();
  return undefined;
}

/** Yields LIST, STATUS and METADATA responses about what has happened. Names come first, since the others use them. */
export async function* reportNotifications(session: Session): Chunks {
  const notifications = session.notifications.take();
  if (!notifications) return undefined;
  if (notifications.isOverflow) {
    yield Buffer.from('* OK [NOTIFICATIONOVERFLOW] There were too many changes\r\n');
    return undefined;
  }
  const responses = new Responses();
  const reporting: Reporting = {
    ...session,
    responses,
    pause: createPause(session.shared.account.app.clock),
  };
  const names = await addNames(reporting, notifications.names);
  await addSubscriptions(
    reporting,
    [...notifications.subscriptions].filter((name) => !names.has(name)),
  );
  for (const [folderId, status] of notifications.statuses) {
    await reporting.pause();
    if (folderId !== session.selectedId) await addStatus(reporting, folderId, status);
    if (responses.isFull) yield* responses.take();
  }
  await addMetadata(reporting, notifications.metadata);
  yield* responses.take();
  return undefined;
}

/** `pause` lets other sessions in, because there can be a thousand names. Of the folders, only those that have changed are read. */
type Reporting = Session & { responses: Responses; pause: ReturnType<typeof createPause> };

/** Returns the names that were reported. */
async function addNames(reporting: Reporting, names: readonly NameNotification[]): Promise<Set<string>> {
  /** Index of the last notification about each name. */
  const last = new Map<string, number>();
  for (const [index, { name, oldName }] of names.entries())
    for (const one of [name, oldName]) if (one !== undefined) last.set(one, index);
  const added = new Set<string>();
  for (const [index, one] of names.entries()) {
    await reporting.pause();
    const isReportedLater = (last.get(one.name) ?? index) > index;
    if (one.exists === undefined && isReportedLater) continue;
    if (!(await isWanted(reporting, one.name)) && !(await isWanted(reporting, one.oldName))) continue;
    await addName(reporting, one);
    added.add(one.name);
  }
  return added;
}

async function isWanted({ notifications, shared }: Reporting, name: string | undefined): Promise<boolean> {
  return name !== undefined && (await readEvents(notifications, shared, name)).has('MailboxName');
}

async function addSubscriptions(reporting: Reporting, names: Iterable<string>): Promise<void> {
  for (const name of names) {
    await reporting.pause();
    // A name that is no longer subscribed was until now.
    const events = reporting.notifications.eventsOf({ name, isSubscribed: true });
    if (events.has('SubscriptionChange')) await addName(reporting, { name });
  }
}

async function addName(
  { shared, features, responses }: Reporting,
  { name, oldName, exists }: NameNotification,
): Promise<void> {
  const attributes = attributesOf(ATTRIBUTES, await readName(shared.account, name), {
    isParent: false,
    exists,
  });
  responses.add(writeListed({ response: 'LIST', mailbox: name, attributes, oldName }, textFormOf(features)));
}

async function addStatus(reporting: Reporting, folderId: number, status: StatusNotification): Promise<void> {
  const { notifications, shared, features, responses } = reporting;
  const folder = await findFolderById(shared.account.db.read, folderId);
  if (!folder) return;
  const items = statusItems(status, await readEvents(notifications, shared, folder.name), features);
  if (items.length > 0) responses.add(await writeStatusOf(reporting, folder, items));
}

async function addMetadata(reporting: Reporting, metadata: Notifications['metadata']): Promise<void> {
  const { notifications, shared, features, responses } = reporting;
  const { read } = shared.account.db;
  for (const [folderId, entries] of Map.groupBy(metadata, (one) => one.folderId)) {
    await reporting.pause();
    const name = folderId === SERVER ? undefined : (await findFolderById(read, folderId))?.name;
    // A folder that was deleted has no entries any more.
    if (folderId !== SERVER && name === undefined) continue;
    const folder = name === undefined ? undefined : { name, isSubscribed: await isSubscribed(read, name) };
    if (!notifications.wantsMetadata(folder)) continue;
    const changed = entries.map(({ entry }) => entry);
    responses.add(writeMetadataNames(name ?? '', changed, textFormOf(features)));
  }
}

/** Returns what a STATUS response reports about changes (RFC 5465 sections 5.1 to 5.3). */
function statusItems(
  { messages, flags, identity }: StatusNotification,
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

/** Returns the events that the client wants of a folder. */
async function readEvents(
  notifications: AccountNotifications,
  { account }: AccountState,
  name: string,
): Promise<ReadonlySet<NotifyEvent>> {
  return notifications.eventsOf({ name, isSubscribed: await isSubscribed(account.db.read, name) });
}

async function writeStatusOf(
  { shared, features }: Session,
  folder: FolderRow,
  items: readonly StatusItem[],
): Promise<string> {
  const values = await statusOf(shared, folder, items);
  return writeStatus({ mailbox: folder.name, items, values }, textFormOf(features));
}
