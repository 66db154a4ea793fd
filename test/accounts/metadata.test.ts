import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { readAnnotations } from '../../src/accounts/deliver.ts';
import { createFolder, deleteFolder, findFolder, INBOX, renameFolder } from '../../src/accounts/folders.ts';
import { setMetadata } from '../../src/accounts/metadata.ts';
import { listEntries } from '../../src/accounts/metadata-store.ts';
import { MAX_ENTRIES, MAX_VALUE_OCTETS } from '../../src/mail/imap/metadata.ts';
import { startServer } from '../mail/imap/fixture.ts';
import { createAccountMail } from '../support/account-mail.ts';
import { openTestAccount } from '../support/test-account.ts';

async function open(t: TestContext) {
  const account = await openTestAccount();
  t.after(() => account.close());
  const set = (mailbox: string, names: readonly string[], value: Uint8Array | undefined) =>
    setMetadata(account, { mailbox, entries: names.map((entry) => ({ entry, value })) });
  return { account, set };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `/private/${index}`);

test('all annotations of an account have a maximum size, which the copies of a renamed INBOX keep too', async (t) => {
  const { account, set } = await open(t);
  const large = Buffer.alloc(MAX_VALUE_OCTETS, 'x');
  assert.equal(await set(INBOX, numbered(MAX_ENTRIES), large), undefined);
  await renameFolder(account, INBOX, 'first');
  const first = await findFolder(account, 'first');
  assert.equal((await listEntries(account.db.read, first?.id ?? 0)).length, MAX_ENTRIES);
  await assert.rejects(renameFolder(account, INBOX, 'second'), { code: 'validation_error' });
  assert.equal(await findFolder(account, 'second'), undefined);
  assert.deepEqual(await set('', numbered(60), large), { refused: 'octets' });
  assert.equal(await set('', numbered(50), large), undefined);
  // Smaller values and removals are allowed, because they make room.
  assert.equal(await set(INBOX, ['/private/0'], Buffer.from('small')), undefined);
  assert.equal(await set(INBOX, numbered(20), undefined), undefined);
});

test('scripts see the annotations of a folder and of the server, the long ones cut', async (t) => {
  const { account, set } = await open(t);
  await set(INBOX, ['/private/comment'], Buffer.from('für mich'));
  await set('', ['/shared/admin'], Buffer.alloc(10_000, 'x'));
  assert.deepEqual(await readAnnotations(account, INBOX), [{ entry: '/private/comment', value: 'für mich' }]);
  assert.deepEqual(await readAnnotations(account, ''), [
    { entry: '/shared/admin', value: 'x'.repeat(8_192) },
  ]);
  assert.deepEqual(await readAnnotations(account, 'none'), []);
});

test('the annotations of a folder are removed with it', async (t) => {
  const { account, set } = await open(t);
  const { id } = await createFolder(account, 'gone');
  await set('gone', numbered(3), Buffer.from('x'));
  await deleteFolder(account, 'gone');
  assert.deepEqual(await listEntries(account.db.read, id), []);
});

test('an account sees nothing of the annotations of another one, and is told nothing', async (t) => {
  const [one, other] = [await createAccountMail(), await createAccountMail()];
  const asker = await (await startServer(t, { mail: one })).open();
  const watcher = await (await startServer(t, { mail: other })).open('ENABLE METADATA');
  await asker.ask('SETMETADATA "" (/shared/comment "mine")');
  await asker.ask('SETMETADATA INBOX (/shared/comment "mine")');
  assert.deepEqual(await watcher.ask('NOOP'), ['OK NOOP completed']);
  for (const mailbox of ['""', 'INBOX'])
    assert.deepEqual(await watcher.ask(`GETMETADATA ${mailbox} /shared/comment`), [
      `* METADATA ${mailbox} (/shared/comment NIL)`,
      'OK GETMETADATA completed',
    ]);
});

test('a session is told of a limited number of names, under the names that folders have now', async (t) => {
  const mail = await createAccountMail();
  const { account } = mail;
  const watcher = await (await startServer(t, { mail })).open('ENABLE METADATA');
  const set = (mailbox: string, entry: string, text?: string) =>
    setMetadata(account, { mailbox, entries: [{ entry, value: text ? Buffer.from(text) : undefined }] });
  for (const name of ['gone', 'kept']) await createFolder(account, name);
  await set('gone', '/private/a', 'x');
  await set('kept', '/private/a', 'x');
  await renameFolder(account, 'gone', 'kept2');
  assert.deepEqual((await watcher.ask('NOOP')).slice(0, -1), [
    '* METADATA kept2 /private/a',
    '* METADATA kept /private/a',
  ]);
  const value = Buffer.from('x');
  for (let round = 0; round < 11; round++) {
    const some = numbered(MAX_ENTRIES - 1).map((entry) => ({ entry: `${entry}/${round}`, value }));
    await setMetadata(account, { mailbox: 'kept', entries: some });
    await setMetadata(account, {
      mailbox: 'kept',
      entries: some.map(({ entry }) => ({ entry, value: undefined })),
    });
  }
  const names = (await watcher.ask('NOOP'))[0]?.split(' ').slice(3);
  assert.deepEqual([names?.length, names?.[0]], [1_000, '/private/89/0']);
});
