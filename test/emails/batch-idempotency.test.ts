/** An Idempotency-Key is for a batch as a whole (specification 8). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSpool } from '../support/spool.ts';
import { emailBody } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const MIXED = [emailBody({ subject: 'One' }), emailBody({ to: '' }), emailBody({ subject: 'Two' })];

function send(key: string, emails: unknown[] = MIXED, more: Record<string, unknown> = {}) {
  const headers = { 'idempotency-key': key };
  return spool.request('POST', '/v1/emails/batch', { body: { emails, ...more }, headers });
}

async function countEmails(): Promise<number> {
  const { count } = await spool.app.db.read
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

test('a repeat answers what the first was answered, failures among it, and sends nothing', async () => {
  const first = await send('repeat');
  assert.equal(first.status, 200);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  const statuses = first.body.data.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ['queued', 'failed', 'queued']);
  const before = await countEmails();
  const second = await send('repeat');
  assert.equal(second.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await countEmails(), before);
});

test('a batch of failures alone is recorded too', async () => {
  const emails = [emailBody({ to: '' }), emailBody({ from: 'a@unknown.example' })];
  const first = await send('failures', emails);
  assert.equal(first.status, 200);
  const second = await send('failures', emails);
  assert.deepEqual([second.body, second.headers['idempotency-replayed']], [first.body, 'true']);
  assert.equal((await send('failures', [emailBody()])).status, 409);
});

test('a batch with the same key is a conflict when the body of one of its emails differs', async () => {
  const first = await send('conflict');
  const [one, two, three] = MIXED;
  const others = [
    [one, two],
    [one, three, two],
    [one, two, { ...three, subject: 'Three' }],
    [one, two, three, three],
    ['a', 'b', 'c'],
  ];
  for (const emails of others) {
    const other = await send('conflict', emails);
    assert.deepEqual([other.status, other.body.error.type], [409, 'idempotency_conflict']);
  }
  assert.equal((await send('conflict', MIXED, { more: 1 })).status, 409);
  const reversed = MIXED.map((email) => Object.fromEntries(Object.entries(email).reverse()));
  assert.deepEqual((await send('conflict', reversed)).body, first.body, 'the order of keys means nothing');
});

test('a batch is not the email it holds, nor the other way round', async () => {
  const body = emailBody();
  const headers = { 'idempotency-key': 'shared' };
  assert.equal((await spool.request('POST', '/v1/emails', { body, headers })).status, 200);
  assert.equal((await send('shared', [body])).status, 409);
  assert.equal((await send('shared too', [body])).status, 200);
  const other = { 'idempotency-key': 'shared too' };
  assert.equal((await spool.request('POST', '/v1/emails', { body, headers: other })).status, 409);
});
