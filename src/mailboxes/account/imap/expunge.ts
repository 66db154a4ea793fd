/** EXPUNGE, UID EXPUNGE and CLOSE over an account (RFC 9051 sections 6.4.2, 6.4.3 and 6.4.9). */
import type { SequenceSet } from '../../../mail/imap/sequence-set.ts';
import { expungeMessages } from '../expunge-messages.ts';
import type { SelectedState } from './session-state.ts';

const ALL = [{ uidFrom: 1, uidTo: Number.MAX_SAFE_INTEGER }];

/**
 * Removes the messages with `\Deleted`, only those with these UIDs when they are given. With QRESYNC the answer is HIGHESTMODSEQ (RFC
 * 7162 sections 3.2.7 and 3.2.9).
 */
export async function expungeDeleted(
  { view, shared, features }: SelectedState,
  uids: SequenceSet | undefined,
): Promise<{ noticed: string } | undefined> {
  const { folderId } = view.state;
  const { account } = shared;
  const ranges = uids === undefined ? ALL : view.uidRanges(view.find(uids, true) ?? []);
  const expunged = await account.db.commit(expungeMessages, { folderId, ranges }, (committed) => {
    if (!committed) return;
    const { modseq, messages } = committed;
    shared.keepRemoved(folderId, messages);
    account.changes.publish({ kind: 'expunged', folderId, modseq, uids: messages.map(({ uid }) => uid) });
  });
  return expunged && features().qresync ? { noticed: `HIGHESTMODSEQ ${expunged.modseq}` } : undefined;
}
