/** The content of an email takes its room before it is read, and before anything is changed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiServer } from '../../src/api.ts';
import { createByteBudget } from '../../src/system/guards/byte-budget.ts';
import { openSpool } from '../support/spool.ts';
import { senderOf } from './fixtures.ts';

const CONTENT_BYTES = 200_000;

const spool = await openSpool();
const budget = (largeBytes: number) => createByteBudget({ largeBytes, smallBytes: 0, share: 1 });
const narrow = await createApiServer(spool.app, {
  responses: { authenticated: budget(CONTENT_BYTES - 1), unauthenticated: budget(100_000) },
});
const half = 'ü'.repeat(CONTENT_BYTES / 4);
const scheduledAt = new Date(spool.clock.now() + 3_600_000).toISOString();
const { id } = await senderOf(() => spool).accepted({ html: half, text: half, scheduledAt });
after(async () => {
  await narrow.close();
  await spool.close();
});

async function ask(method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object) {
  const headers = { authorization: `Bearer ${spool.testKey}` };
  const response = await narrow.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

test('an email without memory for its content is neither read nor changed', async () => {
  const scheduledAt = new Date(spool.clock.now() + 7_200_000).toISOString();
  const before = (await spool.request('GET', `/v1/emails/${id}`)).body;
  for (const refused of [
    await ask('GET', `/v1/emails/${id}`),
    await ask('PATCH', `/v1/emails/${id}`, { scheduledAt }),
    await ask('POST', `/v1/emails/${id}/cancel`),
  ]) {
    assert.deepEqual([refused.status, refused.body.error.type], [503, 'unavailable']);
    assert.equal(refused.headers['retry-after'], '2');
  }
  assert.deepEqual((await spool.request('GET', `/v1/emails/${id}`)).body, before);
  assert.equal((await ask('GET', '/v1/emails')).status, 200);
});

test('callers without a key have a separate budget: their large responses are refused, small ones are not', async () => {
  const large = await narrow.inject('/docs/swagger-ui.css');
  assert.equal(large.statusCode, 503);
  assert.equal(large.headers['cache-control'], undefined);
  for (const url of ['/healthz', '/docs']) assert.equal((await narrow.inject(url)).statusCode, 200, url);
  assert.equal((await spool.request('GET', '/docs/swagger-ui.css', { key: null })).status, 200);
});
