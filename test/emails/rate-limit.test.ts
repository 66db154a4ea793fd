/** Sending faster than the plan allows (specification 7). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { emailBody } from './fixtures.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

test('sends beyond the requests a second of the plan are refused with 429, and taken a second later', async () => {
  const { tenantId, testKey: key } = await world.addTenant('quick');
  await world.app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'free' });
  const send = () => world.request('POST', '/v1/emails', { key, body: emailBody() });
  // The free plan: 5 a second, and twice that at once.
  for (let count = 0; count < 10; count++) assert.equal((await send()).status, 200);
  const refused = await send();
  assert.deepEqual([refused.status, refused.body.error.type], [429, 'rate_limited']);
  assert.equal(refused.headers['retry-after'], '1');
  const { body } = await world.request('POST', '/v1/emails/batch', { key, body: { emails: [emailBody()] } });
  assert.equal(body.error.type, 'rate_limited');
  await clock.advance(1_000);
  assert.equal((await send()).status, 200);
});
