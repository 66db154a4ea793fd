/** Reads the messages of a folder of the server that mail is imported from. */

import type { FetchMessageObject } from 'imapflow';
import { encodeMailboxName } from '../../mail/imap/encode/strings.ts';
import { type ExchangeLimits, MAX_FOLDER_MESSAGES, type SourceConnection } from './connection.ts';
import { CommandRefused, SourceError } from './source-error.ts';

/** A message as the server describes it. */
export type SourceMessage = {
  uid: number;
  /** Size that the server reports, which is not always right. */
  sizeBytes: number;
  flags: readonly string[];
  /** INTERNALDATE in Unix milliseconds; undefined when the server reports none. */
  receivedAt: number | undefined;
  /** Id that the message has in all folders, on a server with labels. */
  labelledId: string | undefined;
};

/** Maximum size of a message that is fetched with others. A larger one is fetched alone, in pieces. */
export const MAX_SMALL_BYTES = 1024 * 1024;
/** Size of the pieces of a large message. */
const PIECE_BYTES = 1024 * 1024;

const OPEN_LIMITS: ExchangeLimits = { maxBytes: 1024 * 1024, timeoutMs: 60_000 };
/** The UIDs of all messages of the largest folder. */
const SEARCH_LIMITS: ExchangeLimits = { maxBytes: 6 * 1024 * 1024, timeoutMs: 300_000 };
/** Octets that describe one message: some dozen flags and labels. */
const DESCRIPTION_BYTES = 4 * 1024;
const DESCRIPTION_TIMEOUT_MS = 120_000;
const FETCH_TIMEOUT_MS = 180_000;
/** The pieces of a message also have a maximum time together (import-folder.ts). */
const PIECE_TIMEOUT_MS = 30_000;
/** Octets around the content of a message in its response, and around a piece of one, with what else a server reports meanwhile. */
const AROUND_MESSAGE_BYTES = 1024;
const AROUND_PIECE_BYTES = 64 * 1024;
/** Further octets of a group of messages: some servers only estimate their sizes. */
const ESTIMATE_BYTES = 8 * 1024 * 1024;

/**
 * Opens a folder for reading alone, and returns its UIDVALIDITY.
 * @throws CommandRefused, SourceError
 */
export async function openSourceFolder(connection: SourceConnection, path: string): Promise<string> {
  const opened = await connection.exchange(OPEN_LIMITS, (commands) =>
    commands.mailboxOpen(path, { readOnly: true }),
  );
  if (opened.exists > MAX_FOLDER_MESSAGES)
    throw new CommandRefused(`The folder has more than ${MAX_FOLDER_MESSAGES} messages`);
  if (!opened.uidValidity) throw new CommandRefused('The folder has no UIDVALIDITY');
  return String(opened.uidValidity);
}

/**
 * Returns the UIDs of the folder that is open, the oldest first.
 * @throws CommandRefused, SourceError
 */
export async function listUids(connection: SourceConnection): Promise<number[]> {
  const found = await connection.exchange(SEARCH_LIMITS, (client) =>
    client.search({ all: true }, { uid: true }),
  );
  if (!Array.isArray(found)) throw new CommandRefused('The messages cannot be listed');
  // The library has sorted them, each once.
  return found;
}

/**
 * Describes messages by UID, the oldest first. Those that were removed meanwhile are left out.
 * @throws CommandRefused, SourceError
 */
export async function describeMessages(
  connection: SourceConnection,
  uids: readonly number[],
): Promise<SourceMessage[]> {
  const { hasLabels } = connection;
  const query = { uid: true, size: true, flags: true, internalDate: true, labels: hasLabels };
  const limits = { maxBytes: uids.length * DESCRIPTION_BYTES, timeoutMs: DESCRIPTION_TIMEOUT_MS };
  const described = new Map<number, SourceMessage>();
  for (const message of await fetchAll(connection, { uids, query, limits })) {
    const { uid, size = 0, flags = [], internalDate, labels = [], emailId } = message;
    // Changes of flags, which the server sends unasked, have no size.
    if (message.size === undefined) continue;
    described.set(uid, {
      uid,
      sizeBytes: size,
      flags: keptFlags([...flags], [...labels]),
      receivedAt: internalDate instanceof Date ? internalDate.getTime() : undefined,
      labelledId: hasLabels ? emailId : undefined,
    });
  }
  return uids.flatMap((uid) => described.get(uid) ?? []);
}

