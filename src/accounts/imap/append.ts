/** APPEND over an account (RFC 9051 section 6.3.12, RFC 3502, RFC 4469). */
import { MAX_HEADER_BYTES } from '../../mail/header-limits.ts';
import { formatNumbers } from '../../mail/imap/sequence-set.ts';
import type {
  Account,
  AppendCatenation,
  AppendLiteral,
  AppendMessage,
  Refusal,
} from '../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import { addMessages, type NewMessage } from '../add.ts';
import { discard, INLINE_BYTES, type PreparedContent, prepareContent } from '../content.ts';
import { readFlags } from '../flags.ts';
import { findFolderByName } from '../folder-store.ts';
import { findAccountRow } from '../store.ts';
import { canonicalContent } from './append-content.ts';
import { type Limit, prepareCatenated } from './catenate.ts';
import { missingTarget, overQuota } from './responses.ts';

/** Maximum number of messages of one command, and of octets before further messages are refused. */
const MAX_MESSAGES = 500;
const MAX_OCTETS = 64 * 1024 * 1024;

export type AppendAnswer = Awaited<ReturnType<Account['append']>>;
export type Append = {
  mailbox: string;
  messages: AsyncIterable<AppendMessage>;
  quotaBytes: number | null;
  /** Folder that the session has selected. */
  selectedId: number | undefined;
};

/** Adds all messages or none. The client is not asked for a message when it is clear before that it will be refused. */
export async function appendMessages(account: OpenAccount, append: Append): Promise<AppendAnswer> {
  return await readAll(account, append, (messages) => addAll(account, append, messages));
}

/** Reads all messages, and has them added, which uses them up. They are discarded when one of them is refused. */
export async function readAll(
  account: OpenAccount,
  append: Append,
  add: (messages: readonly NewMessage[]) => Promise<AppendAnswer>,
): Promise<AppendAnswer> {
  const prepared: NewMessage[] = [];
  const discardAll = async (): Promise<void> => {
    for (const { content } of prepared) await discard(account, content);
  };
  try {
    const refusal = await readMessages(account, append, prepared);
    if (refusal) await discardAll();
    if (refusal) return refusal;
  } catch (error) {
    await discardAll();
    throw error;
  }
  return await add(prepared);
}

/** The messages are used up, whether they are added or not. */
async function addAll(
  account: OpenAccount,
  { mailbox, quotaBytes }: Append,
  messages: readonly NewMessage[],
): Promise<AppendAnswer> {
  const quota = quotaBytes === null ? {} : { quotaBytes };
  const added = await addMessages(account, { folder: mailbox, messages, ...quota });
  return 'refused' in added ? refusalOf(added) : describeAdded(added);
}

/** Returns the refusal of messages that were not added. */
export function refusalOf({ refused }: { refused: 'folder' | 'quota' }): Refusal {
  return refused === 'quota' ? overQuota() : missingTarget();
}

/** Returns what the client is told of messages that were added. */
export function describeAdded({ uidValidity, uids }: { uidValidity: number; uids: readonly number[] }): {
  uidValidity: number;
  uids: string;
} {
  return { uidValidity, uids: formatNumbers(uids) };
}

/** Reads the messages into `prepared`. */
async function readMessages(
  account: OpenAccount,
  append: Append,
  prepared: NewMessage[],
): Promise<Refusal | undefined> {
  let octets = 0;
  for await (const message of append.messages) {
    const { flags, internalDate } = message;
    if (prepared.length === MAX_MESSAGES) return tooMany();
    const content = message.isCatenated
      ? await prepareParts(account, append, { message, octets })
      : await prepareLiteral(account, append, { message, octets });
    if ('refused' in content) return content;
    octets += content.row.sizeBytes;
    prepared.push({
      content,
      ...readFlags(flags),
      internalDate: internalDate ?? { atMs: account.app.clock.now(), zoneMinutes: 0 },
    });
    if (content.header.length > MAX_HEADER_BYTES)
      return tooBig(`A header has at most ${MAX_HEADER_BYTES} octets`);
  }
  return undefined;
}

/** The next message, and the octets of those before it. */
type Next<Message> = { message: Message; octets: number };

async function prepareLiteral(
  account: OpenAccount,
  append: Append,
  { message, octets }: Next<AppendLiteral>,
): Promise<PreparedContent | Refusal> {
  const sizeBytes = octets + message.sizeBytes;
  const refusal = isCheap(message) ? undefined : await refuseUnread(account, append, sizeBytes);
  if (refusal) return refusal;
  if (octets > 0 && sizeBytes > MAX_OCTETS) return tooMany();
  return await prepareContent(account, canonicalContent(message, { accountId: account.id }));
}

/** Prepares a message whose size is not known before. Its limits are compared while it is read. */
async function prepareParts(
  account: OpenAccount,
  append: Append,
  { message, octets }: Next<AppendCatenation>,
): Promise<PreparedContent | Refusal> {
  const refusal = await refuseUnread(account, append, octets);
  if (refusal) return refusal;
  const { quotaBytes, selectedId } = append;
  const { sizeBytes } = message;
  const usedBytes = (await findAccountRow(account.db.read))?.usedBytes ?? 0;
  const limits: Limit[] = [
    { octets: sizeBytes, refusal: tooBig(`A message has at most ${sizeBytes} octets`) },
    ...(quotaBytes === null ? [] : [{ octets: quotaBytes - usedBytes - octets, refusal: overQuota() }]),
    ...(octets === 0 ? [] : [{ octets: MAX_OCTETS - octets, refusal: tooMany() }]),
  ];
  return await prepareCatenated({ account, selectedId, limits }, message);
}

/** Returns true for a message that comes anyway and needs no file. The write that adds it refuses it soon enough. */
function isCheap({ isSynchronizing, sizeBytes }: AppendMessage): boolean {
  return !isSynchronizing && sizeBytes <= INLINE_BYTES;
}

/** Returns the refusal of messages of this size, which need not be read then. */
async function refuseUnread(
  account: OpenAccount,
  { mailbox, quotaBytes }: Append,
  sizeBytes: number,
): Promise<Refusal | undefined> {
  const { read } = account.db;
  if (!(await findFolderByName(read, mailbox))) return missingTarget();
  const usedBytes = (await findAccountRow(read))?.usedBytes ?? 0;
  return quotaBytes !== null && usedBytes + sizeBytes > quotaBytes ? overQuota() : undefined;
}

function tooBig(text: string): Refusal {
  return { refused: 'NO', code: 'TOOBIG', text };
}

function tooMany(): Refusal {
  return { refused: 'NO', code: 'LIMIT', text: 'The command has too many messages' };
}
