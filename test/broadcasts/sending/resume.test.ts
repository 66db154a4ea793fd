/** A resume of a broadcast whose copies were all tried: those that were parked are due again before it ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importCsv } from '../../imports/jobs.ts';
import type { Spool } from '../../support/spool.ts';
import { createInterruptible } from './between.ts';
import { openCampaign } from './campaign.ts';
import { createStepper } from './stepper.ts';

/** One resume makes the copies due again in several writes. */
const CONTACTS = 250;

/** Returns the number of copies that wait for the resume of their broadcast. */
async function countParked({ app }: Spool): Promise<number> {
  const { parked } = await app.db.read
    .selectFrom('recipients')
    .select(({ fn }) => fn.countAll<number>().as('parked'))
    .where('state', '=', 'deferred')
    .where('dueAt', 'is', null)
    .executeTakeFirstOrThrow();
  return parked;
}

test('deferred copies that a pause parked are all tried again after the resume, also when nobody else waits', async () => {
  await using campaign = await openCampaign();
  const { spool, audienceId } = campaign;
  const rows = Array.from({ length: CONTACTS }, (_, index) => `r${index}@readers.example`);
  await importCsv(spool, `/v1/audiences/${audienceId}/contacts/imports`, `email\n${rows.join('\n')}\n`);
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  const stepper = createStepper(spool);
  while ((await campaign.show(id)).counts.queued < CONTACTS) assert.ok(await stepper.step());
  while ((await stepper.claim()) > 0);
  while (stepper.claims > 0) await stepper.deliver('deferred');
  assert.equal((await campaign.act(id, 'pause')).status, 200);
  await spool.clock.advance(120_000);
  while ((await countParked(spool)) < CONTACTS) assert.equal(await stepper.claim(), 0);
  assert.equal((await campaign.act(id, 'resume')).status, 200);
  await stepper.drain();
  assert.equal(stepper.got.size, CONTACTS);
  await spool.clock.advance(100);
  await stepper.drain();
  const { status, counts } = await campaign.show(id);
  assert.deepEqual([status, counts.delivered], ['sent', CONTACTS]);
});

test('a broadcast that is paused and resumed right before its end tries the copies that were parked meanwhile', async () => {
  await using campaign = await openCampaign();
  const { spool } = campaign;
  await campaign.addContact('r@readers.example');
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  const { app, before } = createInterruptible(spool.app);
  const stepper = createStepper(spool, app);
  while ((await campaign.show(id)).counts.queued < 1) assert.ok(await stepper.step());
  await stepper.claim();
  await stepper.deliver('deferred');
  await spool.clock.advance(120_000);
  before('broadcasts.copy', async () => {
    assert.equal((await campaign.act(id, 'pause')).status, 200);
    assert.equal(await stepper.claim(), 0);
    assert.equal(await countParked(spool), 1);
    assert.equal((await campaign.act(id, 'resume')).status, 200);
  });
  await stepper.drain();
  await spool.clock.advance(100);
  await stepper.drain();
  assert.equal(stepper.got.size, 1);
});
