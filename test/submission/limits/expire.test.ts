/** Retention forgets to whom mailboxes have written: after a time, and with the mailbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import { submissionSteps } from '../../../src/submission/expire.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { openSubmissionWorld, submit } from '../submission-world.ts';

const DAY_MS = 86_400_000;
const world = await openSubmissionWorld();
const { app, clock, tenantId } = world;

async function expire(): Promise<void> {
  const [step] = submissionSteps(app);
  while ((await step?.expire(clock.now(), { after: '', rows: 2 }))?.next !== undefined);
}

async function known(): Promise<string[]> {
  const rows = await app.db.read.selectFrom('correspondents').select(['mailboxId', 'address']).execute();
  return rows
    .map(({ mailboxId, address }) => `${mailboxId === world.ann.id ? 'ann' : 'bea'} ${address}`)
    .sort();
}

test('addresses are forgotten after 400 days, and with their mailbox', async () => {
  const bea = await addMailbox(world, { address: 'bea@people.example' });
  const to = ['a', 'b', 'c'].map((name) => `${name}@receiver.example`);
  await submit(await world.logIn(), { to });
  const message = 'From: bea@people.example\r\n\r\nHi\r\n';
  await submit(await world.logIn(bea.address), { from: bea.address, to, message });
  await expire();
  assert.equal((await known()).length, 6);
  await app.db.commit(endMailbox, { tenantId, id: bea.id, now: clock.now() });
  await expire();
  assert.deepEqual(
    await known(),
    to.map((address) => `ann ${address}`),
  );
  await clock.advance(399 * DAY_MS);
  await submit(await world.logIn(), { to: 'a@receiver.example' });
  await clock.advance(2 * DAY_MS);
  await expire();
  assert.deepEqual(await known(), ['ann a@receiver.example']);
  assert.deepEqual(await app.db.read.selectFrom('submissionCounts').selectAll().execute(), []);
});
