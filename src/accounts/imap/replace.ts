/** REPLACE over an account (RFC 8508). */

import type { Messages, Refusal } from '../../mail/imap/session.ts';
import { type NewMessage, publishAdded, settle } from '../add.ts';
import { listSummaries } from '../message-store.ts';
import { replaceMessage } from '../replace-message.ts';
import { type Append, type AppendAnswer, describeAdded, readAll, refusalOf } from './append.ts';
import { outOfRange } from './responses.ts';
import type { SelectedState } from './session-state.ts';

/** Adds a message, and removes another one of the selected folder. Its size does not count against the quota. */
export async function replaceIn(
  selected: SelectedState,
  append: Append,
  { set, uid: isUid }: Messages,
): Promise<AppendAnswer> {
  const { view, shared } = selected;
  const found = view.find(set, isUid);
  if (!found) return outOfRange();
  const [entry] = found.flatMap((range) => view.entries(range));
  if (!entry) return { refused: 'NO', code: 'NONEXISTENT', text: 'The message does not exist' };
  const { folderId } = view.state;
  const { read } = shared.account.db;
  const [original] = await listSummaries(read, { folderId, uidFrom: entry.uid, uidTo: entry.uid });
  if (!original) return expungeIssued();
  const quotaBytes = append.quotaBytes === null ? null : append.quotaBytes + original.sizeBytes;
  return await readAll(shared.account, { ...append, quotaBytes }, (messages) =>
    commit(selected, append, { messages, uid: entry.uid }),
  );
}

async function commit(
  { view, account }: SelectedState,
  { mailbox, quotaBytes }: Append,
  { messages, uid }: { messages: readonly NewMessage[]; uid: number },
): Promise<AppendAnswer> {
  const { folderId } = view.state;
  const addition = { folder: mailbox, messages, ...(quotaBytes !== null && { quotaBytes }) };
  const replacement = { ...addition, now: account.app.clock.now(), replaced: { folderId, uid } };
  const contents = messages.map(({ content }) => content);
  const outcome = await settle(account, contents, () =>
    account.db.commit(replaceMessage, replacement, (result) => {
      if ('refused' in result || 'refused' in result.committed) return;
      const { committed, removed } = result;
      publishAdded(account, committed);
      account.changes.publish({ kind: 'expunged', folderId, modseq: committed.modseq, messages: removed });
    }),
  );
  if ('refused' in outcome) return expungeIssued();
  const { committed } = outcome;
  if ('refused' in committed) return refusalOf(committed);
  return { ...describeAdded(committed), modseq: committed.modseq };
}

/** Returns the refusal of a message that another session has removed (RFC 9051 section 7.1). */
function expungeIssued(): Refusal {
  return { refused: 'NO', code: 'EXPUNGEISSUED', text: 'Another session has removed the message' };
}
