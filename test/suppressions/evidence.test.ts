/** Likely bad addresses are suppressed after bounces on two distinct days. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { NO_REPORT, type Outcome, verdictForAll } from '../../src/queue/outcome/outcome.ts';
import { expireEvidence } from '../../src/suppressions/evidence-store.ts';
import { attemptWith, deliverBy, openSpool } from '../support/spool.ts';

const DAY_MS = 86_400_000;
const spool = await openSpool();
after(() => spool.close());

const LIKELY: Outcome = {
  kind: 'bounced',
  report: { ...NO_REPORT, phase: 'rcpt', smtpCode: 550, text: '550 Mailbox unavailable' },
};
const DELIVERED: Outcome = {
  kind: 'delivered',
  report: { ...NO_REPORT, phase: 'dot', smtpCode: 250, text: '250 OK' },
};

/** Sends an email that ends like this. Returns its recipient, with the event of the end. */
async function end(to: string, outcome: Outcome) {
  const id = await spool.accept(to);
  const [claim] = (await spool.claim()).filter(({ message }) => message.id === id);
  assert.ok(claim);
  await deliverBy(spool.app, claim, async () => attemptWith(verdictForAll(claim, outcome)));
  const events = await spool.app.db.read
    .selectFrom('events')
    .select('data')
    .where('emailId', '=', id)
    .where('type', '=', 'email.bounced')
    .execute();
  const [bounced] = events.map(({ data }) => JSON.parse(data).bounce);
  return { ...(await spool.recipient(id)), bounce: bounced };
}

const isSuppressed = async (email: string) =>
  (await spool.request('GET', `/v1/suppressions/${email}`)).status === 200;
const countEvidence = async (address: string) =>
  (await spool.app.db.read.selectFrom('bounceEvidence').selectAll().where('address', '=', address).execute())
    .length;

test('the bounce that suppresses is permanent, and the one before is undetermined', async () => {
  const first = await end('Likely@rcpt.example', LIKELY);
  assert.deepEqual(
    [first.class, first.bounce.type, first.bounce.subType],
    ['likely-bad-mailbox', 'undetermined', 'NoEmail'],
  );
  assert.match(first.advice, /after a second bounce/);
  assert.equal(await isSuppressed('likely@rcpt.example'), false);
  await spool.clock.advance(DAY_MS);
  const second = await end('likely@rcpt.example', LIKELY);
  assert.equal(second.bounce.type, 'permanent');
  assert.equal(await isSuppressed('likely@rcpt.example'), true);
});

test('a suppression that is removed is not made again by the bounces before', async () => {
  await spool.request('DELETE', '/v1/suppressions/likely@rcpt.example');
  assert.equal(await countEvidence('likely@rcpt.example'), 0);
  assert.equal((await end('likely@rcpt.example', LIKELY)).bounce.type, 'undetermined');
});

test('a delivery clears the bounces before it', async () => {
  assert.equal((await end('busy@rcpt.example', LIKELY)).bounce.type, 'undetermined');
  await spool.clock.advance(DAY_MS);
  const delivered = await end('busy@rcpt.example', DELIVERED);
  assert.deepEqual([delivered.class, delivered.advice], [null, null]);
  await spool.clock.advance(1_000);
  assert.equal((await end('busy@rcpt.example', LIKELY)).bounce.type, 'undetermined');
  assert.equal(await countEvidence('busy@rcpt.example'), 1);
});

test('bounces that lie too far back are dropped, and retention deletes the others', async () => {
  for (let day = 0; day < 3; day++) {
    await end('often@rcpt.example', LIKELY);
    await end('often@rcpt.example', LIKELY);
    await spool.clock.advance(31 * DAY_MS);
  }
  assert.equal(await countEvidence('often@rcpt.example'), 1, 'those outside the 30 days are gone');
  const range = { before: spool.clock.now(), rows: 1 };
  assert.deepEqual(await spool.app.db.commit(expireEvidence, range), { deleted: 1, next: 'more' });
  await spool.app.db.commit(expireEvidence, { ...range, rows: 100 });
  assert.equal(await countEvidence('often@rcpt.example'), 0);
});
