/** Copies or moves messages to another folder, or to their own, as one change. */
import { defineWrite } from '../db/operation.ts';
import type { AddedMessage } from './changes.ts';
import { releaseContents } from './content-store.ts';
import { countsOf, negate } from './counts.ts';
import { insertExpunged } from './expunged-store.ts';
import { changeCounts, countAdded, findFolderById } from './folder-store.ts';
import { findKeywords, NO_KEYWORDS } from './keyword-store.ts';
import { createMessagePause } from './message-pause.ts';
import { copyMessages, insertMessage, listSummaries, removeMessages } from './message-store.ts';
import { applyPendingEdits } from './pending-edit-store.ts';
import { recordSignals, verdictOfMove } from './spam-signal-store.ts';
import { type AccountTx, findAccountRow } from './store.ts';
import type { FolderRow, MessageRow } from './tables.ts';

type Ranges = readonly { uidFrom: number; uidTo: number }[];

export type MessageCopy = {
  folderId: number;
  /** The messages. UIDs that do not exist are left out. Other accounts of the thread go on between two ranges. */
  ranges: Ranges;
  /** Messages that were removed, but that a client may still copy. */
  removed: readonly MessageRow[];
  /** The folder that gets the messages. */
  toFolderId: number;
  isMove: boolean;
  /** Maximum size of all messages of the account; null for no limit. */
  quotaBytes: number | null;
  now: number;
};

export type MessagesCopied = {
  kind: 'copied';
  modseq: number;
  uidValidity: number;
  toFolderId: number;
  /** UIDs of the originals, in the order of `added`. */
  from: number[];
  added: AddedMessage[];
  /** The originals that were moved away, as they were. */
  removed: MessageRow[];
};

type Outcome = MessagesCopied | { kind: 'no folder' } | { kind: 'over quota' } | { kind: 'nothing' };

/**
 * Copies messages, which keep their EMAILID, flags and dates (RFC 9051 section 6.4.7, RFC 8474 section 5.1). All are copied or none, so
 * a copy cannot be committed in parts: its transaction lets other accounts go on meanwhile, and only its own account waits.
 */
export const copyOrMove = defineWrite(
  'account.copyOrMove',
  async (tx: AccountTx, asked: MessageCopy): Promise<Outcome> => {
    const copy = { ...asked, removed: await withStoredKeywords(tx, asked.removed) };
    const target = await findFolderById(tx, copy.toFolderId);
    if (!target) return { kind: 'no folder' };
    const source = await findFolderById(tx, copy.folderId);
    if (!source) return { kind: 'nothing' };
    await applyPendingEdits(tx, copy.folderId);
    const originals = [];
    const pause = createMessagePause();
    for (const range of copy.ranges) {
      const summaries = await listSummaries(tx, { folderId: copy.folderId, ...range });
      for (const one of summaries) originals.push(one);
      await pause(summaries.length);
    }
    for (const one of copy.removed) originals.push(one);
    if (originals.length === 0) return { kind: 'nothing' };
    const counts = countsOf(originals);
    if (!copy.isMove && (await exceedsQuota(tx, counts.sizeBytes, copy.quotaBytes)))
      return { kind: 'over quota' };
    const { modseq, firstUid } = await countAdded(tx, { folderId: target.id, ...counts });
    const verdict = verdictOfMove(source, target);
    if (verdict) await recordSignals(tx, { folderId: source.id, ranges: copy.ranges, verdict, modseq });
    await insertCopies(tx, { copy, target, modseq, firstUid });
    const removed = copy.isMove ? await removeInChange(tx, copy, modseq) : [];
    return {
      kind: 'copied',
      modseq,
      uidValidity: target.uidValidity,
      toFolderId: target.id,
      from: originals.map(({ uid }) => uid),
      added: originals.map(({ contentId, flags, keywordSetId }, index) => ({
        uid: firstUid + index,
        contentId,
        flags,
        keywordSetId,
        modseq,
      })),
      removed,
    };
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-copy-before-commit',
      afterCommit: 'mailbox-copy-after-commit',
    },
  },
);

/** Returns removed messages without keywords whose set was removed too, because no message had it any more. */
async function withStoredKeywords(tx: AccountTx, removed: readonly MessageRow[]): Promise<MessageRow[]> {
  const known: MessageRow[] = [];
  for (const message of removed) {
    const { length } = await findKeywords(tx, message.keywordSetId);
    known.push(length > 0 ? message : { ...message, keywordSetId: NO_KEYWORDS });
  }
  return known;
}

async function exceedsQuota(tx: AccountTx, sizeBytes: number, quotaBytes: number | null): Promise<boolean> {
  if (quotaBytes === null) return false;
  const account = await findAccountRow(tx);
  return (account?.usedBytes ?? 0) + sizeBytes > quotaBytes;
}

type Copies = { copy: MessageCopy; target: FolderRow; modseq: number; firstUid: number };

async function insertCopies(tx: AccountTx, { copy, target, modseq, firstUid }: Copies): Promise<void> {
  const { folderId, now: savedAt } = copy;
  const pause = createMessagePause();
  let uidNext = firstUid;
  for (const range of copy.ranges) {
    const copied = await copyMessages(tx, {
      folderId,
      ...range,
      toFolderId: target.id,
      uidNext,
      modseq,
      savedAt,
    });
    uidNext += copied;
    await pause(copied);
  }
  for (const message of copy.removed) {
    const place = { folderId: target.id, uid: uidNext++, modseq, createdModseq: modseq, savedAt };
    await insertMessage(tx, { ...message, ...place });
  }
}

/** Removes messages as a part of the change with this number, and returns them as they were. */
export async function removeInChange(
  tx: AccountTx,
  { folderId, ranges }: Pick<MessageCopy, 'folderId' | 'ranges'>,
  modseq: number,
): Promise<MessageRow[]> {
  const removed: MessageRow[] = [];
  for (const range of ranges)
    removed.push(...(await removeMessages(tx, { folderId, ...range, isDeleted: false })));
  await releaseContents(
    tx,
    removed.map(({ contentId }) => contentId),
  );
  await insertExpunged(tx, { folderId, modseq, uids: removed.map(({ uid }) => uid) });
  await changeCounts(tx, { folderId, modseq, ...negate(countsOf(removed)) });
  return removed;
}
