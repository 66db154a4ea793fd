import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Protocol } from '../../../src/accounts/protocols.ts';
import type { AppPasswordRow, MailboxRow } from '../../../src/db/mailbox-tables.ts';
import { showSecret } from '../../../src/mailboxes/app-passwords/secret.ts';
import { deleteAppPassword, findAppPasswordById } from '../../../src/mailboxes/app-passwords/store.ts';
import { renewLogin } from '../../../src/mailboxes/credential.ts';
import { updateMailbox } from '../../../src/mailboxes/store.ts';
import { addAppPassword } from '../fixtures.ts';
import { openLoginWorld, PASSWORD } from '../login-world.ts';

const env = { POSTRIDER_MAILBOXES_FAILURES_PER_ADDRESS: '3' };
const { world, clock, hashes, addAccount } = await openLoginWorld(env);
const { app, tenantId } = world;

/** A mailbox with an app password, and a login function for which nothing has failed yet. */
async function newAccount(fields: Partial<AppPasswordRow> = {}, mailboxFields: Partial<MailboxRow> = {}) {
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
  const { row, secret, login } = await newAccount();
  for (const text of [
    secret,
    showSecret(secret),
    ` ${showSecret(secret).toUpperCase().replaceAll('-', ' ')} `,
  ])
    assert.deepEqual(await login(text), [row.id, 0], text);
  assert.deepEqual(await login(PASSWORD), ['password', 1]);
});

test('an app password that is wrong, or is not for this use, costs and counts as much as a wrong password', async () => {
  const other = await newAccount();
  for (const [what, fields, use] of [
    ['another mailbox', {}, { password: other.secret }],
    ['its last character', {}, { password: `${'a'.repeat(35)}z` }],
    ['another protocol', { protocols: '["smtp"]' }, {}],
    ['another address', { allowedIps: '["198.51.100.0/24"]' }, {}],
    ['expired', { expiresAt: clock.now() }, {}],
    ['nobody', {}, { username: 'nobody@people.example' }],
  ] as [string, Partial<AppPasswordRow>, { password?: string; username?: string }][]) {
    const { login } = await newAccount(fields);
    const { password, ...options } = use;
    const failed = () => login(password, options);
    const again = [await failed(), await failed(), await failed(), await failed()];
    assert.deepEqual(again, [...Array.from({ length: 3 }, () => ['credentials', 1]), ['limited', 0]], what);
  }
});

test('an app password is used where it is allowed', async () => {
  const { row, login } = await newAccount({
    ...{ protocols: '["smtp"]', allowedIps: '["198.51.100.0/24"]', expiresAt: clock.now() + 1 },
  });
  assert.deepEqual(await login(undefined, { protocol: 'smtp', address: '198.51.100.7' }), [row.id, 0]);
});

test('without the login by password, only app passwords open a mailbox, and nobody can tell', async () => {
  const { mailbox, row, login } = await newAccount();
  assert.deepEqual(await login(PASSWORD), ['password', 1]);
  const change = { passwordLogin: 0 } as const;
  await app.db.commit(updateMailbox, { tenantId, id: mailbox.id, change, now: clock.now() });
  assert.deepEqual(await login(PASSWORD), ['credentials', 1], 'it is remembered no more');
  assert.deepEqual(await login('wrong horse'), ['credentials', 1]);
  assert.deepEqual(await login(), [row.id, 0]);
});

test('a login stands until its credential is revoked, expires or changes, or the mailbox is suspended', async () => {
  const { mailbox, row, secret, authenticate } = await newAccount({ expiresAt: clock.now() + 1_000 });
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
  const { row, login } = await newAccount();
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
