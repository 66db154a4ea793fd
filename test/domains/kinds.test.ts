/** What a domain may be (specification 2.2): an apex or a subdomain, for the API, for mailboxes or for both. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
after(() => world.close());

test('an apex domain and its subdomain are two domains, each with records at its own name', async () => {
  const ids = new Set<string>();
  for (const name of ['example.org', 'news.example.org']) {
    const { status, body } = await world.request('POST', '/v1/domains', { body: { name } });
    assert.deepEqual([status, body.name], [201, name]);
    const [spf, dkim, dmarc] = body.records;
    assert.deepEqual([spf.name, dmarc.name], [name, `_dmarc.${name}`]);
    assert.ok(dkim.name.endsWith(`._domainkey.${name}`));
    ids.add(body.id);
  }
  assert.equal(ids.size, 2);
});

test('a domain is for the API, for mailboxes or for both, and for the API unless it is said', async () => {
  for (const [given, shown] of [
    [undefined, 'api'],
    ['api', 'api'],
    ['mailbox', 'mailbox'],
    ['both', 'both'],
  ]) {
    const body = { name: `${given ?? 'none'}.example.net`, productType: given };
    const created = await world.request('POST', '/v1/domains', { body });
    assert.deepEqual([created.status, created.body.productType], [201, shown]);
    const got = await world.request('GET', `/v1/domains/${created.body.id}`);
    assert.equal(got.body.productType, shown);
  }
});
