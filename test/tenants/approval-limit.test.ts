/** The mark `requiresApproval` counts as a limit of a key: it holds at every door, and the key cannot get rid of it. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { BEYOND_APPROVAL } from '../../src/features.ts';
import { approvingIn } from '../approvals/approving.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';

const spool = await openSpool();
const { clock, request, liveKey, testKey } = spool;
const { intern, decide } = approvingIn(spool);
const key = await intern('broadcasts_and_emails');
after(() => spool.close());
// Ids of one millisecond are in no order.
beforeEach(() => clock.advance(1));

const idOf = async (token: string): Promise<string> => {
  const { body } = await request('GET', '/v1/api-keys', { key: liveKey });
  return body.data.find(({ hint }: { hint: string }) => token.includes(hint)).id;
};

test('such a key manages no keys, itself included, but may revoke itself', async () => {
  const own = await intern('broadcasts');
  const id = await idOf(own);
  const body = { name: 'free', permission: 'full_access' };
  for (const [method, path, sent] of [
    ['POST', '/v1/api-keys', body],
    ['GET', '/v1/api-keys', undefined],
    ['GET', `/v1/api-keys/${id}`, undefined],
    ['PATCH', `/v1/api-keys/${id}`, { requiresApproval: null }],
  ] as const) {
    const answer = await request(method, path, { key: own, ...(sent && { body: sent }) });
    assert.deepEqual(
      [answer.status, answer.body.error.type],
      [403, 'restricted_api_key'],
      `${method} ${path}`,
    );
  }
  assert.equal((await request('DELETE', `/v1/api-keys/${id}`, { key: own })).status, 204);
});

test('a key without limits marks another and frees it again, at once', async () => {
  const body = { name: 'agent', permission: 'full_access' };
  const made = await request('POST', '/v1/api-keys', { key: liveKey, body });
  assert.equal(made.body.requiresApproval, null);
  const { id, token } = made.body;
  const change = (sent: object) => request('PATCH', `/v1/api-keys/${id}`, { key: liveKey, body: sent });
  const send = () => spool.accept('ann@readers.example', { key: token });
  assert.equal((await spool.email(await send())).approval, null);
  const marked = await change({ requiresApproval: 'broadcasts_and_emails' });
  assert.deepEqual([marked.body.name, marked.body.requiresApproval], ['agent', 'broadcasts_and_emails']);
  assert.equal((await spool.email(await send())).approval.state, 'pending');
  assert.equal((await change({ name: 'other' })).body.requiresApproval, 'broadcasts_and_emails');
  await change({ requiresApproval: null });
  assert.equal((await spool.email(await send())).approval, null);
});

test('such a key approves and declines nothing, and makes no passwords that send mail', async () => {
  const id = await spool.accept('ann@readers.example', { key });
  for (const decision of ['approve', 'decline'] as const) {
    const answer = await decide(`/emails/${id}`, decision, { key });
    assert.deepEqual([answer.status, answer.body.error.type], [403, 'restricted_api_key']);
  }
  const mailbox = await request('POST', '/v1/mailboxes', { key, body: { address: `ann@${SENDER_DOMAIN}` } });
  assert.equal(mailbox.status, 403);
  assert.equal((await spool.email(id)).approval.state, 'pending');
});

test('keys that only read or only send decide nothing', async () => {
  const id = await spool.accept('ann@readers.example', { key });
  for (const permission of ['read_only', 'sending_access'] as const) {
    const other = await spool.newKey({ mode: 'live', permission });
    assert.equal((await decide(`/emails/${id}`, 'approve', { key: other })).status, 403, permission);
  }
});

test('another tenant, another mode and another domain find nothing, and the domain of the mail does', async () => {
  const id = await spool.accept('ann@readers.example', { key });
  await spool.addDomain(liveKey, 'other.example');
  const domains = await request('GET', '/v1/domains', { key: liveKey });
  const domainKey = (name: string) =>
    spool.newKey({
      mode: 'live',
      domainId: domains.body.data.find((one: { name: string }) => one.name === name).id,
    });
  const stranger = await spool.addTenant('stranger');
  const [foreign, own] = [await domainKey('other.example'), await domainKey(SENDER_DOMAIN)];
  for (const other of [stranger.liveKey, testKey, foreign]) {
    const answer = await decide(`/emails/${id}`, 'approve', { key: other });
    assert.deepEqual([answer.status, answer.body.error.type], [404, 'not_found']);
    const listed = await request('GET', '/v1/approvals', { key: other });
    assert.ok(listed.body.data.every(({ emailId }: { emailId: string }) => emailId !== id));
  }
  const listed = await request('GET', '/v1/approvals?state=pending', { key: own });
  assert.equal(listed.body.data[0].emailId, id);
  assert.equal((await decide(`/emails/${id}`, 'approve', { key: own })).status, 200);
});

test('confirmation mail that such a key causes waits as its other mail does', async () => {
  const audience = await request('POST', '/v1/audiences', {
    key: liveKey,
    body: { name: 'Readers', optIn: { from: `ada@${SENDER_DOMAIN}` } },
  });
  const path = `/v1/audiences/${audience.body.id}/contacts`;
  const asked = async (as: string, email: string) => {
    const made = await request('POST', path, { key: as, body: { email, status: 'pending' } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const [row] = await spool.app.db.read
      .selectFrom('confirmationRequests')
      .select('askedBy')
      .where('contactId', '=', made.body.id)
      .execute();
    return row?.askedBy;
  };
  assert.equal(await asked(key, 'ann@readers.example'), await idOf(key));
  assert.equal(await asked(await intern('broadcasts'), 'bob@readers.example'), null);
});

test('each operation that such a key may not use exists', async () => {
  const { paths } = (await spool.openServer()).openApi();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const names = operations.map(({ operationId }) => operationId);
  for (const name of BEYOND_APPROVAL) assert.ok(names.includes(name), name);
});
