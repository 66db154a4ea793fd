/** EXPUNGE, UID EXPUNGE and CLOSE over an account (RFC 9051 sections 6.4.2, 6.4.3 and 6.4.9). */
import type { SequenceSet } from '../../../mail/imap/sequence-set.ts';
import { expungeMessages } from '../expunge-messages.ts';
import type { SelectedState } from './session-state.ts';

const ALL = [{ uidFrom: 1, uidTo: Number.MAX_SAFE_INTEGER }];

/** Removes the messages with `\Deleted`, only those with these UIDs when they are given. */
export async function expungeDeleted(
  { view, shared }: SelectedState,
  uids: SequenceSet | undefined,
): Promise<void> {
  const { folderId } = view.state;
  const { account } = shared;
  const ranges = uids === undefined ? ALL : view.uidRanges(view.find(uids, true) ?? []);
  await account.db.commit(expungeMessages, { folderId, ranges }, (expunged) => {
    if (!expunged) return;
    const { modseq, messages } = expunged;
    shared.keepRemoved(folderId, messages);
    account.changes.publish({ kind: 'expunged', folderId, modseq, uids: messages.map(({ uid }) => uid) });
  });
}
