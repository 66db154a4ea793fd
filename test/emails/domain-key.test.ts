/** A key that is limited to one domain sees and changes only the mail of that domain. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Permission } from '../../src/db/tenant-tables.ts';
import type { Id } from '../../src/system/ids.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { emailBody, senderOf } from './fixtures.ts';

const spool = await openSpool();
const { body } = await spool.request('GET', '/v1/domains');
const domainId: Id<'dom'> = body.data[0].id;
const create = async (permission: Permission) => {
  const limits = { name: permission, mode: 'test', permission, domainId, expiresAt: null } as const;
  return (await createApiKey(spool.app, { tenantId: spool.tenantId, ...limits })).token;
};
const keys = {
  full_access: await create('full_access'),
  sending_access: await create('sending_access'),
  read_only: await create('read_only'),
};
const scheduledAt = new Date(spool.clock.now() + 3_600_000).toISOString();
const other = (await senderOf(() => spool).accepted({ scheduledAt })).id;
const own = (await senderOf(() => spool).accepted({ from: `ada@${SENDER_DOMAIN}`, scheduledAt })).id;
after(() => spool.close());

test('a domain-limited key retrieves and lists only mail of its domain, whatever its permission is', async () => {
  for (const key of Object.values(keys)) {
    assert.equal((await spool.request('GET', `/v1/emails/${own}`, { key })).body.id, own);
    assert.equal((await spool.request('GET', `/v1/emails/${other}`, { key })).status, 404);
    for (const query of ['', '?to=bob@rcpt.example', '?status=queued', `?from=${SENDER_DOMAIN}`]) {
      const { body } = await spool.request('GET', `/v1/emails${query}`, { key });
      assert.deepEqual(
        body.data.map(({ id }: { id: string }) => id),
        [own],
        query,
      );
    }
    const foreign = await spool.request('GET', '/v1/emails?from=sandbox.mx.postrider.example', { key });
    assert.deepEqual(foreign.body.data, []);
  }
});

test('a domain-limited key reschedules and cancels only mail of its domain', async () => {
  const scheduledAt = new Date(spool.clock.now() + 7_200_000).toISOString();
  for (const key of [keys.full_access, keys.sending_access]) {
    const refused = await spool.request('PATCH', `/v1/emails/${other}`, { key, body: { scheduledAt } });
    assert.equal(refused.status, 404);
    assert.equal((await spool.request('POST', `/v1/emails/${other}/cancel`, { key })).status, 404);
    const moved = await spool.request('PATCH', `/v1/emails/${own}`, { key, body: { scheduledAt } });
    assert.equal(moved.body.scheduledAt, scheduledAt);
  }
  assert.equal((await spool.request('GET', `/v1/emails/${other}`)).body.status, 'queued');
  const canceled = await spool.request('POST', `/v1/emails/${own}/cancel`, { key: keys.sending_access });
  assert.equal(canceled.body.status, 'canceled');
});

test('a domain-limited key does not learn by an Idempotency-Key what another key has sent from another domain', async () => {
  for (const subject of ['Hello', 'Another body']) {
    const ask = (key: string, body = emailBody()) =>
      spool.request('POST', '/v1/emails', { key, body, headers: { 'idempotency-key': 'shared' } });
    const first = await ask(spool.testKey);
    assert.equal(first.status, 200);
    const refused = await ask(keys.sending_access, emailBody({ subject }));
    assert.deepEqual([refused.status, refused.body.error.type], [403, 'restricted_api_key'], subject);
    assert.deepEqual((await ask(spool.testKey)).body, first.body);
  }
});

test('a refused batch of a domain-limited key is not replayed to another key with the same Idempotency-Key', async () => {
  const ask = (key: string) =>
    spool.request('POST', '/v1/emails/batch', {
      key,
      body: { emails: [emailBody()] },
      headers: { 'idempotency-key': 'order-1' },
    });
  const refused = await ask(keys.sending_access);
  assert.equal(refused.body.data[0].error.type, 'restricted_api_key');
  const sent = await ask(spool.testKey);
  assert.equal(sent.body.data[0].status, 'queued');
  assert.equal(sent.headers['idempotency-replayed'], undefined);
  assert.deepEqual((await ask(spool.testKey)).body, sent.body);
  assert.deepEqual((await ask(keys.sending_access)).body, refused.body);
});

test('a domain-limited key repeats its own requests', async () => {
  const body = { emails: [emailBody({ from: `ada@${SENDER_DOMAIN}` }), emailBody()] };
  const headers = { 'idempotency-key': 'its own' };
  const ask = () => spool.request('POST', '/v1/emails/batch', { key: keys.sending_access, body, headers });
  const first = await ask();
  const statuses = first.body.data.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ['queued', 'failed']);
  const again = await ask();
  assert.deepEqual([again.headers['idempotency-replayed'], again.body], ['true', first.body]);
});
