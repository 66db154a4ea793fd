import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { hashCorrespondent, RecipientCheck } from '../../../src/submission/limits/limits.ts';
import { recordRecipients } from '../../../src/submission/limits/store.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { openCountedReads } from '../../support/counted-reads.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const NEW = 50;
const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({
  system: { clock },
  env: { POSTRIDER_SUBMISSION_NEW_RECIPIENTS_PER_DAY: String(NEW) },
});
const { app } = world;
const counted = openCountedReads(world);
after(async () => {
  counted.close();
  await world.close();
});

const counting = { ...app, db: { ...app.db, read: counted.read } };

test('each recipient of a message is looked up once at most, also near the limit', async () => {
  const mailbox = await addMailbox(world);
  const known = Array.from({ length: NEW }, (_, index) => `known${index}@receiver.example`);
  const side = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
  const unknown = known.map((address) => hashCorrespondent(app, mailbox.id, address));
  const sent = { mailbox, recipients: NEW, correspondents: { unknown, known: [] }, now: clock.now() };
  await recordRecipients(kyselyOn(side), sent);
  side.close();
  await clock.advance(25 * 3_600_000);
  const check = new RecipientCheck(counting, mailbox);
  for (let index = 0; index < NEW - 1; index++) await check.add(`new${index}@receiver.example`);
  // The counts of earlier mail are read once, and no recipient is looked up while all of them may be new.
  assert.equal(counted.queries, 3);
  const [first = '', ...others] = known;
  for (const address of [first, 'last@receiver.example', ...others]) await check.add(address);
  for (const address of ['one', 'two'].map((name) => `${name}@receiver.example`))
    await assert.rejects(check.add(address), { code: 'rate_limited' });
  assert.equal(counted.queries, 3 + NEW + known.length + 2);
});
