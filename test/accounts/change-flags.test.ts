/** Changes of flags in the database, and in the state of the folder, are those that a simple model makes message by message. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  changeFlags,
  changeForeseenFlags,
  type FlagChange,
  type FlagsChanged,
  makePlainEdits,
} from '../../src/accounts/change-flags.ts';
import { DELETED, flagNames, readFlags, SEEN } from '../../src/accounts/flags.ts';
import { createFolder, findFolder } from '../../src/accounts/folders.ts';
import { stateOf } from '../../src/accounts/imap/account-state.ts';
import type { FolderState } from '../../src/accounts/imap/folder-state.ts';
import { findKeywords } from '../../src/accounts/keyword-store.ts';
import { listSummaries } from '../../src/accounts/message-store.ts';
import { settleFlags } from '../../src/accounts/settle-flags.ts';
import { countTurns } from '../support/count-turns.ts';
import { createRandom } from '../support/random.ts';
import { addTestMessages, messageOf, openTestAccount } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());

const NAMES = ['\\Seen', '\\Flagged', '\\Deleted', '$a', '$B', '$b', 'c'];
const MESSAGES = 12;

type Known = { uid: number; names: string[]; modseq: number };

/** Changes one message as RFC 9051 section 6.4.6 says. Returns false when it has these flags already. */
function changeOne(one: Known, { action, names }: FlagChange): boolean {
  const lower = new Set(names.map((name) => name.toLowerCase()));
  const kept = one.names.filter(
    (name) => action === 'add' || (action === 'remove' && !lower.has(name.toLowerCase())),
  );
  const after = flagNames(readFlags([...kept, ...(action === 'remove' ? [] : names)]));
  const isChanged = after.join() !== one.names.join();
  one.names = after;
  return isChanged;
}

async function stored(folderId: number): Promise<Known[]> {
  const { read } = account.db;
  const rows = await listSummaries(read, { folderId, uidFrom: 1, uidTo: MESSAGES + 9 });
  return await Promise.all(
    rows.map(async ({ uid, flags, keywordSetId, modseq }) => ({
      uid,
      names: flagNames({ flags, keywords: await findKeywords(read, keywordSetId) }),
      modseq,
    })),
  );
}

const inMemory = ({ count, uids, flags, keywordSetIds, modseqs }: FolderState) =>
  Array.from({ length: count }, (_, at) => [uids[at], flags[at], keywordSetIds[at], modseqs[at]]);

async function inDatabase(folderId: number) {
  const rows = await listSummaries(account.db.read, { folderId, uidFrom: 1, uidTo: MESSAGES });
  return rows.map(({ uid, flags, keywordSetId, modseq }) => [uid, flags, keywordSetId, modseq]);
}

function randomChange(
  random: (limit: number) => number,
  folderId: number,
  known: readonly Known[],
): FlagChange {
  const from = 1 + random(MESSAGES);
  const first = { uidFrom: from, uidTo: from + random(MESSAGES) };
  const ranges = random(3) === 0 ? [first, { uidFrom: first.uidTo + 2, uidTo: first.uidTo + 4 }] : [first];
  return {
    folderId,
    ranges,
    action: (['replace', 'add', 'remove'] as const)[random(3)]!,
    names: Array.from({ length: random(3) }, () => NAMES[random(NAMES.length)]!),
    unchangedSince: random(3) === 0 ? known[random(known.length)]!.modseq : undefined,
  };
}

