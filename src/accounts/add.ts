/** Adds messages to a folder, all or none. */
import { defineWrite } from '../db/operation.ts';
import type { InternalDate } from '../mail/imap/session.ts';
import type { SearchText } from '../mail/message/search-text.ts';
import type { OpenAccount } from './account.ts';
import type { AddedMessage } from './changes.ts';
import { discard, type PreparedContent } from './content.ts';
import { insertContent, readReleasedBytes } from './content-store.ts';
import { countsOf } from './counts.ts';
import { emailIdOf } from './email-id.ts';
import { countAdded, findFolderByName } from './folder-store.ts';
import { internKeywords, internWithinLimit, NO_KEYWORDS } from './keyword-store.ts';
import { insertMessage } from './message-store.ts';
import { type AccountTx, findAccountRow } from './store.ts';

export type NewMessage = {
  content: PreparedContent;
  /** Bits of system flags, and sorted keywords (`readFlags`). */
  flags: number;
  keywords: readonly string[];
  internalDate: InternalDate;
  /** Header fields in front of the content, each with its CRLF. Empty for most messages. */
  prefix?: Uint8Array;
  /** EMAILID that the caller has chosen: `M` and random text. No other message has it. By default it names the content. */
  emailId?: string;
};

export type Addition = {
  /** Name of the folder. */
  folder: string;
  messages: readonly NewMessage[];
  /** Maximum size of all messages of the account. Without it there is none, as for mail that was accepted. */
  quotaBytes?: number;
  /** Adds a message without its keywords when the account has no space for them, instead of refusing all messages. */
  leavesKeywordsOut?: boolean;
};

/** `uids` are in the order of the messages. `contentIds` name the contents. */
type Added = {
  folderId: number;
  uidValidity: number;
  modseq: number;
  uids: readonly number[];
  contentIds: readonly number[];
};

/** Reasons for which nothing was added: there is no such folder, or the account is full. */
type NotAdded = { refused: 'folder' | 'quota' };

export type Committed = (Added & { messages: AddedMessage[]; texts: SearchText[] }) | NotAdded;

const insertMessages = defineWrite(
  'account.addMessages',
  (tx: AccountTx, input: Addition & { now: number }): Promise<Committed> => addInWrite(tx, input),
  {
    crashPoints: {
      beforeCommit: 'mailbox-append-before-commit',
      afterCommit: 'mailbox-append-after-commit',
    },
  },
);

/** Adds messages inside a write, and returns what `publishAdded` tells after the commit. */
export async function addInWrite(
  tx: AccountTx,
  { folder: name, messages, quotaBytes, leavesKeywordsOut = false, now }: Addition & { now: number },
): Promise<Committed> {
  const folder = await findFolderByName(tx, name);
  if (!folder) return { refused: 'folder' };
  const counts = countsOf(messages.map((message) => ({ flags: message.flags, sizeBytes: sizeOf(message) })));
  if (quotaBytes !== undefined && !(await isWithinQuota(tx, counts.sizeBytes, quotaBytes)))
    return { refused: 'quota' };
  const { id: folderId, uidValidity } = folder;
  const { modseq, firstUid } = await countAdded(tx, { folderId, ...counts });
  const contentIds: number[] = [];
  const summaries: AddedMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const { content, flags, keywords, internalDate, prefix = NO_PREFIX, emailId } = message;
    const uid = firstUid + index;
    const contentId = await insertContent(tx, content.row, content);
    const keywordSetId = leavesKeywordsOut
      ? ((await internWithinLimit(tx, keywords)) ?? NO_KEYWORDS)
      : await internKeywords(tx, keywords);
    await insertMessage(tx, {
      folderId,
      uid,
      emailId: emailId ?? emailIdOf(contentId),
      contentId,
      modseq,
      createdModseq: modseq,
      flags,
      keywordSetId,
      internalAt: internalDate.atMs,
      internalZoneMinutes: internalDate.zoneMinutes,
      savedAt: now,
      sizeBytes: content.row.sizeBytes + prefix.length,
      prefix,
    });
    contentIds.push(contentId);
    summaries.push({ uid, contentId, flags, keywordSetId, modseq });
  }
  const uids = summaries.map(({ uid }) => uid);
  const texts = messages.map(({ content }) => content.search);
  return { folderId, uidValidity, modseq, uids, contentIds, messages: summaries, texts };
}

const NO_PREFIX = new Uint8Array();

function sizeOf({ content, prefix = NO_PREFIX }: NewMessage): number {
  return content.row.sizeBytes + prefix.length;
}

/**
 * Removed messages stay on disk for some minutes, and as long as a session shows them. They may take as much as the quota once more,
 * so that nobody fills the disk by adding and removing messages.
 */
async function isWithinQuota(tx: AccountTx, sizeBytes: number, quotaBytes: number): Promise<boolean> {
  const neededBytes = ((await findAccountRow(tx))?.usedBytes ?? 0) + sizeBytes;
  if (neededBytes > quotaBytes) return false;
  return neededBytes + (await readReleasedBytes(tx)) <= 2 * quotaBytes;
}

/** Tells the sessions about messages that were added, and has their texts stored for searches. */
export function publishAdded(account: OpenAccount, committed: Committed): void {
  if ('refused' in committed) return;
  const { folderId, modseq, messages, contentIds, texts } = committed;
  for (const [index, text] of texts.entries()) account.search.add(contentIds[index] as number, text);
  if (messages.length > 0) account.changes.publish({ kind: 'added', folderId, modseq, messages });
}

/**
 * Adds messages to a folder, in one commit. The contents are used up: they are stored, or discarded when nothing is added.
 * @throws AppError unavailable when the disk is full; DamagedDatabaseError
 */
export async function addMessages(account: OpenAccount, addition: Addition): Promise<Added | NotAdded> {
  const now = account.app.clock.now();
  return settle(
    account,
    addition.messages.map(({ content }) => content),
    () =>
      account.db.commit(insertMessages, { ...addition, now }, (committed) =>
        publishAdded(account, committed),
      ),
  );
}

/** Runs a write that adds contents, and afterwards discards those that were not added. */
export async function settle<Result extends object>(
  account: OpenAccount,
  contents: readonly PreparedContent[],
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } finally {
    // A file that a committed row names stays.
    for (const content of contents) await discard(account, content);
  }
}
