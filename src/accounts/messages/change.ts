/** Changes messages for programs: marks and moves, drafts, and what was sent. Sessions of mail programs are told of each change. */
import { defineWrite } from '../../db/operation.ts';
import { findField, readHeaderFields, readMessageIds } from '../../mail/message/parse/header-fields.ts';
import { AppError } from '../../system/errors.ts';
import type { OpenAccount } from '../account.ts';
import { addInWrite, type Committed, publishAdded, settle } from '../add.ts';
import { changeFlags, type FlagChange } from '../change-flags.ts';
import { prepareContent, readHeader } from '../content.ts';
import { copyOrMove } from '../copy-messages.ts';
import { DRAFT, readFlags } from '../flags.ts';
import { findFolderBySpecialUse } from '../folder-store.ts';
import { findByEmailId, listByMessageId } from '../message-scan-store.ts';
import type { AccountTx } from '../store.ts';
import { getMessage, locate } from './find.ts';
import { getNamedFolder } from './folders.ts';
import type { MessageSummary } from './summaries.ts';

type MessageChange = {
  id: string;
  isUnread?: boolean | undefined;
  isFlagged?: boolean | undefined;
  /** Role, id or name of the folder that gets the message. */
  folder?: string | undefined;
};

/**
 * Sets marks of a message, and moves it. A change that was made before changes nothing.
 * @throws AppError not_found for the message or the folder
 */
export async function updateMessage(
  account: OpenAccount,
  { id, isUnread, isFlagged, folder }: MessageChange,
): Promise<MessageSummary> {
  const to = folder === undefined ? undefined : await getNamedFolder(account, folder);
  if (isUnread !== undefined) await setFlag(account, id, { name: '\\Seen', isSet: !isUnread });
  if (isFlagged !== undefined) await setFlag(account, id, { name: '\\Flagged', isSet: isFlagged });
  if (to) await moveTo(account, id, to.id);
  return getMessage(account, { id });
}

type Mark = { name: string; isSet: boolean };

async function setFlag(account: OpenAccount, id: string, mark: Mark): Promise<void> {
  const { folderId, uid } = (await locate(account, id)).row;
  await commitFlags(account, { folderId, uid, ...mark });
}

type OneFlag = Mark & { folderId: number; uid: number };

async function commitFlags(account: OpenAccount, { folderId, uid, name, isSet }: OneFlag): Promise<void> {
  const change: FlagChange = {
    folderId,
    ranges: [{ uidFrom: uid, uidTo: uid }],
    action: isSet ? 'add' : 'remove',
    names: [name],
    unchangedSince: undefined,
  };
  await account.db.commit(changeFlags, change, ({ modseq, edits }) => {
    if (modseq !== undefined) account.changes.publish({ kind: 'flags', folderId, modseq, edits });
  });
}

async function moveTo(account: OpenAccount, id: string, toFolderId: number): Promise<void> {
  const { folderId, uid } = (await locate(account, id)).row;
  if (folderId === toFolderId) return;
  const move = {
    folderId,
    ranges: [{ uidFrom: uid, uidTo: uid }],
    removed: [],
    toFolderId,
    isMove: true,
    quotaBytes: null,
    now: account.app.clock.now(),
  };
  await account.db.commit(copyOrMove, move, (moved) => {
    if (moved.kind !== 'copied') return;
    const { modseq, added, removed } = moved;
    account.changes.publish({ kind: 'added', folderId: toFolderId, modseq, messages: added });
    if (removed.length > 0)
      account.changes.publish({ kind: 'expunged', folderId, modseq, messages: removed });
  });
}

type NewDraft = { id: string; octets: Uint8Array; quotaBytes: number };

type Drafting = Parameters<typeof addInWrite>[1] & { id: string };

/** Adds a draft unless a message has its id. */
const insertDraft = defineWrite(
  'account.insertDraft',
  async (tx: AccountTx, { id, ...addition }: Drafting): Promise<Committed | { isKnown: true }> =>
    (await findByEmailId(tx, id)) ? { isKnown: true } : addInWrite(tx, addition),
);

/**
 * Adds a draft to the folder of drafts. The id is chosen by the caller: a draft that was added before is left as it is.
 * @throws AppError not_found without a folder of drafts; invalid_state when the mailbox is full; unavailable
 */
export async function addDraft(
  account: OpenAccount,
  { id, octets, quotaBytes }: NewDraft,
): Promise<MessageSummary> {
  const { name: folder } = await getNamedFolder(account, 'drafts');
  const content = await prepareContent(account, [octets]);
  const now = account.app.clock.now();
  const flags = readFlags(['\\Draft', '\\Seen']);
  const messages = [{ content, ...flags, internalDate: { atMs: now, zoneMinutes: 0 }, emailId: id }];
  const committed = await settle(account, [content], () =>
    account.db.commit(insertDraft, { id, folder, messages, quotaBytes, now }, (result) => {
      if (!('isKnown' in result)) publishAdded(account, result);
    }),
  );
  if ('refused' in committed)
    throw new AppError('invalid_state', 'The mailbox is full; remove messages or ask for more space');
  return getMessage(account, { id });
}

/** Maximum number of copies of an answered message that are marked. */
const MAX_MARKED = 10;

/**
 * Files a draft that was sent: it moves to the folder of sent mail, and the message that it answers or forwards is marked. What was done
 * before is not done again.
 * @throws AppError not_found
 */
export async function fileSent(account: OpenAccount, { id }: { id: string }): Promise<MessageSummary> {
  const { row } = await locate(account, id);
  if ((row.flags & DRAFT) !== 0) {
    const fields = readHeaderFields(await readHeader(account, row.contentId));
    await markOriginals(account, readMessageIds(findField(fields, 'in-reply-to')), '\\Answered');
    await markOriginals(account, readMessageIds(findField(fields, 'x-forwarded-message-id')), '$Forwarded');
    // A draft stays where it is when its owner has no folder of sent mail: it has left already.
    const sent = await findFolderBySpecialUse(account.db.read, '\\Sent');
    if (sent) await moveTo(account, id, sent.id);
    // The mark of a draft goes last, so that everything before it is done again after an interruption.
    await setFlag(account, id, { name: '\\Draft', isSet: false });
  }
  return getMessage(account, { id });
}

async function markOriginals(account: OpenAccount, ids: readonly string[], name: string): Promise<void> {
  const [first] = ids;
  if (first === undefined) return;
  const wanted = { messageId: first.slice(1, -1), limit: MAX_MARKED };
  for (const { folderId, uid } of await listByMessageId(account.db.read, wanted))
    await commitFlags(account, { folderId, uid, name, isSet: true });
}
