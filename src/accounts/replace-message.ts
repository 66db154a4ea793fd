/** Adds a message and removes another one, as one change (RFC 8508 section 3.4). */
import { defineWrite } from '../db/operation.ts';
import { type Addition, addInWrite, type Committed } from './add.ts';
import { removeInChange } from './copy-messages.ts';
import { listSummaries } from './message-store.ts';
import { applyPendingEdits } from './pending-edit-store.ts';
import type { AccountTx } from './store.ts';
import type { MessageRow } from './tables.ts';

type Replacement = Addition & { now: number; replaced: { folderId: number; uid: number } };

/** `removed` are the messages that were replaced, as they were. */
type Outcome = { committed: Committed; removed: MessageRow[] } | { refused: 'gone' };

/** Replaces a message. Nothing is changed when it was removed, or when the new one is refused. */
export const replaceMessage = defineWrite(
  'account.replaceMessage',
  async (
    tx: AccountTx,
    { replaced: { folderId, uid }, quotaBytes, ...addition }: Replacement,
  ): Promise<Outcome> => {
    const ranges = [{ uidFrom: uid, uidTo: uid }];
    const [original] = await listSummaries(tx, { folderId, uidFrom: uid, uidTo: uid });
    if (!original) return { refused: 'gone' };
    const quota = quotaBytes === undefined ? {} : { quotaBytes: quotaBytes + original.sizeBytes };
    const committed = await addInWrite(tx, { ...addition, ...quota });
    if ('refused' in committed) return { committed, removed: [] };
    await applyPendingEdits(tx, folderId);
    const removed = await removeInChange(tx, { folderId, ranges }, committed.modseq);
    return { committed, removed };
  },
);
