/** What is refused leaves no bytes behind: a large email is asked about before it is stored, and cleaned up after. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { createApiServer } from '../../src/api.ts';
import { conforming } from '../support/conformance.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { blobFiles, emailBody, SIMULATOR } from './fixtures.ts';

const LARGE = Buffer.alloc(600 * 1024).toString('base64');
const ATTACHED = { attachments: [{ filename: 'a.bin', content: LARGE }] };
const SMALL_FILE = { attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] };
const LONG = { text: '\u20ac'.repeat(65 * 1024) };

const spool = await openSpool();
after(() => spool.close());

const send = (more: object, key = spool.liveKey) =>
  spool.request('POST', '/v1/emails', {
    key,
    body: emailBody({ from: `ada@${SENDER_DOMAIN}`, to: 'bob@rcpt.example', ...more }),
  });

const files = () => blobFiles(spool);

function suppress(email: string): Promise<unknown> {
  return spool.request('POST', '/v1/suppressions', { body: { email } });
}

function allow(monthlyEmails: number | null): Promise<unknown> {
  return storePlan(spool.app.db, 'unlimited', { monthlyEmails });
}

/** Something that happens between the bytes and the transaction. */
function afterStoring(t: TestContext, happen: () => Promise<unknown>): void {
  const { blobs } = spool.app;
  const prepare = blobs.prepare.bind(blobs);
  t.mock.method(blobs, 'prepare', async (pieces: Parameters<typeof prepare>[0]) => {
    const row = await prepare(pieces);
    await happen();
    return row;
  });
}

async function usedThisMonth(): Promise<number> {
  const { headers } = await spool.request('GET', '/v1/emails', { key: spool.liveKey });
  assert.equal(headers['x-quota-limit'], undefined);
  const row = await spool.app.db.read
    .selectFrom('usage')
    .select('emails')
    .where('tenantId', '=', spool.tenantId)
    .executeTakeFirst();
  return row?.emails ?? 0;
}

for (const [what, more] of [
  ['attachments', ATTACHED],
  ['one small attachment', SMALL_FILE],
  ['a long text', LONG],
  ['long HTML', { html: LONG.text, text: 'x' }],
] as const) {
  test(`an email with ${what} to suppressed addresses alone is refused before it is stored`, async (t) => {
    await suppress('gone@rcpt.example');
    const prepare = t.mock.method(spool.app.blobs, 'prepare');
    const commit = t.mock.method(spool.app.db, 'commit');
    const { status, body } = await send({ ...more, to: 'Gone@rcpt.example' });
    assert.deepEqual([status, body.error.type], [422, 'suppressed_recipient']);
    const simulated = await send({ ...more, to: `suppressed@${SIMULATOR}` });
    assert.equal(simulated.status, 422);
    assert.deepEqual([prepare.mock.callCount(), commit.mock.callCount()], [0, 0]);
  });
}

test('a large email beyond the quota is refused before it is stored; test mail and the simulator have none', async (t) => {
  await allow(0);
  const prepare = t.mock.method(spool.app.blobs, 'prepare');
  const { status, body } = await send(ATTACHED);
  assert.deepEqual([status, body.error.type], [429, 'quota_exceeded']);
  assert.equal(prepare.mock.callCount(), 0);
  assert.equal((await send(ATTACHED, spool.testKey)).status, 200);
  assert.equal((await send({ ...ATTACHED, to: `delivered@${SIMULATOR}` })).status, 200);
  await allow(null);
});

test('the early check does not count against the quota: with a quota of one, one large email is sent', async () => {
  await allow(1);
  const before = await usedThisMonth();
  assert.equal((await send(ATTACHED)).status, 200);
  assert.equal((await usedThisMonth()) - before, 1);
  assert.equal((await send(ATTACHED)).status, 429);
  await allow(null);
});

test('an email of which some recipient is left is stored', async () => {
  await suppress('gone@rcpt.example');
  const { status } = await send({ ...ATTACHED, to: ['gone@rcpt.example', 'here@rcpt.example'] });
  assert.equal(status, 200);
});

test('an email that the transaction refuses after its bytes were stored leaves no file', async (t) => {
  await send(ATTACHED);
  const before = files();
  assert.ok(before.length > 0);
  afterStoring(t, () => suppress('late@rcpt.example'));
  assert.equal((await send({ ...ATTACHED, to: 'late@rcpt.example' })).status, 422);
  assert.deepEqual(files(), before);
});

test('a repeat that finds an answer in the transaction alone leaves no file of its own', async (t) => {
  const headers = { 'idempotency-key': 'twice' };
  const body = emailBody({ from: `ada@${SENDER_DOMAIN}`, ...ATTACHED });
  const repeat = (key = spool.liveKey) => spool.request('POST', '/v1/emails', { key, headers, body });
  let first: unknown;
  const { blobs } = spool.app;
  const prepare = blobs.prepare.bind(blobs);
  let isInner = false;
  t.mock.method(blobs, 'prepare', async (pieces: Parameters<typeof prepare>[0]) => {
    const row = await prepare(pieces);
    if (isInner) return row;
    isInner = true;
    // Another process of the same database would not wait for this one.
    const other = conforming(await createApiServer(spool.app));
    const answer = await other.inject({
      method: 'POST',
      url: '/v1/emails',
      headers: { ...headers, authorization: `Bearer ${spool.liveKey}` },
      payload: body,
    });
    first = answer.json();
    await other.close();
    return row;
  });
  const before = files().length;
  const answer = await repeat();
  assert.equal(answer.headers['idempotency-replayed'], 'true');
  assert.deepEqual(answer.body, first);
  assert.equal(files().length, before + 1);
});

test('an error that is no refusal leaves the bytes: they may have been committed', async (t) => {
  const before = files().length;
  t.mock.method(spool.app.db, 'commit', () => Promise.reject(new Error('the writer is gone')));
  assert.equal((await send(ATTACHED)).status, 500);
  assert.equal(files().length, before + 1);
});
