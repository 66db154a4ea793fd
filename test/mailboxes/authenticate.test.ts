import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { hashPassword } from '../../src/mailboxes/passwords/hash.ts';
import { endMailbox, findMailboxById, updateMailbox } from '../../src/mailboxes/store.ts';
import { recordLog } from '../support/record-log.ts';
import { openLoginWorld, PASSWORD } from './login-world.ts';
import { countHashes } from './passwords/counted-hashes.ts';

const { log, lines } = recordLog('info');
const env = { POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: '5', POSTRIDER_MAILBOXES_FAILURES_PER_ADDRESS: '3' };
const { world, clock, hashes, addAccount } = await openLoginWorld(env, { log });
const { app, tenantId } = world;

/** A mailbox with a login function of its own, for which nothing has failed yet. */
async function newAccount(fields: Partial<MailboxRow> = {}) {
  const { mailbox, authenticate } = await addAccount(fields);
  return {
    mailbox,
    /** Returns `accepted`, or the reason of the refusal. */
    async login(password = PASSWORD, { address = '192.0.2.1', username = mailbox.address } = {}) {
      const result = await authenticate({ username, password, address, protocol: 'imap' });
      return 'refused' in result ? result.refused : 'accepted';
    },
    authenticate,
  };
}

test('the right password opens the mailbox, under every spelling of its address', async () => {
  const { mailbox, login, authenticate } = await newAccount({
    address: 'Ann.Lee@people.example'.toLowerCase(),
  });
  for (const username of ['ann.lee@people.example', 'Ann.Lee@PEOPLE.example', ' ann.lee@people.example '])
    assert.equal(await login(PASSWORD, { username }), 'accepted', username);
  const result = await authenticate({
    ...{ username: mailbox.address, password: PASSWORD },
    ...{ address: '192.0.2.1', protocol: 'pop3' },
  });
  assert.ok('mailbox' in result);
  assert.deepEqual([result.mailbox.id, result.credential], [mailbox.id, { kind: 'password' }]);
  assert.equal(await login('correct Horse'), 'credentials');
});

test('a name in UTF-8 opens the mailbox in every case and composition', async () => {
  const { login } = await newAccount({ address: 'jürgen@people.example' });
  for (const username of ['jürgen@people.example', 'JÜRGEN@people.example', 'ju\u0308rgen@people.example'])
    assert.equal(await login(PASSWORD, { username }), 'accepted', username);
  assert.equal(await login(PASSWORD, { username: 'jurgen@people.example' }), 'credentials');
});

test('names that no mailbox has cost a hash, and the same refusal', async () => {
  const { login } = await newAccount();
  for (const [index, username] of [
    'nobody@people.example',
    'nobody',
    '',
    '\u0000',
    'a'.repeat(5_000),
  ].entries()) {
    assert.equal(await login(PASSWORD, { username, address: `192.0.2.${index}` }), 'credentials');
    assert.equal(hashes.take().length, 1, username);
  }
});

test('a right password is remembered for ten minutes, and a wrong one never', async () => {
  const { login } = await newAccount();
  const cost = async (password?: string) => {
    await login(password);
    return hashes.take().length;
  };
  assert.deepEqual([await cost(), await cost()], [1, 0]);
  assert.deepEqual([await cost('wrong horse'), await cost('wrong horse')], [1, 1]);
  await clock.advance(599_999);
  assert.equal(await cost(), 0);
  await clock.advance(1);
  assert.equal(await cost(), 1);
});

test('a password that was changed is wrong at once, and so is that of a deleted mailbox', async () => {
  const { mailbox, login } = await newAccount();
  const { id } = mailbox;
  assert.equal(await login(), 'accepted');
  const other = await hashPassword('battery staple', '');
  await app.db.commit(updateMailbox, { tenantId, id, change: { passwordHash: other }, now: clock.now() });
  assert.equal(await login(), 'credentials');
  assert.equal(await login('battery staple'), 'accepted');
  await app.db.commit(endMailbox, { tenantId, id, now: clock.now() });
  assert.equal(await login('battery staple'), 'credentials');
});