/**
 * Fetches the contents of small messages. Those that the server does not give are left out.
 * @throws CommandRefused, SourceError
 */
export async function fetchContents(
  connection: SourceConnection,
  messages: readonly Pick<SourceMessage, 'uid' | 'sizeBytes'>[],
): Promise<ReadonlyMap<number, Buffer>> {
  const uids = messages.map(({ uid }) => uid);
  const sizeBytes = messages.reduce((sum, message) => sum + message.sizeBytes + AROUND_MESSAGE_BYTES, 0);
  const limits = { maxBytes: sizeBytes + ESTIMATE_BYTES, timeoutMs: FETCH_TIMEOUT_MS };
  const contents = new Map<number, Buffer>();
  // No message is empty: some servers answer so for a message that they have lost.
  for (const { uid, source } of await fetchAll(connection, {
    uids,
    query: { uid: true, source: true },
    limits,
  }))
    if (source && source.length > 0) contents.set(uid, source);
  return contents;
}

/**
 * Yields the content of a large message in pieces, nothing when the server does not give it. A piece that is shorter than what was asked
 * for ends the message, since some servers only estimate its size. A piece that is missing before the end does not: another client may have
 * expunged the message meanwhile.
 * @throws CommandRefused when the server gives only a part of the message; SourceError
 */
export async function* fetchPieces(
  connection: SourceConnection,
  { uid, sizeBytes }: Pick<SourceMessage, 'uid' | 'sizeBytes'>,
): AsyncGenerator<Buffer> {
  const limits = { maxBytes: PIECE_BYTES + AROUND_PIECE_BYTES, timeoutMs: PIECE_TIMEOUT_MS };
  for (let start = 0; ; start += PIECE_BYTES) {
    const message = await connection.exchange(limits, (client) =>
      client.fetchOne(String(uid), { source: { start, maxLength: PIECE_BYTES } }, { uid: true }),
    );
    const piece = message ? message.source : undefined;
    if (!piece && start > 0 && start < sizeBytes)
      throw new CommandRefused('The server gives only a part of the message');
    if (!piece || piece.length === 0) return;
    if (piece.length > PIECE_BYTES)
      throw new SourceError('source_unavailable', 'The server sends more than it was asked for');
    yield piece;
    if (piece.length < PIECE_BYTES) return;
  }
}

type Fetch = { uids: readonly number[]; query: object; limits: ExchangeLimits };

/** Returns what the server sends, which may be about other messages than those that were asked for. */
async function fetchAll(
  connection: SourceConnection,
  { uids, query, limits }: Fetch,
): Promise<FetchMessageObject[]> {
  return connection.exchange(limits, async (client) => {
    const messages: FetchMessageObject[] = [];
    for await (const message of client.fetch(formatUids(uids), query, { uid: true })) messages.push(message);
    return messages;
  });
}

/** Returns UIDs in ascending order as a sequence set (RFC 9051 section 9), with ranges where they follow each other. */
export function formatUids(uids: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const uid of uids) {
    const range = ranges.at(-1);
    if (range && uid === range.last + 1) range.last = uid;
    else ranges.push({ first: uid, last: uid });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}:${last}`)).join(',');
}

/** Maximum number of keywords of a message. */
const MAX_KEYWORDS = 50;
/** Maximum length of a keyword. */
const MAX_KEYWORD_CHARACTERS = 100;
/** Matches a keyword: an atom of RFC 9051 section 9. */
const KEYWORD = /^[!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|}~]+$/;
const NOT_IN_KEYWORD = /[^!#$&'+,\-./0-9:;<=>?@A-Z^_`a-z|}~]/g;

/**
 * Returns the flags and keywords that can be kept. Labels, which stand for further folders, become keywords; those with a backslash are
 * the folders with a special use.
 */
export function keptFlags(flags: readonly string[], labels: readonly string[] = []): string[] {
  const system = flags.filter((flag) => flag.startsWith('\\') && flag !== '\\Recent');
  const keywords = [
    ...flags.filter((flag) => !flag.startsWith('\\')),
    ...labels
      .filter((label) => !label.startsWith('\\'))
      .map((label) => encodeMailboxName(label.toWellFormed(), '7bit').replace(NOT_IN_KEYWORD, '_')),
  ];
  const valid = keywords.filter(
    (keyword) => keyword.length <= MAX_KEYWORD_CHARACTERS && KEYWORD.test(keyword),
  );
  return [...system, ...valid.slice(0, MAX_KEYWORDS)];
}
