import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noAccounts } from '../../../src/accounts/running-accounts.ts';
import { createApiServer } from '../../../src/api.ts';
import { findAppPasswordById, listAppPasswordsByHint } from '../../../src/mailboxes/app-passwords/store.ts';
import { createAuthenticator } from '../../../src/mailboxes/authenticate.ts';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../../support/test-app.ts';
import { addAppPassword, addMailbox } from '../fixtures.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());
const mailbox = await addMailbox(world);

const PATH = `/v1/mailboxes/${mailbox.id}/app-passwords`;
const ask = (method: TestMethod, path: string, body?: object) =>
  world.request(method, `${PATH}${path}`, { key: world.liveKey, ...(body && { body }) });
const authenticate = createAuthenticator(world.app);

async function loginWith(password: string): Promise<string> {
  const { address: username } = mailbox;
  const result = await authenticate({ username, password, address: '192.0.2.1', protocol: 'imap' });
  return 'refused' in result ? result.refused : 'accepted';
}

test('an app password is shown once, opens the mailbox, and is gone when it is revoked', async () => {
  const { status, body } = await ask('POST', '', { name: 'Phone' });
  const { password, ...shown } = body;
  assert.equal(status, 201, JSON.stringify(body));
  assert.match(password, /^(?:[0-9a-hjkmnp-tv-z]{4}-){8}[0-9a-hjkmnp-tv-z]{4}$/);
  assert.match(shown.id, /^apw_[0-9a-z]{26}$/);
  assert.deepEqual(shown, {
    id: shown.id,
    mailboxId: mailbox.id,
    memberId: null,
    name: 'Phone',
    protocols: ['imap', 'pop3', 'smtp', 'sieve'],
    hint: password.slice(0, 9).replace('-', ''),
    allowedIps: null,
    createdAt: '2027-01-15T08:00:00.000Z',
    lastUsedAt: null,
    expiresAt: null,
  });
  assert.deepEqual((await ask('GET', `/${shown.id}`)).body, shown);
  assert.deepEqual((await ask('GET', '')).body.data, [shown]);
  const row = await findAppPasswordById(world.app.db.read, shown.id);
  const stored = JSON.stringify(row);
  assert.ok(!stored.includes(password.slice(-9)) && !stored.includes(password.replaceAll('-', '').slice(9)));
  assert.equal(JSON.parse(row?.scramVerifiers ?? '').length, 2);
  assert.equal(await loginWith(password), 'accepted');
  assert.equal((await ask('DELETE', `/${shown.id}`)).status, 204);
  assert.equal((await ask('GET', `/${shown.id}`)).status, 404);
  assert.equal(await loginWith(password), 'credentials');
});

test('an app password is limited as the caller wants, and limits that make no sense are refused', async () => {
  const limits = {
    protocols: ['smtp', 'imap', 'smtp'],
    allowedIps: ['10.1.2.3/8'],
    expiresAt: '2030-01-01T01:00:00+01:00',
  };
  const { body } = await ask('POST', '', { name: 'Laptop', ...limits });
  const { protocols, allowedIps, expiresAt } = body;
  assert.deepEqual(
    [protocols, allowedIps, expiresAt],
    [['smtp', 'imap'], ['10.0.0.0/8'], '2030-01-01T00:00:00.000Z'],
  );
  for (const [wrong, param] of [
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ protocols: [] }, 'protocols'],
    [{ protocols: ['http'] }, 'protocols[0]'],
    [{ allowedIps: [] }, 'allowedIps'],
    [{ allowedIps: ['x'] }, 'allowedIps[0]'],
    [{ expiresAt: '2027-01-15T08:00:00Z' }, 'expiresAt'],
    [{ expiresAt: 'soon' }, 'expiresAt'],
  ] as const) {
    const refused = await ask('POST', '', { name: 'Laptop', ...wrong });
    const path = refused.body.error?.issues?.[0]?.path;
    assert.deepEqual([refused.status, path], [400, param], JSON.stringify(wrong));
  }
});

test('revoking ends the sessions of that app password alone', async () => {
  const ended: unknown[] = [];
  const server = await createApiServer(world.app, {
    accounts: {
      ...noAccounts,
      close: async () => assert.fail(),
      endSessions: async (...asked) => void ended.push(asked),
      configure: async () => assert.fail(),
    },
  });
  const { row } = await addAppPassword(world, mailbox);
  const headers = { authorization: `Bearer ${world.liveKey}` };
  await server.inject({ method: 'DELETE', url: `${PATH}/${row.id}`, headers });
  assert.deepEqual(ended, [[mailbox.id, row.id]]);
  await server.close();
});

test('app passwords go with their mailbox', async () => {
  const gone = await addMailbox(world, { address: 'gone@people.example' });
  const { row } = await addAppPassword(world, gone);
  await world.app.db.commit(endMailbox, { tenantId: world.tenantId, id: gone.id, now: clock.now() });
  assert.deepEqual(await listAppPasswordsByHint(world.app.db.read, row.hint), []);
  const path = `/v1/mailboxes/${gone.id}/app-passwords`;
  assert.equal((await world.request('GET', path)).status, 404);
  const posted = await world.request('POST', path, { key: world.liveKey, body: { name: 'Phone' } });
  assert.equal(posted.status, 404);
});
