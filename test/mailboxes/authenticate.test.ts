import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Protocol } from '../../src/accounts/protocols.ts';
import type { AppPasswordRow, MailboxRow } from '../../src/db/mailbox-tables.ts';
import { showSecret } from '../../src/mailboxes/app-passwords/secret.ts';
import { deleteAppPassword, findAppPasswordById } from '../../src/mailboxes/app-passwords/store.ts';
import { renewLogin } from '../../src/mailboxes/credential.ts';
import { findMailboxById, updateMailbox } from '../../src/mailboxes/store.ts';
import { recordLog } from '../support/record-log.ts';
import { addAppPassword } from './fixtures.ts';
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

/** A mailbox with an app password, and a login function for which nothing has failed yet. */
async function newKeyAccount(fields: Partial<AppPasswordRow> = {}, mailboxFields: Partial<MailboxRow> = {}) {
  const { mailbox, authenticate } = await addAccount(mailboxFields);
  const { row, secret } = await addAppPassword(world, mailbox, fields);
  hashes.take();
  /** Returns what a login came to, and the number of slow hashes that it took. */
  async function login(
    password = secret,
    { username = mailbox.address, address: from = '192.0.2.1', protocol = 'imap' as Protocol } = {},
  ) {
    const result = await authenticate({ username, password, address: from, protocol });
    const what =
      'refused' in result
        ? result.refused
        : result.credential.kind === 'password'
          ? 'password'
          : result.credential.row.id;
    return [what, hashes.take().length];
  }
  return { mailbox, row, secret, authenticate, login };
}

test('an app password opens its mailbox without a slow hash, in any case and with any spaces and hyphens', async () => {
  const { row, secret, login } = await newKeyAccount();
  for (const text of [
    secret,
    showSecret(secret),
    ` ${showSecret(secret).toUpperCase().replaceAll('-', ' ')} `,
  ])
    assert.deepEqual(await login(text), [row.id, 0], text);
  assert.deepEqual(await login(PASSWORD), ['password', 1]);
});

test('an app password that is wrong, or is not for this use, costs and counts as much as a wrong password', async () => {
  const other = await newKeyAccount();
  for (const [what, fields, use] of [
    ['another mailbox', {}, { password: other.secret }],
    ['its last character', {}, { password: `${'a'.repeat(35)}z` }],
    ['another protocol', { protocols: '["smtp"]' }, {}],
    ['another address', { allowedIps: '["198.51.100.0/24"]' }, {}],
    ['expired', { expiresAt: clock.now() }, {}],
    ['nobody', {}, { username: 'nobody@people.example' }],
  ] as [string, Partial<AppPasswordRow>, { password?: string; username?: string }][]) {
    const { login } = await newKeyAccount(fields);
    const { password, ...options } = use;
    const failed = () => login(password, options);
    const again = [await failed(), await failed(), await failed(), await failed()];
    assert.deepEqual(again, [...Array.from({ length: 3 }, () => ['credentials', 1]), ['limited', 0]], what);
  }
});

test('an app password is used where it is allowed', async () => {
  const { row, login } = await newKeyAccount({
    ...{ protocols: '["smtp"]', allowedIps: '["198.51.100.0/24"]', expiresAt: clock.now() + 1 },
  });
  assert.deepEqual(await login(undefined, { protocol: 'smtp', address: '198.51.100.7' }), [row.id, 0]);
});

test('without the login by password, only app passwords open a mailbox, and nobody can tell', async () => {
  const { mailbox, row, login } = await newKeyAccount();
  assert.deepEqual(await login(PASSWORD), ['password', 1]);
  const change = { passwordLogin: 0 } as const;
  await app.db.commit(updateMailbox, { tenantId, id: mailbox.id, change, now: clock.now() });
  assert.deepEqual(await login(PASSWORD), ['credentials', 1], 'it is remembered no more');
  assert.deepEqual(await login('wrong horse'), ['credentials', 1]);
  assert.deepEqual(await login(), [row.id, 0]);
});

test('a login stands until its credential is revoked, expires or changes, or the mailbox is suspended', async () => {
  const { mailbox, row, secret, authenticate } = await newKeyAccount({ expiresAt: clock.now() + 1_000 });
  const loginWith = async (password: string) => {
    const { address: username } = mailbox;
    const login = await authenticate({ username, password, address: '192.0.2.1', protocol: 'imap' });
    assert.ok('mailbox' in login);
    return async () => {
      const renewed = await renewLogin(app, login);
      return 'refused' in renewed ? renewed.refused : 'stands';
    };
  };
  const byApp = await loginWith(secret);
  const byPassword = await loginWith(PASSWORD);
  assert.deepEqual([await byApp(), await byPassword()], ['stands', 'stands']);
  const { id } = mailbox;
  const update = (change: object) => app.db.commit(updateMailbox, { tenantId, id, change, now: clock.now() });
  await update({ status: 'suspended' });
  assert.deepEqual([await byApp(), await byPassword()], ['suspended', 'suspended']);
  await update({ status: 'active', passwordLogin: 0 });
  assert.deepEqual([await byApp(), await byPassword()], ['stands', 'credentials']);
  await update({ passwordLogin: 1, passwordHash: 'other' });
  assert.deepEqual([await byApp(), await byPassword()], ['stands', 'credentials']);
  await clock.advance(1_000);
  assert.equal(await byApp(), 'credentials');
  const second = await addAppPassword(world, mailbox);
  const bySecond = await loginWith(second.secret);
  await app.db.commit(deleteAppPassword, { tenantId, mailboxId: id, id: second.row.id, now: 1 });
  assert.equal(await bySecond(), 'credentials');
  assert.ok(await findAppPasswordById(app.db.read, row.id), 'an expired one is still listed');
});

test('the last use of an app password is recorded once a minute', async () => {
  const { row, login } = await newKeyAccount();
  const lastUsedAt = async () => {
    await new Promise(setImmediate);
    await app.db.commit(updateMailbox, { tenantId, id: row.mailboxId, change: {}, now: 0 });
    return (await findAppPasswordById(app.db.read, row.id))?.lastUsedAt;
  };
  await login(PASSWORD);
  assert.equal(await lastUsedAt(), null);
  await login();
  const first = clock.now();
  assert.equal(await lastUsedAt(), first);
  await clock.advance(59_999);
  await login();
  assert.equal(await lastUsedAt(), first);
  await clock.advance(1);
  await login();
  assert.equal(await lastUsedAt(), first + 60_000);
});
