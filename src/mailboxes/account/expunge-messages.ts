/** Removes messages with `\Deleted` from a folder, as one change. */
import { defineWrite } from '../../db/operation.ts';
import { releaseContents } from './content-store.ts';
import { countsOf, negate } from './counts.ts';
import { changeCounts, findFolderById } from './folder-store.ts';
import { insertExpunged, removeMessages } from './message-store.ts';
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

/** Removes messages. Returns undefined when none of them has `\Deleted`. */
export const expungeMessages = defineWrite(
  'account.expungeMessages',
  async (tx: AccountTx, { folderId, ranges }: Expunge): Promise<Expunged | undefined> => {
    const folder = await findFolderById(tx, folderId);
    if (!folder || folder.deletedCount === 0) return undefined;
    await applyPendingEdits(tx, folderId);
    const messages: MessageRow[] = [];
    for (const range of ranges)
      messages.push(...(await removeMessages(tx, { folderId, ...range, isDeleted: true })));
    if (messages.length === 0) return undefined;
    const modseq = await nextModseq(tx);
    await releaseContents(
      tx,
      messages.map(({ contentId }) => contentId),
    );
    await insertExpunged(tx, { folderId, modseq, uids: messages.map(({ uid }) => uid) });
    await changeCounts(tx, { folderId, modseq, ...negate(countsOf(messages)) });
    return { modseq, messages };
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-expunge-before-commit',
      afterCommit: 'mailbox-expunge-after-commit',
    },
  },
);
