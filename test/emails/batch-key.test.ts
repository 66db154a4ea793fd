/** Limits of the Idempotency-Key of a batch (specification 8): those of a single email's. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSpool, type Spool } from '../support/spool.ts';
import { emailBody } from './fixtures.ts';

const DAY_MS = 24 * 3_600_000;

let spool: Spool;
before(async () => {
  spool = await openSpool();
});
after(() => spool.close());

function send(idempotencyKey: string, subject = 'Hello', key = spool.testKey) {
  return spool.request('POST', '/v1/emails/batch', {
    body: { emails: [emailBody({ subject })] },
    headers: { 'idempotency-key': idempotencyKey },
    key,
  });
}

test('the key of a batch has 1 to 256 characters', async () => {
  for (const key of ['', 'k'.repeat(257)]) {
    const { status, body } = await send(key);
    assert.deepEqual(
      [status, body.error.type, body.error.param],
      [400, 'validation_error', 'Idempotency-Key'],
    );
  }
  const first = await send('k'.repeat(256));
  assert.equal(first.status, 200);
  assert.deepEqual((await send('k'.repeat(256))).body, first.body);
});

test('the key of a batch is free again after 24 hours, not a millisecond before, and is that of one tenant', async () => {
  const first = await send('window');
  const other = await spool.addTenant('other');
  assert.notDeepEqual((await send('window', 'Hello', other.testKey)).body, first.body);
  await spool.clock.advance(DAY_MS - 1);
  assert.deepEqual((await send('window')).body, first.body);
  assert.equal((await send('window', 'Other')).body.error.type, 'idempotency_conflict');
  await spool.clock.advance(1);
  const second = await send('window', 'Other');
  assert.equal(second.status, 200);
  assert.notDeepEqual(second.body, first.body);
});
