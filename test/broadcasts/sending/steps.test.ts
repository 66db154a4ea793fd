/** What happens between two steps of a broadcast: its owner, its contacts and the clock change at every point. */
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createInterruptible } from './between.ts';
import { type Campaign, openCampaign } from './campaign.ts';
import { createStepper, type Stepper } from './stepper.ts';

const CONTACTS = 5;
let campaign: Campaign;
let stepper: Stepper;
let interrupt: ReturnType<typeof createInterruptible>['before'];

before(async () => {
  campaign = await openCampaign();
  for (let index = 0; index < CONTACTS; index++) await campaign.addContact(`r${index}@readers.example`);
  const interruptible = createInterruptible(campaign.spool.app);
  interrupt = interruptible.before;
  stepper = createStepper(campaign.spool, interruptible.app);
});
after(() => campaign[Symbol.asyncDispose]());
afterEach(async () => {
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  stepper.got.clear();
});

async function start(): Promise<string> {
  const id = await campaign.draft();
  assert.equal((await campaign.act(id, 'send')).status, 200);
  return id;
}

test('copies that were parked during one step leave after a resume during the same step', async () => {
  const id = await start();
  await stepper.step();
  interrupt('broadcasts.copy', async () => {
    assert.equal((await campaign.act(id, 'pause')).status, 200);
    assert.equal(await stepper.claim(), 0, 'the copies are parked');
    assert.equal((await campaign.act(id, 'resume')).status, 200);
  });
  await campaign.spool.clock.advance(100);
  assert.ok(await stepper.step());
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  assert.equal(stepper.got.size, CONTACTS);
});
