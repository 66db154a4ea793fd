/** Changes the flags of messages of a folder, as one change. */
import { defineWrite } from '../../db/operation.ts';
import { AppError } from '../../system/errors.ts';
import type { MessageSummary } from './changes.ts';
import { DELETED, readFlags, SEEN } from './flags.ts';
import { changeCounts, findFolderById } from './folder-store.ts';
import { findKeywords, internKeywords } from './keyword-store.ts';
import { listSummaries, updateFlags } from './message-store.ts';
import { type AccountTx, nextModseq } from './store.ts';

/** Maximum number of keywords of a message. Our own limit: clients use some tens. */
const MAX_KEYWORDS = 128;

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

export type FlagsChanged = {
  /** Number of the change; undefined when no message has other flags than before. */
  modseq: number | undefined;
  /** The messages whose flags are different now. */
  messages: MessageSummary[];
  /** UIDs of messages that were changed after `unchangedSince`, and were left alone. */
  modified: number[];
};

/**
 * Changes flags. A message that has these flags already keeps its modseq.
 * @throws AppError invalid_state when a message would have too many keywords
 */
export const changeFlags = defineWrite(
  'account.changeFlags',
  async (tx: AccountTx, change: FlagChange): Promise<FlagsChanged> => {
    const changed: FlagsChanged = { modseq: undefined, messages: [], modified: [] };
    if (!(await findFolderById(tx, change.folderId))) return changed;
    const flagsAfter = createFlagsAfter(tx, change);
    const counts = { messageCount: 0, unseenCount: 0, deletedCount: 0, sizeBytes: 0 };
    for (const range of change.ranges) {
      const runs = new Runs();
      for (const before of await listSummaries(tx, { folderId: change.folderId, ...range })) {
        if (change.unchangedSince !== undefined && before.modseq > change.unchangedSince) {
          changed.modified.push(before.uid);
          runs.end();
          continue;
        }
        const after = await flagsAfter(before);
        if (after.flags === before.flags && after.keywordSetId === before.keywordSetId) {
          runs.end();
          continue;
        }
        changed.modseq ??= await nextModseq(tx);
        const message = { uid: before.uid, ...after, modseq: changed.modseq };
        changed.messages.push(message);
        runs.add(message);
        counts.unseenCount += countOf(before.flags, SEEN) - countOf(after.flags, SEEN);
        counts.deletedCount += countOf(after.flags, DELETED) - countOf(before.flags, DELETED);
      }
      for (const run of runs.list) await updateFlags(tx, { folderId: change.folderId, ...run });
    }
    if (changed.modseq !== undefined)
      await changeCounts(tx, { folderId: change.folderId, modseq: changed.modseq, ...counts });
    return changed;
  },
  {
    crashPoints: {
      beforeCommit: 'mailbox-flags-before-commit',
      afterCommit: 'mailbox-flags-after-commit',
    },
  },
);

function countOf(flags: number, flag: number): number {
  return (flags & flag) === 0 ? 0 : 1;
}

type Run = Omit<MessageSummary, 'uid'> & { uidFrom: number; uidTo: number };

/** Neighbours that get the same flags are updated by one statement. */
class Runs {
  readonly list: Run[] = [];
  #last: Run | undefined;

  add({ uid, ...flags }: MessageSummary): void {
    const last = this.#last;
    if (last && last.flags === flags.flags && last.keywordSetId === flags.keywordSetId) {
      last.uidTo = uid;
      return;
    }
    this.#last = { uidFrom: uid, uidTo: uid, ...flags };
    this.list.push(this.#last);
  }

  /** The next message is no neighbour of the last one. */
  end(): void {
    this.#last = undefined;
  }
}

type FlagsOf = Pick<MessageSummary, 'flags' | 'keywordSetId'>;

/** Returns the function that computes the new flags of a message. Messages have few different sets of keywords. */
function createFlagsAfter(
  tx: AccountTx,
  { action, names }: FlagChange,
): (before: FlagsOf) => Promise<FlagsOf> | FlagsOf {
  const given = readFlags(names);
  const sets = new Map<number, number>();
  const keywordsAfter = async (setId: number): Promise<number> => {
    const before = action === 'replace' ? [] : await findKeywords(tx, setId);
    const named = new Set(given.keywords.map((word) => word.toLowerCase()));
    const { keywords } = readFlags(
      action === 'remove'
        ? before.filter((word) => !named.has(word.toLowerCase()))
        : [...before, ...given.keywords],
    );
    if (keywords.length > MAX_KEYWORDS)
      throw new AppError('invalid_state', `A message has at most ${MAX_KEYWORDS} keywords`);
    return await internKeywords(tx, keywords);
  };
  const flagsAfter = (flags: number): number => {
    if (action === 'replace') return given.flags;
    return action === 'add' ? flags | given.flags : flags & ~given.flags;
  };
  return (before) => {
    const flags = flagsAfter(before.flags);
    if (action !== 'replace' && given.keywords.length === 0)
      return { flags, keywordSetId: before.keywordSetId };
    const known = sets.get(before.keywordSetId);
    if (known !== undefined) return { flags, keywordSetId: known };
    return keywordsAfter(before.keywordSetId).then((keywordSetId) => {
      sets.set(before.keywordSetId, keywordSetId);
      return { flags, keywordSetId };
    });
  };
}