test('a mailbox that changes while its password is hashed is not opened', async (t) => {
  const held = countHashes();
  t.after(held.restore);
  for (const [change, expected] of [
    [{ status: 'suspended' }, 'suspended'],
    [{ passwordHash: 'other' }, 'credentials'],
  ] as const) {
    const { mailbox, login } = await newAccount();
    held.hold();
    const result = login();
    while (held.take().length === 0) await new Promise(setImmediate);
    await app.db.commit(updateMailbox, { tenantId, id: mailbox.id, change, now: clock.now() });
    held.release();
    assert.equal(await result, expected);
  }
});

test('only who knows the password learns that a mailbox is suspended or damaged', async () => {
  for (const status of ['suspended', 'damaged'] as const) {
    const { login } = await newAccount({ status });
    assert.deepEqual([await login(), await login('wrong horse')], [status, 'credentials']);
  }
});

test('an address is refused after its failures, also with the right password, and is allowed one more each time', async () => {
  const { login } = await newAccount();
  for (let failure = 0; failure < 3; failure++) assert.equal(await login('wrong'), 'credentials');
  hashes.take();
  assert.deepEqual([await login('wrong'), await login()], ['limited', 'limited']);
  assert.equal(hashes.take().length, 0, 'a refused attempt costs no hash');
  assert.equal(await login(PASSWORD, { address: '192.0.2.2' }), 'accepted', 'from another address');
  await clock.advance(200_000);
  assert.deepEqual(
    [await login(), await login(), await login('wrong'), await login()],
    [...['accepted', 'accepted', 'credentials', 'limited']],
  );
});

test('an account is refused after its failures, except where its owner has logged in before', async () => {
  const { login } = await newAccount();
  const home = { address: '2001:db8:1:1::5' };
  assert.equal(await login(PASSWORD, home), 'accepted');
  for (let failure = 0; failure < 5; failure++)
    assert.equal(await login('wrong', { address: `198.51.100.${failure}` }), 'credentials');
  assert.equal(await login('wrong', { address: '198.51.100.9' }), 'limited');
  assert.equal(await login(PASSWORD, { address: '198.51.100.10' }), 'limited');
  assert.equal(await login(PASSWORD, { address: '2001:db8:1:1::6' }), 'accepted');
});

test('failures of long names count under their beginning, which bounds the memory that a name takes', async () => {
  const { login } = await newAccount();
  const long = (end: string) => 'A'.repeat(4_000) + end;
  lines.length = 0;
  for (let failure = 0; failure < 5; failure++)
    await login('wrong', { username: long(`${failure}`), address: `198.51.100.${failure}` });
  assert.equal(await login('wrong', { username: long('x'), address: '198.51.100.9' }), 'limited');
  assert.deepEqual(
    lines.map(({ account }) => account),
    Array(5).fill('a'.repeat(254)),
  );
});

test('many attempts at once are no more attempts', async () => {
  const { login } = await newAccount();
  const results = await Promise.all(Array.from({ length: 20 }, () => login('wrong')));
  const failed = results.filter((result) => result === 'credentials').length;
  assert.ok(failed >= 3 && failed <= 4, `${failed} of them were compared`);
  assert.equal(results.filter((result) => result === 'limited').length, 20 - failed);
});

test('an address has at most 100 unfinished logins, and others still log in', async () => {
  const { login } = await newAccount();
  const others = Array.from({ length: 105 }, () => login('wrong', { address: '203.0.113.1' }));
  assert.equal(await login(PASSWORD, { address: '203.0.113.2' }), 'accepted');
  const results = await Promise.all(others);
  assert.equal(results.filter((result) => result === 'unavailable').length, 5);
});

test('logins are recorded once a minute, and failures are logged with their address', async () => {
  const { mailbox, login } = await newAccount();
  const lastLogin = async () => {
    await new Promise(setImmediate);
    await app.db.commit(updateMailbox, { tenantId, id: mailbox.id, change: {}, now: 0 });
    return (await findMailboxById(app.db.read, mailbox.id))?.lastLoginAt;
  };
  await login();
  const first = clock.now();
  assert.equal(await lastLogin(), first);
  await clock.advance(59_999);
  await login();
  assert.equal(await lastLogin(), first);
  await clock.advance(1);
  await login();
  assert.equal(await lastLogin(), first + 60_000);
  lines.length = 0;
  await login('a secret typo', { address: '192.0.2.7' });
  const [line] = lines;
  assert.deepEqual([line?.['account'], line?.['address']], [mailbox.address, '192.0.2.7']);
  assert.ok(!JSON.stringify(lines).includes('typo'));
});
