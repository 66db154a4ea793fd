/**
 * Groups messages into threads for programs, by their References as THREAD does (RFC 5256). The newest messages of a folder are grouped
 * together with the newest ones of the folder of sent mail, so that a thread has its replies.
 */
import { type Thread, type ThreadRow, threadMessages } from '../../mail/imap/thread.ts';
import type { SortKeys } from '../../mail/message/sort-keys.ts';
import { invalid, notFound } from '../../system/errors.ts';
import { createPause } from '../../system/slices.ts';
import type { Steps } from '../../system/steps.ts';
import type { OpenAccount } from '../account.ts';
import { SEEN } from '../flags.ts';
import { findFolderByName, findFolderBySpecialUse, listFolderRows } from '../folder-store.ts';
import { INBOX } from '../folders.ts';
import { HeldReferences } from '../imap/thread-found.ts';
import { findReferences, listThreadedBefore, type ThreadedRow } from '../message-scan-store.ts';
import { settleFlags } from '../settle-flags.ts';
import type { FolderRow } from '../tables.ts';
import { locate } from './find.ts';
import { getNamedFolder } from './folders.ts';
import { type MessageSummary, summarize } from './summaries.ts';

/** A thread. `id` is the id of its first message. Times are Unix milliseconds. */
export type ThreadSummary = {
  id: string;
  subject: string;
  /** Authors as `Name <address>` or `address`, each once, in the order in which they have written. */
  participants: string[];
  messageCount: number;
  unreadCount: number;
  /** Time of arrival of the newest message. */
  lastAt: number;
  preview: string;
};

type ThreadQuery = { folder: string; limit: number; after?: string | undefined };
type ThreadPage = { threads: ThreadSummary[]; nextCursor: string | null };
type WholeThread = ThreadSummary & { messages: MessageSummary[] };

/** Number of messages of each folder that are grouped. Ours: grouping 2 × 5,000 takes about 0.2 s, in slices. */
const MAX_THREADED = 5_000;
/** Number of messages that are read at once. */
const MESSAGES_PER_READ = 250;
/** Number of messages of a thread, the newest ones, whose authors are shown. */
const MAX_AUTHORS_READ = 20;
/** Maximum number of messages of one thread that are shown, the newest ones. */
const MAX_SHOWN_MESSAGES = 100;

/**
 * Returns a page of the threads of a folder, those with the newest messages first, among its newest `MAX_THREADED` messages.
 * @throws AppError not_found; validation_error for a malformed cursor
 */
export async function listThreads(
  account: OpenAccount,
  { folder: name, limit, after }: ThreadQuery,
): Promise<ThreadPage> {
  const folder = await getNamedFolder(account, name);
  const groups = await groupMessages(account, { folder, beforeUid: folder.uidNext });
  const position = after === undefined ? undefined : readCursor(after);
  const shown = groups
    .filter(({ rows }) => rows.some(({ folderId }) => folderId === folder.id))
    .sort(compareGroups)
    .filter((group) => position === undefined || compareGroups(position, group) < 0);
  const threads: ThreadSummary[] = [];
  for (const group of shown.slice(0, limit)) threads.push((await describe(account, group)).thread);
  const last = shown.length > limit ? shown[limit - 1] : undefined;
  return { threads, nextCursor: last ? `${last.lastAt}.${last.id}` : null };
}

/**
 * Returns the thread that a message belongs to, with its newest `MAX_SHOWN_MESSAGES` messages, the oldest first.
 * @throws AppError not_found
 */
export async function getThread(account: OpenAccount, { id }: { id: string }): Promise<WholeThread> {
  const { row, folder } = await locate(account, id);
  // Half of the messages that are grouped are newer than it, where there are as many.
  const beforeUid = Math.min(folder.uidNext, row.uid + MAX_THREADED / 2);
  const groups = await groupMessages(account, { folder, beforeUid });
  const group = groups.find(({ rows }) => rows.some(({ emailId }) => emailId === id));
  if (!group) throw notFound('Thread');
  const { thread, folders } = await describe(account, group);
  const messages = await summarize(account, folders, group.rows.slice(-MAX_SHOWN_MESSAGES));
  return { ...thread, messages };
}

/** The messages of a thread, the oldest first. */
type Group = { id: string; lastAt: number; rows: readonly ThreadedRow[] };
type Position = Pick<Group, 'id' | 'lastAt'>;

