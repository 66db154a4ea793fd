import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { FolderChange } from '../../src/accounts/changes.ts';
import { MAX_NAME_CHARACTERS } from '../../src/accounts/folder.ts';
import {
  createFolder,
  deleteFolder,
  findFolder,
  INBOX,
  listFolders,
  MAX_FOLDERS,
  renameFolder,
  subscribe,
  unsubscribe,
} from '../../src/accounts/folders.ts';
import { findMessage } from '../../src/accounts/message-store.ts';
import { findAccountRow } from '../../src/accounts/store.ts';
import { addTestMessages, messageOf, openTestAccount } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());

/** Collects what is told about folders while a test runs. */
function watch() {
  const told: FolderChange[] = [];
  const stop = account.changes.subscribe('all', (change) => told.push(change));
  return { told, stop, kinds: () => told.map(({ kind }) => kind) };
}

const names = async (prefix: string) =>
  (await listFolders(account)).folders.map(({ name }) => name).filter((name) => name.startsWith(prefix));

test('creating a folder creates the levels above it', async () => {
  const watching = watch();
  const folder = await createFolder(account, 'made/b/c', '\\Important');
  assert.deepEqual(await names('made'), ['made', 'made/b', 'made/b/c']);
  assert.equal((await findFolder(account, 'made/b/c'))?.specialUse, '\\Important');
  assert.equal((await findFolder(account, 'made'))?.specialUse, null);
  assert.deepEqual(watching.kinds(), ['created', 'created', 'created']);
  assert.equal(watching.told[2]?.folderId, folder.id);
  watching.stop();
});

test('names that cannot be folders are refused', async () => {
  await assert.rejects(createFolder(account, 'INBOX'), { code: 'already_exists' });
  await assert.rejects(createFolder(account, 'other', '\\Sent'), { code: 'already_exists' });
  for (const name of [
    '',
    '/a',
    'a//b',
    'a/',
    'a\nb',
    '\ud800',
    'INBOX/inbox',
    'x'.repeat(MAX_NAME_CHARACTERS + 1),
  ])
    await assert.rejects(createFolder(account, name), { code: 'validation_error' }, JSON.stringify(name));
  await createFolder(account, 'y'.repeat(MAX_NAME_CHARACTERS));
  await createFolder(account, 'INBOX/Lists');
});

test('a folder that is created again has another UIDVALIDITY and MAILBOXID', async () => {
  const first = await createFolder(account, 'again');
  await deleteFolder(account, 'again');
  const second = await createFolder(account, 'again');
  assert.ok(second.uidValidity > first.uidValidity);
  assert.notEqual(second.objectId, first.objectId);
  assert.ok(second.id > first.id);
});

test('deleting a folder frees its space at once, and leaves those below it', async () => {
  await createFolder(account, 'deleted/below');
  const before = await findAccountRow(account.db.read);
  await addTestMessages(account, 'deleted', [messageOf('a'), messageOf('b')]);
  const watching = watch();
  await deleteFolder(account, 'deleted');
  assert.deepEqual(watching.kinds(), ['deleted']);
  watching.stop();
  assert.deepEqual(await names('deleted'), ['deleted/below']);
  const row = await findAccountRow(account.db.read);
  assert.deepEqual([row?.usedBytes, row?.messageCount], [before?.usedBytes, before?.messageCount]);
  await assert.rejects(deleteFolder(account, 'deleted'), { code: 'not_found' });
  await assert.rejects(deleteFolder(account, INBOX), { code: 'invalid_state' });
});

test('renaming moves the folders below, creates levels above, and keeps UIDVALIDITY and MAILBOXID', async () => {
  const { id, uidValidity, objectId } = await createFolder(account, 'old');
  await createFolder(account, 'old/x/y');
  await createFolder(account, 'older');
  const watching = watch();
  await renameFolder(account, 'old', 'up/new');
  assert.deepEqual(await names('old'), ['older']);
  assert.deepEqual(await names('up'), ['up', 'up/new', 'up/new/x', 'up/new/x/y']);
  const renamed = await findFolder(account, 'up/new');
  assert.deepEqual([renamed?.id, renamed?.uidValidity, renamed?.objectId], [id, uidValidity, objectId]);
  assert.deepEqual(watching.kinds(), ['created', 'renamed', 'renamed', 'renamed']);
  watching.stop();
});

