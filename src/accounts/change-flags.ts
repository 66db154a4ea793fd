/** Changes the flags of messages of a folder, as one change. */
import { defineWrite } from '../db/operation.ts';
import { AppError } from '../system/errors.ts';
import type { FlagEdit } from './changes.ts';
import { ALL_FLAGS, DELETED, readFlags, SEEN } from './flags.ts';
import { changeCounts, findFolderById } from './folder-store.ts';
import { findKeywords, internKeywords, NO_KEYWORDS } from './keyword-store.ts';
import { createMessagePause, MESSAGES_PER_STATEMENT } from './message-pause.ts';
import { countEdit, editFlags, hasEffect, listChangedSince, listSummaries } from './message-store.ts';
import { applyPendingEdits, countPendingEdits, insertPendingEdits } from './pending-edit-store.ts';
import { recordSignals, verdictOfFlags } from './spam-signal-store.ts';
import { type AccountTx, nextModseq } from './store.ts';

/** Maximum number of keywords of a message. Clients use some tens. */
const MAX_KEYWORDS = 128;
/**
 * Maximum number of edits of a folder that its rows do not have yet. Whatever reads the rows applies them before, which takes a second
 * when all edits are of 100,000 messages.
 */
const MAX_PENDING = 16;

export type FlagChange = {
  folderId: number;
  /** The messages. UIDs that do not exist are left out. */
  ranges: readonly { uidFrom: number; uidTo: number }[];
  action: 'replace' | 'add' | 'remove';
  /** Names of flags. */
  names: readonly string[];
  /** Only messages that were not changed after this modseq. */
  unchangedSince: number | undefined;
};

/** Effect of a change on the messages as they are at a modseq. */
export type ForeseenChange = {
  /** Number of the last change of the folder. After another one, nothing here holds. */
  highestModseq: number;
  /** A message gets other flags than before. */
  hasEffect: boolean;
  /** Differences of the numbers of messages without `\Seen` and with `\Deleted`. */
  unseen: number;
  deleted: number;
  /** UIDs of messages that were changed after `unchangedSince`. */
  modified: number[];
};

export type FlagsChanged = {
  /** Number of the change; undefined when no message has other flags than before. */
  modseq: number | undefined;
  edits: readonly FlagEdit[];
  /** UIDs of messages that were changed after `unchangedSince`, and were left alone. */
  modified: number[];
  /** The rows of the messages do not have the edits yet (settle-flags.ts). */
  isPending: boolean;
};

const CRASH_POINTS = {
  beforeCommit: 'mailbox-flags-before-commit',
  afterCommit: 'mailbox-flags-after-commit',
} as const;

/**
 * Changes flags. A message that has these flags already keeps its modseq. Messages whose neighbours have other keywords are changed one by
 * one; other accounts of the thread go on meanwhile.
 * @throws AppError invalid_state when a message would have too many keywords
 */
export const changeFlags = defineWrite(
  'account.changeFlags',
  async (tx: AccountTx, change: FlagChange): Promise<FlagsChanged> => {
    const { folderId, ranges, unchangedSince } = change;
    const folder = await findFolderById(tx, folderId);
    if (!folder) return unchanged([]);
    await applyPendingEdits(tx, folderId);
    const modified: number[] = [];
    if (unchangedSince !== undefined)
      for (const range of ranges)
        modified.push(...(await listChangedSince(tx, { folderId, ...range, modseq: unchangedSince })));
    const edits = await makeEdits(tx, change);
    if (!(await haveEffect(tx, folderId, edits))) return unchanged(modified);
    const modseq = await nextModseq(tx);
    const verdict = change.action === 'remove' ? undefined : verdictOfFlags(folder, change.names);
    if (verdict) await recordSignals(tx, { folderId, ranges, verdict, modseq });
    const counts = { messageCount: 0, unseenCount: 0, deletedCount: 0, sizeBytes: 0 };
    const pause = createMessagePause();
    for (const edit of edits) {
      await pause(MESSAGES_PER_STATEMENT);
      if (changesCounts(edit)) {
        const { unseen, deleted } = await countEdit(tx, folderId, edit);
        counts.unseenCount += unseen;
        counts.deletedCount += deleted;
      }
      await editFlags(tx, { folderId, modseq }, edit);
    }
    await changeCounts(tx, { folderId, modseq, ...counts });
    return { modseq, edits, modified, isPending: false };
  },
  { crashPoints: CRASH_POINTS },
);

/**
 * Changes flags as was foreseen, in little time: the rows of the messages are written later. Returns undefined, and changes nothing, when
 * the folder has had another change meanwhile, or when too many rows have to be written already.
 */
