/** What the transaction that accepts an email writes, and what it refuses. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { emailSchema } from '../../src/emails/show.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { emailBody, openMessageOf, SANDBOX, SIMULATOR, senderOf } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const { send, accepted } = senderOf(() => spool);
const live = (more: Record<string, unknown> = {}) => ({ from: `a@${SENDER_DOMAIN}`, ...more });

function limitEmails(monthlyEmails: number | null): Promise<unknown> {
  return storePlan(spool.app.db, 'unlimited', { monthlyEmails });
}

test('an accepted email is queued once for each recipient, with an event for each', async () => {
  const email = await accepted({ to: ['a@rcpt.example', 'b@rcpt.example'], bcc: 'c@rcpt.example' });
  assert.deepEqual(
    email.events.map(({ type, to }: Record<string, string>) => `${type} ${to}`).sort(),
    ['a', 'b', 'c'].map((local) => `email.queued ${local}@rcpt.example`),
  );
});

test('a large email is opened with its header and its hash, and read in pieces', async () => {
  const { id } = await accepted({ html: `<p>${'A large text. '.repeat(20_000)}</p>`, text: 'A large text.' });
  const { bytes, header, bodyHash } = await openMessageOf(spool.app, id);
  const head = (await header()).toString('latin1');
  assert.equal(head.indexOf('\r\n\r\n'), head.length - 4);
  assert.match(await bodyHash(), /^[A-Za-z0-9+/]{43}=$/);
  assert.doesNotMatch(head, /^(Date|DKIM-Signature):/im);
  assert.equal(bytes.inline, undefined, 'it is read in pieces');
});

test('a free plan’s 3,000 emails a month count live mail that leaves, and nothing else', async () => {
  const key = spool.liveKey;
  await limitEmails(2);
  try {
    for (let round = 0; round < 3; round++) {
      assert.equal((await send({})).status, 200, 'test mode');
      const simulated = { from: `a@${SANDBOX}`, to: `delivered@${SIMULATOR}` };
      assert.equal((await send(simulated, { key })).status, 200, 'the simulator');
    }
    const headers = { 'idempotency-key': 'charged' };
    const first = await send(live(), { key, headers });
    assert.equal(first.status, 200);
    for (let round = 0; round < 3; round++) {
      assert.deepEqual((await send(live(), { key, headers })).body, first.body, 'a repeat');
    }
    assert.equal((await send(live({ to: '' }), { key })).status, 400, 'a refusal');
    assert.equal(
      (await send(live({ to: ['a@rcpt.example', `delivered@${SIMULATOR}`] }), { key })).status,
      200,
    );
    const refusal = await send(live(), { key });
    assert.deepEqual([refusal.status, refusal.body.error.type], [429, 'quota_exceeded']);
    assert.ok(Number(refusal.headers['retry-after']) > 0);
  } finally {
    await limitEmails(null);
  }
});

test('an email that the quota refuses leaves nothing behind', async () => {
  const key = spool.liveKey;
  await limitEmails(0);
  try {
    const headers = { 'idempotency-key': 'refused' };
    assert.equal((await send(live({ tags: { a: 'quota' } }), { key, headers })).status, 429);
    const { body } = await spool.request('GET', '/v1/emails?tag=a:quota', { key });
    assert.deepEqual(body.data, []);
    await limitEmails(null);
    assert.equal((await send(live({ tags: { a: 'quota' } }), { key, headers })).status, 200);
  } finally {
    await limitEmails(null);
  }
});

test('an email is shown with every field of its schema and no other', async () => {
  const shown = await accepted(emailBody());
  assert.deepEqual(Object.keys(shown).sort(), Object.keys(emailSchema.properties).sort());
  assert.equal(shown.broadcastId, null);
});
