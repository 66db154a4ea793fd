/** Scripts as their owner manages them, through the session of a connection and the functions of the main thread. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import type { Account } from '../../src/mail/managesieve/session.ts';
import { createScriptSession } from '../../src/mailbox-access/listeners.ts';
import { createOpenLogins } from '../../src/mailbox-access/open-logins.ts';
import type { LoginRefusal } from '../../src/mailboxes/credential.ts';
import { createScriptCalls } from '../../src/mailboxes/script-calls.ts';
import { createScriptRunner } from '../../src/mailboxes/scripts/runner.ts';
import { MAX_SCRIPT_BYTES, MAX_SCRIPTS } from '../../src/mailboxes/scripts/store.ts';
import { endMailbox, findMailboxById, updateMailbox } from '../../src/mailboxes/store.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const CLIENT = { address: '192.0.2.1', port: 1, localAddress: '192.0.2.2', localPort: 4190, tls: undefined };

const world = await openTestApp();
const { app, tenantId } = world;
const scriptRunner = createScriptRunner(app);
const openLogins = createOpenLogins(app);
after(async () => {
  await scriptRunner.close();
  await world.close();
});
let mailboxes = 0;

/** Logs in to a new mailbox. */
async function open(): Promise<{ id: MailboxRow['id']; account: Account }> {
  const { id } = await addMailbox(world, { address: `owner${++mailboxes}@people.example` });
  const calls = createScriptCalls({ ...app, scriptRunner }, async () => {
    const mailbox = await findMailboxById(app.db.read, id);
    return mailbox ? { mailbox, credential: { kind: 'password' } } : { refused: 'credentials' };
  });
  const main = { ...calls, scramKey: () => assert.fail() };
  const account = await createScriptSession({ main, openLogins }).login({
    username: '',
    password: '',
    client: CLIENT,
  });
  if ('refused' in account) throw new Error(account.text);
  return { id, account };
}

test('an owner stores, lists, reads, activates, renames and deletes scripts', async () => {
  const { account } = await open();
  assert.match(account.owner, /^owner\d+@people\.example$/);
  assert.equal(await account.put('one', 'keep;'), undefined);
  assert.equal(await account.put('two', 'require "fileinto"; fileinto "Lists";'), undefined);
  assert.equal(await account.setActive('two'), undefined);
  assert.deepEqual(await account.list(), [
    { name: 'one', isActive: false },
    { name: 'two', isActive: true },
  ]);
  assert.deepEqual(await account.get('one'), { content: 'keep;' });
  assert.match(JSON.stringify(await account.get('three')), /NONEXISTENT/);
  assert.match(JSON.stringify(await account.rename('two', 'one')), /ALREADYEXISTS/);
  assert.match(JSON.stringify(await account.delete('two')), /ACTIVE/);
  assert.equal(await account.rename('two', 'three'), undefined);
  assert.equal(await account.setActive(''), undefined);
  assert.equal(await account.delete('three'), undefined);
  assert.match(JSON.stringify(await account.setActive('three')), /NONEXISTENT/);
});

test('a script that is not correct is refused with the place of its error, and the old one stays', async () => {
  const { account } = await open();
  await account.put('one', 'keep;');
  const refusal = await account.put('one', 'keep;\r\nif {');
  assert.match(refusal?.text ?? '', /^line 2, column 5: /);
  assert.match(
    (await account.check('require "convert"; keep;'))?.text ?? '',
    /^line 1, column \d+: .*convert/,
  );
  assert.match((await account.check(''))?.text ?? '', /empty/);
  assert.deepEqual(await account.get('one'), { content: 'keep;' });
});

test('names and sizes have limits, of which the owner is told', async () => {
  const { account } = await open();
  for (const refuse of [
    account.put('a\u2028b', 'keep;'),
    account.haveSpace('', 1),
    account.rename('one', 'a\n'),
  ])
    assert.match((await refuse)?.text ?? '', /name/);
  const large = `keep; #${'x'.repeat(MAX_SCRIPT_BYTES)}`;
  for (const refuse of [account.put('a', large), account.check(large), account.haveSpace('a', large.length)])
    assert.equal((await refuse)?.code, 'QUOTA/MAXSIZE');
  for (let index = 0; index < MAX_SCRIPTS; index++) await account.put(`${index}`, 'keep;');
  assert.equal((await account.put('more', 'keep;'))?.code, 'QUOTA/MAXSCRIPTS');
});

test('a login ends with its password, with a suspension, and with its mailbox', async () => {
  const changes: ((id: MailboxRow['id']) => Promise<unknown>)[] = [
    (id) => app.db.commit(updateMailbox, { tenantId, id, change: { passwordHash: 'other' }, now: 1 }),
    (id) => app.db.commit(updateMailbox, { tenantId, id, change: { status: 'suspended' }, now: 1 }),
    (id) => app.db.commit(endMailbox, { tenantId, id, now: 1 }),
  ];
  for (const change of changes) {
    const { id, account } = await open();
    assert.equal(await account.put('one', 'keep;'), undefined);
    await change(id);
    app.wakeups.notify('logins', [id]);
    assert.equal((await account.ended)?.refused, 'BYE');
    assert.deepEqual(await account.list(), { refused: 'BYE', text: 'The login does not stand any more' });
  }
});

test('the thread of the connections gets nothing by which a password could be guessed', async () => {
  const { id } = await addMailbox(world, { address: 'secret@people.example', passwordHash: 'stored hash' });
  const mailbox = await findMailboxById(app.db.read, id);
  assert.ok(mailbox);
  const { loginToScripts } = createScriptCalls({ ...app, scriptRunner }, async () => ({
    mailbox,
    credential: { kind: 'password' },
  }));
  const request = { username: '', password: '', address: CLIENT.address, protocol: 'sieve' } as const;
  const answer = await loginToScripts(request);
  assert.ok('login' in answer);
  assert.deepEqual(Object.keys(answer.login), ['mailboxId', 'credential', 'passwordDigest']);
  assert.doesNotMatch(JSON.stringify(answer), /stored hash/);
});

test('an owner finds no script of another mailbox', async () => {
  const [{ account: one }, { account: two }] = [await open(), await open()];
  await one.put('mine', 'keep;');
  assert.deepEqual(await two.list(), []);
  for (const answer of [two.get('mine'), two.delete('mine'), two.setActive('mine'), two.rename('mine', 'b')])
    assert.match(JSON.stringify(await answer), /NONEXISTENT/);
});

test('each refusal of a login has a text', async () => {
  const refusals: LoginRefusal[] = ['credentials', 'limited', 'suspended', 'damaged', 'unavailable'];
  for (const refused of refusals) {
    const main: Parameters<typeof createScriptSession>[0]['main'] = {
      scramKey: () => assert.fail(),
      loginToScripts: async () => ({ refused }),
      manageScripts: async () => assert.fail(),
      findScriptLoginEnd: async () => assert.fail(),
    };
    const session = createScriptSession({ main, openLogins });
    const answer = await session.login({ username: 'a', password: 'b', client: CLIENT });
    assert.ok('refused' in answer && answer.text !== '', refused);
  }
});