/** Compares the order of a list, the newest first. */
function compareGroups(one: Position, other: Position): number {
  return other.lastAt - one.lastAt || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

function readCursor(cursor: string): Position {
  const [, lastAt, id = ''] = /^(-?[0-9]{1,15})\.([!-~]{1,100})$/.exec(cursor) ?? [];
  if (lastAt !== undefined) return { lastAt: Number(lastAt), id };
  throw invalid('startingAfter', '`startingAfter` must be the `nextCursor` of a page of threads');
}

/** Groups messages of a folder before a UID, together with those that were sent, and those of INBOX. */
async function groupMessages(
  account: OpenAccount,
  { folder, beforeUid }: { folder: FolderRow; beforeUid: number },
): Promise<Group[]> {
  const { read } = account.db;
  const others = [await findFolderBySpecialUse(read, '\\Sent'), await findFolderByName(read, INBOX)];
  const rows = await readThreaded(account, folder, beforeUid);
  for (const other of others)
    if (other && other.id !== folder.id)
      for (const row of await readThreaded(account, other, other.uidNext)) rows.push(row);
  // A message that was copied to a second folder stands in a thread once.
  const unique = [...new Map(rows.toReversed().map((row) => [row.emailId, row])).values()];
  unique.sort((one, other) => one.internalAt - other.internalAt);
  const held = new HeldReferences();
  const pause = createPause(account.app.clock);
  const threadRows: ThreadRow[] = [];
  for (const row of unique) {
    const threadRow: ThreadRow = {
      number: threadRows.length + 1,
      internalAt: row.internalAt,
      keys: JSON.parse(row.sort) as SortKeys,
      thread: { messageId: row.messageId, references: [] },
    };
    held.add(threadRow, row.shortReferences ?? (await findReferences(read, row.contentId)) ?? '[]');
    threadRows.push(threadRow);
    await pause();
  }
  const threads = await runSteps(account, threadMessages('REFERENCES', threadRows));
  return threads.flatMap((thread) => groupOf(thread, unique) ?? []);
}

async function readThreaded(
  account: OpenAccount,
  folder: FolderRow,
  beforeUid: number,
): Promise<ThreadedRow[]> {
  await settleFlags(account, folder.id);
  const pause = createPause(account.app.clock);
  const rows: ThreadedRow[] = [];
  let before = beforeUid;
  while (rows.length < MAX_THREADED) {
    const limit = Math.min(MESSAGES_PER_READ, MAX_THREADED - rows.length);
    const some = await listThreadedBefore(account.db.read, { folderId: folder.id, beforeUid: before, limit });
    for (const row of some) rows.push(row);
    await pause();
    if (some.length < limit) break;
    before = some.at(-1)?.uid ?? before;
  }
  return rows;
}

async function runSteps<Result>({ app: { clock } }: OpenAccount, steps: Steps<Result>): Promise<Result> {
  const pause = createPause(clock);
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done) return next.value;
    await pause();
  }
}

/** Returns the messages of a thread; undefined for one without messages. Threads may be deep, so nothing recurses. */
function groupOf(thread: Thread, rows: readonly ThreadedRow[]): Group | undefined {
  const numbers: number[] = [];
  const open = [thread];
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.number !== undefined) numbers.push(next.number);
    for (const child of next.children) open.push(child);
  }
  const found = numbers.sort((one, other) => one - other).map((number) => rows[number - 1] as ThreadedRow);
  const [first] = found;
  const last = found.at(-1);
  return first && last && { id: first.emailId, lastAt: last.internalAt, rows: found };
}

type Described = { thread: ThreadSummary; folders: ReadonlyMap<number, FolderRow> };

async function describe(account: OpenAccount, { id, lastAt, rows }: Group): Promise<Described> {
  const folders = new Map((await listFolderRows(account.db.read)).map((folder) => [folder.id, folder]));
  const read = await summarize(account, folders, [
    ...rows.slice(0, 1),
    ...rows.slice(Math.max(1, rows.length - MAX_AUTHORS_READ)),
  ]);
  const thread = {
    id,
    subject: read[0]?.subject ?? '',
    participants: [...new Set(read.flatMap(({ from }) => from.slice(0, 1)))],
    messageCount: rows.length,
    unreadCount: rows.filter(({ flags }) => (flags & SEEN) === 0).length,
    lastAt,
    preview: read.at(-1)?.preview ?? '',
  };
  return { thread, folders };
}
