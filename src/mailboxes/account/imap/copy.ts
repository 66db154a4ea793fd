/** COPY and MOVE over an account (RFC 9051 sections 6.4.7 and 6.4.8). */
import { formatNumbers } from '../../../mail/imap/sequence-set.ts';
import type { CopyQuery, CopyResult, Refusal } from '../../../mail/imap/session.ts';
import { copyOrMove, type MessageCopy, type MessagesCopied } from '../copy-messages.ts';
import { missingTarget, outOfRange, overQuota } from './refusals.ts';
import type { SelectedState } from './session-state.ts';

/** Copies messages, or moves them. Returns undefined when none was found. */
export async function copyTo(
  selected: SelectedState,
  { set, uid, to }: CopyQuery,
  { isMove }: { isMove: boolean },
): Promise<CopyResult | Refusal | undefined> {
  const { view, shared, quotaBytes } = selected;
  const found = view.find(set, uid);
  if (!found) return outOfRange();
  const gone = found.flatMap((range) => view.entries(range).filter(({ isGone }) => isGone));
  const copy: MessageCopy = {
    folderId: view.state.folderId,
    ranges: view.uidRanges(found),
    // A message that others have moved or removed is not moved once more.
    removed: isMove ? [] : gone.flatMap((entry) => view.state.removedMessage(entry.uid) ?? []),
    to,
    isMove,
    quotaBytes,
    now: shared.account.app.clock.now(),
  };
  const outcome = await shared.account.db.commit(copyOrMove, copy, (result) => {
    if (result.kind === 'copied') publish(selected, result);
  });
  if (outcome.kind === 'no folder') return missingTarget();
  if (outcome.kind === 'over quota') return overQuota();
  if (outcome.kind === 'nothing') return undefined;
  return {
    uidValidity: outcome.uidValidity,
    from: formatNumbers(outcome.from),
    to: formatNumbers(outcome.added.map((message) => message.uid)),
    ...(isMove && { modseq: outcome.modseq }),
  };
}

function publish(
  { shared, view }: SelectedState,
  { toFolderId, modseq, added, removed }: MessagesCopied,
): void {
  const { account } = shared;
  const { folderId } = view.state;
  account.changes.publish({ kind: 'added', folderId: toFolderId, modseq, messages: added });
  if (removed.length === 0) return;
  shared.keepRemoved(folderId, removed);
  account.changes.publish({ kind: 'expunged', folderId, modseq, uids: removed.map(({ uid }) => uid) });
}
