/** Retention forgets to whom mailboxes have written: after a time, and with the mailbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MailboxRow } from '../../../src/db/mailbox-tables.ts';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import { submissionSteps } from '../../../src/submission/feature.ts';
import { hashCorrespondent } from '../../../src/submission/limits/limits.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { openSubmissionWorld, submit } from '../submission-world.ts';

const DAY_MS = 86_400_000;
const world = await openSubmissionWorld();
const { app, clock, tenantId } = world;

async function expire(): Promise<void> {
  const [step] = submissionSteps(app);
  while ((await step?.expire(clock.now(), { after: '', rows: 2 }))?.next !== undefined);
}

/** Returns the addresses that are known of mailboxes. */
async function known(mailboxes: readonly MailboxRow[]): Promise<string[]> {
  const rows = await app.db.read.selectFrom('correspondents').selectAll().execute();
  const names = mailboxes.flatMap(({ id, address }) =>
    TO.map((to) => [`${id} ${hashCorrespondent(app, id, to)}`, `${address} ${to}`] as const),
  );
  const byRow = new Map(names);
  return rows.map(({ mailboxId, addressHash }) => byRow.get(`${mailboxId} ${addressHash}`) ?? '?').sort();
}

const TO = ['a', 'b', 'c'].map((name) => `${name}@receiver.example`);

test('hashes of addresses are kept for 400 days, and until their mailbox is deleted', async () => {
  const bea = await addMailbox(world, { address: 'bea@people.example' });
  await submit(await world.logIn(), { to: TO });
  const message = 'From: bea@people.example\r\n\r\nHi\r\n';
  await submit(await world.logIn(bea.address), { from: bea.address, to: TO, message });
  await expire();
  const ofAnn = TO.map((to) => `ann@people.example ${to}`);
  const ofBea = TO.map((to) => `bea@people.example ${to}`);
  assert.deepEqual(await known([world.ann, bea]), [...ofAnn, ...ofBea]);
  await app.db.commit(endMailbox, { tenantId, id: bea.id, now: clock.now() });
  assert.deepEqual(await known([world.ann]), ofAnn);
  await clock.advance(399 * DAY_MS);
  await submit(await world.logIn(), { to: 'A@receiver.example' });
  await clock.advance(2 * DAY_MS);
  await expire();
  assert.deepEqual(await known([world.ann]), ['ann@people.example a@receiver.example']);
  assert.deepEqual(await app.db.read.selectFrom('recipientCounts').selectAll().execute(), []);
});