test('a rename to a name that is taken, into itself, or of nothing is refused and changes nothing', async () => {
  await createFolder(account, 'r1/sub');
  await createFolder(account, 'r2');
  await assert.rejects(renameFolder(account, 'r1', 'r2'), { code: 'already_exists' });
  await assert.rejects(renameFolder(account, 'r1', 'r1'), { code: 'already_exists' });
  await assert.rejects(renameFolder(account, 'r1', 'r1/sub/deep'), { code: 'invalid_state' });
  await assert.rejects(renameFolder(account, 'nothing', 'r3'), { code: 'not_found' });
  await assert.rejects(renameFolder(account, 'r1', 'r3/'), { code: 'validation_error' });
  await createFolder(account, 'r4/sub');
  await deleteFolder(account, 'r4');
  await assert.rejects(renameFolder(account, 'r1', 'r4'), { code: 'already_exists' });
  assert.deepEqual(await names('r'), ['r1', 'r1/sub', 'r2', 'r4/sub']);
});

test('renaming INBOX moves its messages and leaves it empty', async () => {
  const uids = await addTestMessages(account, INBOX, [messageOf('1'), messageOf('2'), messageOf('3')]);
  const inbox = (await findFolder(account, INBOX))!;
  const told: FolderChange[] = [];
  account.changes.subscribe(inbox.id, (change) => told.push(change));
  await renameFolder(account, INBOX, 'saved/inbox');
  const empty = (await findFolder(account, INBOX))!;
  const saved = (await findFolder(account, 'saved/inbox'))!;
  assert.deepEqual([empty.messageCount, empty.unseenCount, empty.sizeBytes], [0, 0, 0]);
  assert.deepEqual(
    [empty.id, empty.uidValidity, empty.uidNext],
    [inbox.id, inbox.uidValidity, inbox.uidNext],
  );
  assert.deepEqual(
    [saved.messageCount, saved.unseenCount, saved.sizeBytes, saved.uidNext],
    [inbox.messageCount, inbox.unseenCount, inbox.sizeBytes, inbox.uidNext],
  );
  assert.ok(saved.uidValidity > inbox.uidValidity);
  const [expunged, ...others] = told;
  assert.partialDeepStrictEqual(expunged, { folderId: inbox.id, modseq: empty.highestModseq });
  assert.ok(expunged?.kind === 'expunged' && others.length === 0);
  assert.deepEqual(
    expunged.messages.map(({ uid }) => uid),
    uids,
  );
  assert.ok(await findMessage(account.db.read, { folderId: saved.id, uid: uids[0]! }));
  const ranges = await account.db.read
    .selectFrom('expunged')
    .selectAll()
    .where('folderId', '=', inbox.id)
    .execute();
  assert.deepEqual(ranges, [
    { folderId: inbox.id, modseq: empty.highestModseq, uidFrom: uids[0], uidTo: uids[2] },
  ]);
  assert.deepEqual(await addTestMessages(account, INBOX, [messageOf('4')]), [inbox.uidNext]);
  await assert.rejects(renameFolder(account, INBOX, 'saved/inbox'), { code: 'already_exists' });
});

test('subscriptions are names of their own', async () => {
  await subscribe(account, 'no such folder');
  await subscribe(account, 'no such folder');
  const subscribed = async () => (await listFolders(account)).subscriptions;
  assert.ok((await subscribed()).includes('no such folder'));
  await unsubscribe(account, 'no such folder');
  await unsubscribe(account, 'no such folder');
  assert.deepEqual(await subscribed(), ['Archive', 'Drafts', INBOX, 'Junk', 'Sent', 'Trash']);
});

test('the number of folders and of subscriptions is limited', async () => {
  const { length } = (await listFolders(account)).folders;
  await account.db.maintain((connection) => {
    const add = connection.prepare(
      `INSERT INTO folders (name, objectId, uidValidity, uidNext, highestModseq, messageCount, unseenCount, deletedCount, sizeBytes, recentFrom, tombstoneFloor, createdModseq)
       VALUES (?, '', 1, 1, 1, 0, 0, 0, 0, 1, 0, 1)`,
    );
    const subscribeTo = connection.prepare('INSERT INTO subscriptions VALUES (?)');
    connection.transaction(() => {
      for (let index = length; index < MAX_FOLDERS - 2; index++) add.run(`many ${index}`);
      for (let index = 6; index < MAX_FOLDERS; index++) subscribeTo.run(`many ${index}`);
    })();
  });
  await assert.rejects(createFolder(account, 'too/many/levels'), { code: 'validation_error' });
  await createFolder(account, 'just/enough');
  await assert.rejects(createFolder(account, 'more'), { code: 'validation_error' });
  await assert.rejects(subscribe(account, 'more'), { code: 'validation_error' });
});
