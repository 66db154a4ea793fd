/** COPY and MOVE over an account (RFC 9051 sections 6.4.7 and 6.4.8). */

import { refusalFor } from '../../mail/imap/command-error.ts';
import { formatNumbers, type SequenceRange } from '../../mail/imap/sequence-set.ts';
import type { CopyQuery, CopyResult, Refusal } from '../../mail/imap/session.ts';
import { AppError } from '../../system/errors.ts';
import { copyOrMove, type MessageCopy, type MessagesCopied } from '../copy-messages.ts';
import { findFolderByName } from '../folder-store.ts';
import { missingTarget, outOfRange, overQuota } from './responses.ts';
import type { SelectedState } from './session-state.ts';
import { groupsOf, slicesOf } from './slices.ts';

/** Maximum number of messages that one commit moves or removes. Other accounts of the thread wait meanwhile: about 10 ms. */
export const REMOVED_PER_COMMIT = 1_000;
/** Maximum number of messages of one range of a copy, after which other accounts go on: about 5 ms. */
const COPIED_PER_RANGE = 500;

/** Answer that the client gets; undefined when no message was found. */
type Answer = CopyResult | Refusal | undefined;

/** Copies messages, all or none of them (RFC 9051 section 6.4.7). */
export function copyTo(selected: SelectedState, query: CopyQuery): Promise<Answer> {
  return withNamed(selected, query, copyAll);
}

/**
 * Moves messages. Many are moved as several changes, so that other accounts of the thread go on in between: each message is moved or
 * left alone, and a failure leaves those that come after it (RFC 6851 section 3.3). Messages that others have moved or removed are not
 * moved once more.
 */
export function moveTo(selected: SelectedState, query: CopyQuery): Promise<Answer> {
  return withNamed(selected, query, moveInParts);
}

/** The messages that a client names, and the folder that gets them. */
type Named = { found: readonly SequenceRange[]; toFolderId: number };

async function withNamed(
  selected: SelectedState,
  { set, uid, to }: CopyQuery,
  run: (selected: SelectedState, named: Named) => Promise<Answer>,
): Promise<Answer> {
  const found = selected.view.find(set, uid);
  if (!found) return outOfRange();
  const target = await findFolderByName(selected.shared.account.db.read, to);
  return target ? await run(selected, { found, toFolderId: target.id }) : missingTarget();
}

async function copyAll(selected: SelectedState, { found, toFolderId }: Named): Promise<Answer> {
  const { view } = selected;
  const gone = found.flatMap((range) => view.entries(range).filter(({ isGone }) => isGone));
  const removed = gone.flatMap((entry) => view.state.removedMessage(entry.uid) ?? []);
  const ranges = view.uidRanges([...slicesOf(found, COPIED_PER_RANGE)]);
  const outcome = await commit(selected, { ranges, removed, toFolderId, isMove: false });
  return 'refused' in outcome ? outcome : describe(outcome.copied);
}

async function moveInParts(selected: SelectedState, { found, toFolderId }: Named): Promise<Answer> {
  const { view } = selected;
  const parts = [...groupsOf(found, REMOVED_PER_COMMIT)].map((group) => view.uidRanges(group));
  const moved: MessagesCopied[] = [];
  let rest: Refusal | undefined;
  for (const ranges of parts) {
    const part = { ranges, removed: [], toFolderId, isMove: true };
    const outcome = await commit(selected, part).catch((error) => {
      if (moved.length > 0 && error instanceof AppError) return refusalFor(error);
      throw error;
    });
    if ('refused' in outcome) rest = outcome;
    else moved.push(...outcome.copied);
    if (rest) break;
  }
  const result = describe(moved);
  if (!result) return rest;
  return { ...result, modseq: (moved.at(-1) as MessagesCopied).modseq, ...(rest && { rest }) };
}

/** Returns what the client is told of messages; undefined when there are none. */
function describe(copied: readonly MessagesCopied[]): CopyResult | undefined {
  const [first] = copied;
  if (!first) return undefined;
  return {
    uidValidity: first.uidValidity,
    from: formatNumbers(copied.flatMap(({ from }) => from)),
    to: formatNumbers(copied.flatMap(({ added }) => added.map(({ uid }) => uid))),
  };
}

type Part = Pick<MessageCopy, 'ranges' | 'removed' | 'toFolderId' | 'isMove'>;

/** Copies or moves messages as one change. Nothing is copied when none of them was found. */
async function commit(
  selected: SelectedState,
  part: Part,
): Promise<{ copied: readonly MessagesCopied[] } | Refusal> {
  const { view, shared, quotaBytes } = selected;
  const { db, app } = shared.account;
  const copy = { ...part, folderId: view.state.folderId, quotaBytes: quotaBytes(), now: app.clock.now() };
  const outcome = await db.commit(copyOrMove, copy, (result) => {
    if (result.kind === 'copied') publish(selected, result);
  });
  if (outcome.kind === 'no folder') return missingTarget();
  if (outcome.kind === 'over quota') return overQuota();
  return { copied: outcome.kind === 'copied' ? [outcome] : [] };
}

function publish(
  { account, view }: SelectedState,
  { toFolderId, modseq, added, removed }: MessagesCopied,
): void {
  const { changes } = account;
  const { folderId } = view.state;
  changes.publish({ kind: 'added', folderId: toFolderId, modseq, messages: added });
  if (removed.length > 0) changes.publish({ kind: 'expunged', folderId, modseq, messages: removed });
}