test('random changes give the flags, modseqs and counts of a simple model, in the database and in memory', async () => {
  const random = createRandom(5);
  const { id: folderId } = await createFolder(account, 'random', null);
  await addTestMessages(
    account,
    'random',
    Array.from({ length: MESSAGES }, (_, index) => messageOf(`${index}`)),
  );
  const state = (await stateOf(account).enter(folderId))!;
  const known = await stored(folderId);
  const seen = { changes: 0, none: 0, modified: 0, pending: 0 };
  for (let turn = 0; turn < 400; turn++) {
    const change = randomChange(random, folderId, known);
    const edits = random(4) > 0 ? makePlainEdits(change) : undefined;
    const publish = (done: FlagsChanged | undefined) => {
      if (done?.modseq !== undefined)
        account.changes.publish({ kind: 'flags', folderId, modseq: done.modseq, edits: done.edits });
    };
    const foreseen = edits && { folderId, edits, foreseen: state.foresee(edits) };
    const atOnce = foreseen && (await account.db.commit(changeForeseenFlags, foreseen, publish));
    const outcome = atOnce ?? (await account.db.commit(changeFlags, change, publish));
    const { modseq, modified, isPending } = outcome;
    // Several changes wait for their rows, or none.
    const isSettled = random(3) === 0;
    if (isSettled) await settleFlags(account, folderId);
    const asked = known.filter(({ uid }) =>
      change.ranges.some(({ uidFrom, uidTo }) => uidFrom <= uid && uid <= uidTo),
    );
    const newer = asked.filter((one) => one.modseq > (change.unchangedSince ?? Number.POSITIVE_INFINITY));
    assert.deepEqual(
      modified,
      newer.map(({ uid }) => uid),
    );
    const changed = asked.filter((one) => !newer.includes(one) && changeOne(one, change));
    assert.equal(modseq === undefined, changed.length === 0);
    for (const one of changed) one.modseq = modseq!;
    if (isSettled) assert.deepEqual(await stored(folderId), known, JSON.stringify(change));
    if (isSettled) assert.deepEqual(inMemory(state), await inDatabase(folderId));
    seen.pending += isPending ? 1 : 0;
    seen[changed.length > 0 ? 'changes' : 'none']++;
    seen.modified += modified.length;
  }
  assert.ok(Math.min(...Object.values(seen)) > 20, JSON.stringify(seen));
  await settleFlags(account, folderId);
  assert.deepEqual(await stored(folderId), known);
  const rows = await listSummaries(account.db.read, { folderId, uidFrom: 1, uidTo: MESSAGES });
  const folder = (await findFolder(account, 'random'))!;
  const count = (flag: number) => rows.filter(({ flags }) => (flags & flag) !== 0).length;
  assert.equal(folder.unseenCount, MESSAGES - count(SEEN));
  assert.equal(folder.deletedCount, count(DELETED));
  assert.equal(folder.highestModseq, Math.max(...known.map(({ modseq }) => modseq)));
  assert.equal(state.highestModseq, folder.highestModseq);
});

test('a folder that was deleted is not changed', async () => {
  const change = {
    folderId: 999,
    ranges: [{ uidFrom: 1, uidTo: 9 }],
    action: 'add',
    names: ['\\Seen'],
  } as const;
  assert.deepEqual(await account.db.commit(changeFlags, { ...change, unchangedSince: undefined }), {
    modseq: undefined,
    edits: [],
    modified: [],
    isPending: false,
  });
});

test('other accounts go on while the flags of messages with different keywords change', async () => {
  const { id: folderId } = await createFolder(account, 'alternating', null);
  const messages = Array.from({ length: 400 }, (_, index) => {
    return { bytes: messageOf('same'), keywords: index % 2 === 0 ? ['even'] : ['odd'] };
  });
  const uids = await addTestMessages(account, 'alternating', messages);
  const change: FlagChange = {
    folderId,
    ranges: [{ uidFrom: uids[0] as number, uidTo: uids.at(-1) as number }],
    action: 'add',
    names: ['new', '\\Seen'],
    unchangedSince: undefined,
  };
  const endCount = countTurns();
  const { edits } = await account.db.commit(changeFlags, change);
  const turns = endCount();
  assert.equal(edits.length, 400);
  assert.ok(turns > 10, `${turns}`);
  // The second change looks at each message, and changes none.
  const endSecondCount = countTurns();
  assert.equal((await account.db.commit(changeFlags, change)).modseq, undefined);
  const turnsOfSecond = endSecondCount();
  assert.ok(turnsOfSecond > 5, `${turnsOfSecond}`);
});