export const changeForeseenFlags = defineWrite(
  'account.changeForeseenFlags',
  async (
    tx: AccountTx,
    { folderId, edits, foreseen }: { folderId: number; edits: readonly FlagEdit[]; foreseen: ForeseenChange },
  ): Promise<FlagsChanged | undefined> => {
    const { hasEffect: isEffective, unseen, deleted, modified } = foreseen;
    if ((await findFolderById(tx, folderId))?.highestModseq !== foreseen.highestModseq) return undefined;
    if (!isEffective) return unchanged(modified);
    if ((await countPendingEdits(tx, folderId)) + edits.length > MAX_PENDING) return undefined;
    const modseq = await nextModseq(tx);
    await insertPendingEdits(tx, { folderId, modseq }, edits);
    const counts = { messageCount: 0, unseenCount: unseen, deletedCount: deleted, sizeBytes: 0 };
    await changeCounts(tx, { folderId, modseq, ...counts });
    return { modseq, edits, modified, isPending: true };
  },
  { crashPoints: CRASH_POINTS },
);

function unchanged(modified: number[]): FlagsChanged {
  return { modseq: undefined, edits: [], modified, isPending: false };
}

async function haveEffect(tx: AccountTx, folderId: number, edits: readonly FlagEdit[]): Promise<boolean> {
  const pause = createMessagePause();
  for (const edit of edits) {
    if (await hasEffect(tx, folderId, edit)) return true;
    await pause(0);
  }
  return false;
}

/** Flags of which folders count the messages. */
const COUNTED = SEEN | DELETED;

function changesCounts({ keptFlags, addedFlags }: FlagEdit): boolean {
  return (keptFlags & COUNTED) !== COUNTED || (addedFlags & COUNTED) !== 0;
}

/** Returns what is done to the messages of each range. */
async function makeEdits(
  tx: AccountTx,
  { folderId, ranges, action, names, unchangedSince }: FlagChange,
): Promise<FlagEdit[]> {
  const plain = makePlainEdits({ ranges, action, names, unchangedSince });
  if (plain) return plain;
  const { flags, keywords } = readFlags(names);
  const common = { ...flagsOf(action, flags), unchangedSince: unchangedSince ?? null };
  if (action !== 'replace') {
    const setAfter = createSetAfter(tx, action, keywords);
    const edits: FlagEdit[] = [];
    for (const range of ranges)
      for (const { uid, keywordSetId: before } of await listSummaries(tx, { folderId, ...range })) {
        const keywordSetId = await setAfter(before);
        const last = edits.at(-1);
        // Neighbours that get the same keywords are changed together.
        if (last && last.uidFrom >= range.uidFrom && last.keywordSetId === keywordSetId) last.uidTo = uid;
        else edits.push({ uidFrom: uid, uidTo: uid, ...common, keywordSetId });
      }
    return edits;
  }
  const keywordSetId = await intern(tx, keywords);
  return ranges.map((range) => ({ ...range, ...common, keywordSetId }));
}

/** Returns what a change without keywords does to the messages of each range; undefined for one with keywords. */
export function makePlainEdits({
  ranges,
  action,
  names,
  unchangedSince,
}: Omit<FlagChange, 'folderId'>): FlagEdit[] | undefined {
  const { flags, keywords } = readFlags(names);
  if (keywords.length > 0) return undefined;
  const keywordSetId = action === 'replace' ? NO_KEYWORDS : null;
  const edit = { ...flagsOf(action, flags), keywordSetId, unchangedSince: unchangedSince ?? null };
  return ranges.map((range) => ({ ...range, ...edit }));
}

function flagsOf(action: FlagChange['action'], flags: number): Pick<FlagEdit, 'keptFlags' | 'addedFlags'> {
  if (action === 'replace') return { keptFlags: 0, addedFlags: flags };
  return action === 'add'
    ? { keptFlags: ALL_FLAGS, addedFlags: flags }
    : { keptFlags: ALL_FLAGS & ~flags, addedFlags: 0 };
}

/** Returns the function that computes the new set of keywords of a message. Messages have few different sets. */
function createSetAfter(
  tx: AccountTx,
  action: 'add' | 'remove',
  keywords: readonly string[],
): (setId: number) => Promise<number> {
  const named = new Set(keywords.map((word) => word.toLowerCase()));
  const sets = new Map<number, number>();
  return async (setId) => {
    const known = sets.get(setId);
    if (known !== undefined) return known;
    const before = await findKeywords(tx, setId);
    const words =
      action === 'remove'
        ? before.filter((word) => !named.has(word.toLowerCase()))
        : [...before, ...keywords];
    const after = await intern(tx, readFlags(words).keywords);
    sets.set(setId, after);
    return after;
  };
}

async function intern(tx: AccountTx, keywords: readonly string[]): Promise<number> {
  if (keywords.length > MAX_KEYWORDS)
    throw new AppError('invalid_state', `A message has at most ${MAX_KEYWORDS} keywords`);
  return await internKeywords(tx, keywords);
}
