/** EXPUNGE, UID EXPUNGE and CLOSE over an account (RFC 9051 sections 6.4.2, 6.4.3 and 6.4.9). */
import type { SequenceSet } from '../../mail/imap/sequence-set.ts';
import { expungeMessages } from '../expunge-messages.ts';
import { DELETED } from '../flags.ts';
import { REMOVED_PER_COMMIT } from './copy.ts';
import type { FolderState } from './folder-state.ts';
import type { SelectedState } from './session-state.ts';
import { groupsOf } from './slices.ts';

type Ranges = Parameters<typeof expungeMessages.run>[1]['ranges'];

/**
 * Removes the messages with `\Deleted`, only those with these UIDs when they are given. With QRESYNC the answer is HIGHESTMODSEQ (RFC
 * 7162 sections 3.2.7 and 3.2.9). Many messages are several changes, so that other accounts of the thread go on in between.
 */
export async function expungeDeleted(
  { view, account, features }: SelectedState,
  uids: SequenceSet | undefined,
): Promise<{ noticed: string } | undefined> {
  const { folderId } = view.state;
  const named = uids && view.find(uids, true);
  const parts: Ranges[] = named
    ? [...groupsOf(named, REMOVED_PER_COMMIT)].map((group) => view.uidRanges(group))
    : partsOf(view.state);
  let lastModseq: number | undefined;
  for (const ranges of parts) {
    const expunged = await account.db.commit(expungeMessages, { folderId, ranges }, (committed) => {
      if (committed) account.changes.publish({ kind: 'expunged', folderId, ...committed });
    });
    lastModseq = expunged?.modseq ?? lastModseq;
  }
  return lastModseq !== undefined && features().qresync
    ? { noticed: `HIGHESTMODSEQ ${lastModseq}` }
    : undefined;
}

/** Returns the ranges of each commit, which together have all messages with `\Deleted`. */
function partsOf(state: FolderState): Ranges[] {
  const parts: { uidFrom: number; uidTo: number }[] = [];
  let inLast = REMOVED_PER_COMMIT;
  for (let index = 0; index < state.count; index++) {
    if (((state.flags[index] as number) & DELETED) === 0 || state.isGone(index)) continue;
    const uid = state.uids[index] as number;
    if (inLast === REMOVED_PER_COMMIT) {
      parts.push({ uidFrom: uid, uidTo: uid });
      inLast = 0;
    }
    (parts.at(-1) as { uidTo: number }).uidTo = uid;
    inLast++;
  }
  return parts.map((part) => [part]);
}
