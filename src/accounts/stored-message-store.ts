/** Reads messages together with what is stored of their contents, as FETCH and SEARCH need them. Nothing is written here. */
import { sql } from 'kysely';
import { constant, type Param, statement } from '../db/statement.ts';
import type { UidRange } from './message-store.ts';
import type { AccountTx } from './store.ts';
import type { ContentRow, MessageRow } from './tables.ts';

/** Maximum size of `shortReferences`. Those of nearly all messages are shorter, and strangers can send some of a megabyte. */
const MAX_SHORT_REFERENCES_OCTETS = 8 * 1024;

/** Columns of messages that a reader can ask for. Each costs about as much as the search for its row, so most readers ask for few. */
const OF_MESSAGES = {
  emailId: 'message."emailId"',
  internalAt: 'message."internalAt"',
  internalZoneMinutes: 'message."internalZoneMinutes"',
  savedAt: 'message."savedAt"',
  sizeBytes: 'message."sizeBytes"',
  prefix: `nullif(message.prefix, x'') AS prefix`,
} as const;

/** Columns of contents. The texts for the wire are those for a client that reads UTF-8 or 7 bits. */
const OF_CONTENTS = {
  envelope: 'content.envelope',
  envelopeUtf8: 'coalesce(content."envelopeUtf8", content.envelope) AS envelope',
  body: 'content.body',
  bodyUtf8: 'coalesce(content."bodyUtf8", content.body) AS body',
  bodyStructure: 'content."bodyStructure"',
  bodyStructureUtf8: 'coalesce(content."bodyStructureUtf8", content."bodyStructure") AS "bodyStructure"',
  root: 'content.root',
  sort: 'content.sort',
  preview: 'content.preview',
  messageId: 'content."messageId"',
  references: 'content."references"',
  shortReferences: `CASE WHEN octet_length(content."references") <= ${MAX_SHORT_REFERENCES_OCTETS} THEN content."references" END AS "shortReferences"`,
  crc32: 'content.crc32',
  header: 'bytes.header',
  headerBytes: 'length(bytes.header) AS "headerBytes"',
  // One value for each message costs half as much as two.
  octets: 'CAST(bytes.header || bytes.body AS BLOB) AS octets',
} as const;

const COLUMNS = { ...OF_MESSAGES, ...OF_CONTENTS };

export type Column = keyof typeof COLUMNS;

/** Facts of a message that never change. `prefix` may be null when it is empty. */
type Facts = Pick<MessageRow, 'uid' | 'contentId' | Exclude<keyof typeof OF_MESSAGES, 'prefix'>> & {
  prefix: MessageRow['prefix'] | null;
};

type Content = Pick<
  ContentRow,
  'preview' | 'envelope' | 'body' | 'bodyStructure' | 'root' | 'sort' | 'messageId' | 'references' | 'crc32'
> & {
  /** Header without the prefix of the recipient, with the empty line at its end. */
  header: Buffer;
  headerBytes: number;
  /** References of a message that has few; null when they are long, and `references` has them. */
  shortReferences: string | null;
  /** The whole content without the prefix; null when a file holds it. */
  octets: Buffer | null;
};

/** A message with its UID, its content, and all columns. */
export type StoredMessage = Facts & Content;

/** A message with the columns that were asked for. */
export type Stored<Asked extends Column> = Pick<StoredMessage, 'uid' | 'contentId' | NameOf<Asked>>;

type NameOf<Asked extends Column> = Asked extends `${infer Name}Utf8`
  ? Name & keyof Content
  : Asked & keyof StoredMessage;

/** Statements by the columns that they read. */
const ranges = new Map<string, ReturnType<typeof rangeStatement>>();
const contents = new Map<string, ReturnType<typeof contentStatement>>();

/** Returns the messages of a range with these columns, by UID. */
export function listStored<Asked extends Column>(
  tx: AccountTx,
  range: UidRange,
  columns: readonly Asked[],
): Promise<Stored<Asked>[]> {
  const key = columns.join();
  const known = ranges.get(key) ?? rangeStatement(columns);
  ranges.set(key, known);
  return known.all(tx, range);
}

/** The beginning of the header of a message, without the prefix of the recipient. It is empty when the content is gone. */
export type HeaderStart = Pick<MessageRow, 'internalAt'> & { header: Buffer };

type Newest = { folderId: number; limit: number; maxOctets: number };

const newestHeaders = statement((db: AccountTx, param: Param<Newest>) =>
  db
    .selectFrom('messages')
    .leftJoin('contentBytes', 'contentBytes.contentId', 'messages.contentId')
    .select([
      'messages.internalAt',
      sql<Buffer>`coalesce(substr("contentBytes".header, 1, ${param('maxOctets')}), x'')`.as('header'),
    ])
    .where('messages.folderId', '=', param('folderId'))
    .orderBy('messages.uid', 'desc')
    .limit(param('limit')),
);

/** Returns the first octets of the headers of the newest messages of a folder, the newest first. */
export function listNewestHeaders(tx: AccountTx, newest: Newest): Promise<HeaderStart[]> {
  return newestHeaders.all(tx, newest);
}

/** Returns a message that was removed from its folder, with these columns; undefined when its content is gone too. */
export async function findStored(
  tx: AccountTx,
  message: MessageRow,
  columns: readonly Column[],
): Promise<StoredMessage | undefined> {
  const key = columns.join();
  const known = contents.get(key) ?? contentStatement(columns);
  contents.set(key, known);
  const content = await known.first(tx, { contentId: message.contentId });
  return content && { ...message, ...content };
}

function rangeStatement(columns: readonly Column[]) {
  return statement((db: AccountTx, param: Param<UidRange>) => ({
    compile: () =>
      sql<StoredMessage>`
        SELECT message.uid, message."contentId"${listOf(columns)}
          FROM messages AS message${joinOf(columns, 'message."contentId"')}
         WHERE message."folderId" = ${constant(param('folderId'))}
           AND message.uid >= ${constant(param('uidFrom'))} AND message.uid <= ${constant(param('uidTo'))}
         ORDER BY message.uid`.compile(db),
  }));
}

function contentStatement(all: readonly Column[]) {
  const columns = all.filter((column) => !isOfMessages(column));
  return statement((db: AccountTx, param: Param<{ contentId: number }>) => ({
    compile: () =>
      sql<Content>`
        SELECT content.id AS "contentId"${listOf(columns)}
          FROM contents AS content${joinOf(columns.filter(isOfBytes), 'content.id')}
         WHERE content.id = ${param('contentId')}`.compile(db),
  }));
}

function listOf(columns: readonly Column[]) {
  return sql.raw(columns.map((column) => `, ${COLUMNS[column]}`).join(''));
}

function joinOf(columns: readonly Column[], contentId: string) {
  const joins = [
    ...(columns.some((column) => !isOfBytes(column) && !isOfMessages(column))
      ? [`contents AS content ON content.id = ${contentId}`]
      : []),
    ...(columns.some(isOfBytes) ? [`contentBytes AS bytes ON bytes."contentId" = ${contentId}`] : []),
  ];
  return sql.raw(joins.map((join) => ` LEFT JOIN ${join}`).join(''));
}

function isOfMessages(column: Column): boolean {
  return column in OF_MESSAGES;
}

function isOfBytes(column: Column): boolean {
  return column === 'header' || column === 'headerBytes' || column === 'octets';
}
