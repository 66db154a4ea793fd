import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SEEN } from '../../../src/accounts/flags.ts';
import { findFolderByName } from '../../../src/accounts/folder-store.ts';
import { stateOf } from '../../../src/accounts/imap/account-state.ts';
import { FolderState, GONE } from '../../../src/accounts/imap/folder-state.ts';
import { removeUnused } from '../../../src/accounts/remove-unused.ts';
import type { MessageRow } from '../../../src/accounts/tables.ts';
import { message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { createRandom } from '../../support/random.ts';

const mail = await createAccountMail();
const open = openerOf(mail);

const FOLDER = {
  id: 1,
  name: 'x',
  objectId: 'F',
  uidValidity: 1,
  uidNext: 4,
  highestModseq: 3,
  specialUse: null,
  messageCount: 3,
  unseenCount: 3,
  deletedCount: 0,
  sizeBytes: 0,
  recentFrom: 1,
  tombstoneFloor: 0,
  createdModseq: 1,
};

function loaded(): FolderState {
  const state = new FolderState(FOLDER);
  state.load([1, 2, 3].map((uid) => ({ uid, contentId: 10 * uid, flags: 0, keywordSetId: 0, modseq: uid })));
  return state;
}

/** Replaces the flags of every message. */
const REPLACED = { uidFrom: 1, uidTo: 9, keptFlags: 0, keywordSetId: 0, unchangedSince: null };

const listed = ({ count, uids, flags, modseqs }: FolderState) =>
  Array.from({ length: count }, (_, index) => [uids[index], flags[index], modseqs[index]]);

test('a change that is older than what is known changes nothing', () => {
  const state = loaded();
  const change = (modseq: number, flags: number) =>
    state.apply({
      kind: 'flags',
      folderId: 1,
      modseq,
      edits: [{ ...REPLACED, uidFrom: 2, uidTo: 2, addedFlags: flags }],
    });
  change(9, 1);
  change(8, 4);
  assert.deepEqual(listed(state), [
    [1, 0, 1],
    [2, 1, 9],
    [3, 0, 3],
  ]);
  assert.equal(state.highestModseq, 9);
});

test('messages that were loaded already are not added again', () => {
  const state = loaded();
  const messages = [3, 4].map((uid) => ({ uid, contentId: 10 * uid, flags: 1, keywordSetId: 0, modseq: 5 }));
  state.apply({ kind: 'added', folderId: 1, modseq: 5, messages });
  assert.deepEqual(listed(state), [
    [1, 0, 1],
    [2, 0, 2],
    [3, 1, 5],
    [4, 1, 5],
  ]);
  assert.equal(state.uidNext, 5);
});

test('a state grows with its messages', () => {
  const state = loaded();
  for (let uid = 4; uid <= 500; uid++)
    state.apply({
      kind: 'added',
      folderId: 1,
      modseq: uid,
      messages: [{ uid, contentId: 10 * uid, flags: uid % 32, keywordSetId: 7, modseq: uid }],
    });
  assert.equal(state.count, 500);
  assert.deepEqual(listed(state)[499], [500, 500 % 32, 500]);
  assert.equal(state.contentIds[499], 5_000);
});

test('changes that arrive while a folder is loaded are applied', async () => {
  await mail.deliver('Sent', message('1'));
  const folder = await findFolderByName(mail.account.db.read, 'Sent');
  const folderId = folder?.id ?? 0;
  const shared = stateOf(mail.account);
  const entering = shared.enter(folderId);
  const modseq = 1_000_000;
  mail.account.changes.publish({
    kind: 'flags',
    folderId,
    modseq,
    edits: [{ ...REPLACED, addedFlags: 4 }],
  });
  const state = await entering;
  assert.deepEqual(state && listed(state), [[1, 4, modseq]]);
});

test('which messages are recent is stored when the last session has left', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  const stored = async () => (await findFolderByName(mail.account.db.read, mailbox))?.recentFrom;
  await ok(ask, 'UNSELECT');
  assert.equal(await stored(), 1);
  await ok(other.ask, 'UNSELECT');
  assert.equal(await stored(), 3);
});

