/** Removes messages from a folder, as one change. */
import { defineWrite } from '../db/operation.ts';
import { releaseContents } from './content-store.ts';
import { countsOf, negate } from './counts.ts';
import { insertExpunged } from './expunged-store.ts';
import { changeCounts, findFolderById } from './folder-store.ts';
import { createMessagePause } from './message-pause.ts';
import { removeMessages } from './message-store.ts';
import { applyPendingEdits } from './pending-edit-store.ts';
import { type AccountTx, nextModseq } from './store.ts';
import type { MessageRow } from './tables.ts';

type Expunge = {
  folderId: number;
  /** UIDs of messages that may be removed. UIDs that do not exist are left out. */
  ranges: readonly { uidFrom: number; uidTo: number }[];
};

/** The messages that were removed, as they were, by UID; `modseq` is the number of the change. */
type Expunged = { modseq: number; messages: MessageRow[] };

/** Removes messages with `\Deleted`. Returns undefined when none of them has it. */
export const expungeMessages = defineWrite(
  'account.expungeMessages',
  async (tx: AccountTx, { folderId, ranges }: Expunge): Promise<Expunged | undefined> => {
    const folder = await findFolderById(tx, folderId);
    if (!folder || folder.deletedCount === 0) return undefined;
    return await expunge(tx, { folderId, ranges }, { isDeleted: true });
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-expunge-before-commit',
      afterCommit: 'mailbox-expunge-after-commit',
    },
  },
);

/** Removes messages, whatever flags they have. Returns undefined when there are none. */
export const expungeAny = defineWrite(
  'account.expungeAny',
  (tx: AccountTx, input: Expunge): Promise<Expunged | undefined> => expunge(tx, input, { isDeleted: false }),
  {
    crashPoints: {
      beforeCommit: 'mailbox-quit-before-commit',
      afterCommit: 'mailbox-quit-after-commit',
    },
  },
);

async function expunge(
  tx: AccountTx,
  { folderId, ranges }: Expunge,
  { isDeleted }: { isDeleted: boolean },
): Promise<Expunged | undefined> {
  await applyPendingEdits(tx, folderId);
  const pause = createMessagePause();
  const messages: MessageRow[] = [];
  for (const range of ranges) {
    const removed = await removeMessages(tx, { folderId, ...range, isDeleted });
    await releaseContents(
      tx,
      removed.map(({ contentId }) => contentId),
    );
    for (const message of removed) messages.push(message);
    await pause(removed.length);
  }
  if (messages.length === 0) return undefined;
  const modseq = await nextModseq(tx);
  await insertExpunged(tx, { folderId, modseq, uids: messages.map(({ uid }) => uid) });
  await changeCounts(tx, { folderId, modseq, ...negate(countsOf(messages)) });
  return { modseq, messages };
}
