import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importCsv } from '../../imports/jobs.ts';
import { createInterruptible } from './between.ts';
import { openCampaign } from './campaign.ts';
import { createStepper } from './stepper.ts';

const CONTACTS = 120;
/** Longer than a write of copies should take, its wait included (db/slice-size.ts). */
const SLOW_MS = 50;

test('steps make fewer copies while their writes take long, so that other writes wait less, and then more again', async () => {
  await using campaign = await openCampaign();
  const { spool, audienceId } = campaign;
  const rows = Array.from({ length: CONTACTS }, (_, index) => `r${index}@readers.example`);
  await importCsv(spool, `/v1/audiences/${audienceId}/contacts/imports`, `email\n${rows.join('\n')}\n`);
  const { app, before } = createInterruptible(spool.app);
  const stepper = createStepper(spool, app);
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  const copies: number[] = [];
  let queued = 0;
  for (const isSlow of [false, true, true, true, false, false]) {
    if (isSlow) before('broadcasts.copy', () => spool.clock.advance(SLOW_MS));
    assert.ok(await stepper.step());
    const { counts } = await campaign.show(id);
    copies.push(counts.queued - queued);
    queued = counts.queued;
  }
  assert.deepEqual(copies, [25, 32, 16, 10, 10, 13]);
});