test('the content of an expunged message is removed once nobody can read it', async (t) => {
  const { ask, connect } = await open(t, ['1']);
  const other = await connect();
  const { read } = mail.account.db;
  const { id } = await read
    .selectFrom('contents')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const exists = async () =>
    (await read.selectFrom('contents').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  await removeUnused(mail.account);
  assert.match((await ok(other.ask, 'FETCH 1 BODY.PEEK[TEXT]')).join(), /body of 1/);
  await ok(other.ask, 'NOOP');
  await removeUnused(mail.account);
  assert.equal(await exists(), false);
});

test('EXPUNGE and MOVE leave tombstones as ranges, with the modseq of the folder', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2', '3', '4', '5']);
  await ok(ask, 'STORE 1,2,4 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  const { read } = mail.account.db;
  const tombstones = async () => {
    const folder = await findFolderByName(read, mailbox);
    const rows = await read
      .selectFrom('expunged')
      .select(['modseq', 'uidFrom', 'uidTo'])
      .where('folderId', '=', folder?.id ?? 0)
      .orderBy('uidFrom')
      .execute();
    return rows.map(({ modseq, uidFrom, uidTo }) => [modseq === folder?.highestModseq, uidFrom, uidTo]);
  };
  assert.deepEqual(await tombstones(), [
    [true, 1, 2],
    [true, 4, 4],
  ]);
  await ok(ask, 'MOVE 1 INBOX');
  assert.deepEqual((await tombstones()).slice(1, 2), [[true, 3, 3]]);
});

test('when tombstones were forgotten, VANISHED (EARLIER) names all UIDs that do not exist', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2', '3', '4'], 'ENABLE QRESYNC');
  await ok(ask, 'STORE 2,4 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  const folder = await findFolderByName(mail.account.db.read, mailbox);
  const { id = 0, highestModseq = 0 } = folder ?? {};
  await mail.account.db.maintain((connection) => {
    connection.prepare('DELETE FROM expunged WHERE folderId = ?').run(id);
    connection.prepare('UPDATE folders SET tombstoneFloor = ? WHERE id = ?').run(highestModseq, id);
  });
  const vanished = async (modseq: number) =>
    (await ok(ask, `UID FETCH 1:* FLAGS (CHANGEDSINCE ${modseq} VANISHED)`))[0];
  assert.equal(await vanished(highestModseq - 1), '* VANISHED (EARLIER) 2,4');
  assert.equal(await vanished(highestModseq), undefined);
});

test('VANISHED (EARLIER) leaves out messages that still have sequence numbers', async (t) => {
  const { ask, connect } = await open(t, ['1', '2', '3'], 'ENABLE QRESYNC');
  const other = await connect('ENABLE QRESYNC');
  await ok(ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  const lines = await ok(other.ask, 'UID FETCH 1:* UID (CHANGEDSINCE 1 VANISHED)');
  assert.deepEqual(
    lines.filter((line) => line.includes('VANISHED')),
    ['* VANISHED 2'],
  );
});

test('the first unseen message is found, whatever was changed, added and removed', () => {
  const random = createRandom(3);
  const state = loaded();
  let [modseq, lastUid] = [10, 3];
  const found = { some: 0, none: 0 };
  for (let turn = 0; turn < 600; turn++) {
    modseq++;
    const uid = 1 + random(lastUid);
    const kind = random(4);
    const row = { folderId: 1, uid, contentId: 10 * uid } as MessageRow;
    if (kind === 0 && random(2) === 0) {
      lastUid++;
      const added = { uid: lastUid, contentId: lastUid, flags: random(2), keywordSetId: 0, modseq };
      state.apply({ kind: 'added', folderId: 1, modseq, messages: [added] });
    } else if (kind === 1) state.apply({ kind: 'expunged', folderId: 1, modseq, messages: [row] });
    else {
      const addedFlags = random(2);
      const edit = { uidFrom: uid, uidTo: uid + random(9), keptFlags: random(2), addedFlags };
      state.apply({
        kind: 'flags',
        folderId: 1,
        modseq,
        edits: [{ ...edit, keywordSetId: null, unchangedSince: null }],
      });
    }
    if (random(9) === 0) state.forgetRemoved();
    const index = state.flags.subarray(0, state.count).findIndex((flags) => (flags & (SEEN | GONE)) === 0);
    assert.equal(state.findFirstUnseen(), index < 0 ? undefined : state.uids[index]);
    found[index < 0 ? 'none' : 'some']++;
  }
  assert.ok(Math.min(found.some, found.none) > 50, JSON.stringify(found));
});

test('SELECT names the keywords of messages that were loaded, added and changed', async (t) => {
  const { mailbox, ask, deliver } = await open(t, ['1']);
  const flags = async () => (await ok(ask, `SELECT ${mailbox}`)).find((line) => line.startsWith('* FLAGS'));
  await deliver(message('2'), { flags: ['$added'] });
  assert.match((await flags()) ?? '', /\$added/);
  await ok(ask, 'STORE 1 FLAGS ($changed)');
  assert.match((await flags()) ?? '', /\$added \$changed/);
});
