/** Batches whose writes are on their way at the same time: how many a tenant has, and how many wait. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { acceptBatch } from '../../src/emails/accept.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';
import { blobFiles, emailBody } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const send = (email: Record<string, unknown> = {}, key = spool.testKey) =>
  spool.request('POST', '/v1/emails/batch', { body: { emails: [emailBody(email)] }, key });

/** Keeps the writes of batches from the writer until `release` is called. Answers the tenants that have sent them. */
function holdWrites(t: TestContext): { tenants: string[]; release: () => void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const tenants: string[] = [];
  const commit = spool.app.db.commit.bind(spool.app.db);
  t.mock.method(spool.app.db, 'commit', async (...[write, input]: Parameters<typeof commit>) => {
    if ((write as unknown) === acceptBatch) {
      tenants.push((input as unknown as Parameters<typeof acceptBatch.run>[1]).owner.tenantId);
      await released;
    }
    return commit(write, input);
  });
  return { tenants, release };
}

test('a tenant has one batch on its way to the writer, and another tenant finds a place', async (t) => {
  const { tenants, release } = holdWrites(t);
  const others = await spool.addTenant('other');
  const batches = Array.from({ length: 5 }, () => send());
  await waitUntil(() => tenants.length === 1);
  const other = send({}, others.testKey);
  await waitUntil(() => tenants.length === 2);
  assert.notEqual(tenants[0], tenants[1]);
  release();
  const answers = await Promise.all([...batches, other]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
});

test('a batch is refused while too many wait, and its files are discarded', async (t) => {
  const { tenants, release } = holdWrites(t);
  const batches = Array.from({ length: 102 }, () => send());
  const first = await Promise.race(batches);
  assert.deepEqual([first.status, first.body.error.type], [503, 'unavailable']);
  const files = blobFiles(spool);
  const content = Buffer.alloc(600 * 1024).toString('base64');
  const from = `a@${SENDER_DOMAIN}`;
  const refused = await send({ from, attachments: [{ filename: 'a.bin', content }] }, spool.liveKey);
  assert.equal(refused.status, 503);
  assert.deepEqual(blobFiles(spool), files);
  assert.equal(tenants.length, 1);
  release();
  const answers = await Promise.all(batches);
  assert.equal(answers.filter(({ status }) => status === 200).length, 101);
});
