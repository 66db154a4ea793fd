/** Lists messages of a folder for programs, the newest first, with filters. A request examines a bounded number of messages. */
import { foldText } from '../../mail/message/fold.ts';
import type { SearchField } from '../../mail/message/search-fields.ts';
import { invalid } from '../../system/errors.ts';
import { nextSlice } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import { readHeader } from '../content.ts';
import { FLAGGED, SEEN } from '../flags.ts';
import { HeaderTexts } from '../imap/search-match.ts';
import { listMessagesBefore, type ScannedRow } from '../message-scan-store.ts';
import { searchField, searchText } from '../search.ts';
import { settleFlags } from '../settle-flags.ts';
import { getNamedFolder } from './folders.ts';
import { type MessageSummary, summarize } from './summaries.ts';

/** Filters of a list. A message must match all that are given. Texts are found in any case, anywhere in the field. */
type MessageFilter = {
  isUnread?: boolean | undefined;
  isFlagged?: boolean | undefined;
  from?: string | undefined;
  to?: string | undefined;
  subject?: string | undefined;
  /** Words of the message: in its header or in its text. */
  text?: string | undefined;
  /** Time of arrival in Unix milliseconds: from `since` on, and earlier than `before`. */
  since?: number | undefined;
  before?: number | undefined;
};

type MessageQuery = MessageFilter & {
  /** Role, id or name of the folder. */
  folder: string;
  limit: number;
  /** Cursor of an earlier page. */
  after?: string | undefined;
};

/** A page. It may have fewer messages than were asked for, and none, although more follow. */
type MessagePage = { messages: MessageSummary[]; nextCursor: string | null };

/** Number of messages that are examined before other work of the thread runs. */
const MESSAGES_PER_SLICE = 500;
/** Maximum number of messages that one request examines. Ours: 10,000 take about 0.1 s. */
const MAX_EXAMINED = 10_000;

/**
 * Returns a page of messages.
 * @throws AppError not_found for the folder; validation_error for a cursor that is not of this folder
 */
export async function listMessages(
  account: OpenAccount,
  { folder: name, limit, after, ...filter }: MessageQuery,
): Promise<MessagePage> {
  const folder = await getNamedFolder(account, name);
  await settleFlags(account, folder.id);
  const found: ScannedRow[] = [];
  let beforeUid = after === undefined ? folder.uidNext : readCursor(after, folder.uidValidity);
  let isEnd = false;
  for (let examined = 0; !isEnd && found.length <= limit && examined < MAX_EXAMINED; ) {
    const rows = await listMessagesBefore(account.db.read, {
      folderId: folder.id,
      beforeUid,
      limit: MESSAGES_PER_SLICE,
    });
    for (const row of await matching(account, rows, filter)) found.push(row);
    isEnd = rows.length < MESSAGES_PER_SLICE;
    beforeUid = rows.at(-1)?.uid ?? beforeUid;
    examined += rows.length;
    await nextSlice();
  }
  const page = found.slice(0, limit);
  // Where the next page begins: behind the last message that is shown, or else behind the last one that was examined.
  const next = found.length > limit ? page.at(-1)?.uid : isEnd ? undefined : beforeUid;
  return {
    messages: await summarize(account, new Map([[folder.id, folder]]), page),
    nextCursor: next === undefined ? null : `${folder.uidValidity}.${next}`,
  };
}

function readCursor(cursor: string, uidValidity: number): number {
  const [, validity, uid] = /^([0-9]{1,10})\.([0-9]{1,10})$/.exec(cursor) ?? [];
  if (Number(validity) === uidValidity) return Number(uid);
  throw invalid('startingAfter', '`startingAfter` must be the `nextCursor` of a page of this folder');
}

const FIELDS = ['from', 'to', 'subject'] as const satisfies readonly SearchField[];

/** Returns the messages that match, in their order. What costs least is compared first. */
async function matching(
  account: OpenAccount,
  rows: readonly ScannedRow[],
  filter: MessageFilter,
): Promise<readonly ScannedRow[]> {
  let left = rows.filter((row) => matchesFacts(row, filter));
  for (const field of FIELDS) {
    const sought = filter[field];
    if (sought !== undefined) left = await matchingField(account, left, { field, needle: foldText(sought) });
  }
  const { text } = filter;
  if (text === undefined || left.length === 0) return left;
  const contentIds = left.map(({ contentId }) => contentId);
  const found = await searchText(account, { contentIds, needle: foldText(text), where: 'text' });
  return left.filter(({ contentId }) => found.has(contentId));
}

function matchesFacts(
  { flags, internalAt }: ScannedRow,
  { isUnread, isFlagged, since, before }: MessageFilter,
): boolean {
  if (isUnread !== undefined && isUnread !== ((flags & SEEN) === 0)) return false;
  if (isFlagged !== undefined && isFlagged !== ((flags & FLAGGED) !== 0)) return false;
  return internalAt >= (since ?? internalAt) && (before === undefined || internalAt < before);
}

async function matchingField(
  account: OpenAccount,
  rows: readonly ScannedRow[],
  sought: { field: SearchField; needle: string },
): Promise<ScannedRow[]> {
  if (rows.length === 0) return [];
  const contentIds = rows.map(({ contentId }) => contentId);
  const { matching: found, unsure } = await searchField(account, contentIds, sought);
  const matches: ScannedRow[] = [];
  for (const row of rows) {
    const isMatch = unsure.has(row.contentId)
      ? await isInHeader(account, row.contentId, sought)
      : found.has(row.contentId);
    if (isMatch) matches.push(row);
  }
  return matches;
}

/** Looks in the header itself, for a field that is too long for the texts that are stored for searches. */
async function isInHeader(
  account: OpenAccount,
  contentId: number,
  { field, needle }: { field: SearchField; needle: string },
): Promise<boolean> {
  const texts = new HeaderTexts(await readHeader(account, contentId));
  await nextSlice();
  return texts.of(field).some((value) => value.includes(needle));
}
