/** The statuses of an email (specification 3), and when it was last heard of (specification 2.1). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSpool } from '../support/spool.ts';
import { SIMULATOR } from './fixtures.ts';

const HOUR_MS = 3_600_000;

const spool = await openSpool();
after(() => spool.close());

const ask = (method: 'GET' | 'POST', path: string) => spool.request(method, path, { key: spool.liveKey });

test('an email with each of the six statuses is shown with it and found by it', async () => {
  const expected: Record<string, string> = {};
  for (const [local, status] of [
    ['delayed', 'sent'],
    ['delivered', 'delivered'],
    ['bounced', 'bounced'],
    ['complained', 'complained'],
  ] as const) {
    expected[status] = await spool.accept(`${local}@${SIMULATOR}`);
  }
  await spool.deliverDue();
  expected['queued'] = await spool.accept(`delivered@${SIMULATOR}`);
  expected['canceled'] = await spool.accept(`delivered@${SIMULATOR}`);
  assert.equal((await ask('POST', `/v1/emails/${expected['canceled']}/cancel`)).status, 200);
  for (const [status, id] of Object.entries(expected)) {
    assert.equal((await spool.email(id)).status, status);
    const { data } = (await ask('GET', `/v1/emails?status=${status}`)).body;
    assert.deepEqual(
      data.map((email: { id: string; status: string }) => [email.id, email.status]),
      [[id, status]],
    );
  }
});

test('lastEventAt is the time of the latest event, whichever recipient it is of', async () => {
  const id = await spool.accept([`delivered@${SIMULATOR}`, `delayed@${SIMULATOR}`]);
  const accepted = await spool.email(id);
  assert.equal(accepted.lastEventAt, accepted.createdAt);
  let last = accepted.lastEventAt;
  for (const type of ['email.delivery_delayed', 'email.delivered']) {
    await spool.clock.advance(HOUR_MS);
    await spool.deliverDue();
    const email = await spool.email(id);
    const latest = email.events.at(-1);
    assert.equal(latest.createdAt, email.lastEventAt);
    assert.ok(email.events.some((event: { type: string; createdAt: string }) => event.type === type));
    assert.ok(Date.parse(email.lastEventAt) - Date.parse(last) >= HOUR_MS - 1_000);
    last = email.lastEventAt;
  }
  assert.equal((await spool.email(id)).status, 'delivered');
});
