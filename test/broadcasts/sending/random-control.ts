/** Pauses and resumes a broadcast many times, at any moment of its work, and checks that it reaches each contact once. */
import assert from 'node:assert/strict';
import { control } from '../../../src/broadcasts/control.ts';
import { type SeededRandom, seededRandom } from '../../faults/seeded-random.ts';
import { type Campaign, openCampaign } from './campaign.ts';
import { createStepper, type Stepper } from './stepper.ts';

const CONTACTS = 150;
/** Copies per hour: one each second. */
const PER_HOUR = 3_600;
/** Share of the rounds in which a second passes. Fewer copies are made than there are contacts, so that none is missed. */
const TICK_SHARE = 0.05;
/** Share of attempts that end with a deferral. */
const DEFERRED_SHARE = 0.2;
const RECOUNT_EVERY = 100;
const RETRIES_MS = 600_000;

function change(campaign: Campaign, id: string, cause: 'paused' | 'resumed'): Promise<unknown> {
  const { app, tenantId } = campaign.spool;
  return control(app, { owner: { tenantId, mode: 'live', domainId: null }, id, cause });
}

/** Compares the counts of a broadcast with its rows. */
async function assertExact(campaign: Campaign, id: string): Promise<void> {
  const rows = await campaign.spool.app.db.read
    .selectFrom('broadcastRecipients')
    .select(['state', ({ fn }) => fn.countAll<number>().as('count')])
    .where('broadcastId', '=', id as `brd_${string}`)
    .groupBy('state')
    .execute();
  const { counts } = await campaign.show(id);
  for (const { state, count } of rows) assert.equal(counts[state], count, state);
}

/** Returns what happens at one moment: some steps at the same time, in an order that the threads decide. */
function chooseActions(random: SeededRandom, stepper: Stepper): (() => Promise<unknown>)[] {
  const actions = [
    stepper.step,
    stepper.step,
    stepper.claim,
    () => stepper.deliver(random.share() < DEFERRED_SHARE ? 'deferred' : 'delivered'),
  ];
  return actions.filter(() => random.share() < 0.5);
}

/** @throws AssertionError when a contact has got the broadcast not once, or when a number of the broadcast is wrong */
export async function pauseAtRandom({ pauses: most, seed }: { pauses: number; seed: number }): Promise<void> {
  await using campaign = await openCampaign();
  for (let index = 0; index < CONTACTS; index++) await campaign.addContact(`r${index}@readers.example`);
  const random = seededRandom(seed);
  const stepper = createStepper(campaign.spool);
  const id = await campaign.draft({ pace: { perHour: PER_HOUR } });
  assert.equal((await campaign.act(id, 'send')).status, 200);
  for (let pauses = 0; pauses < most; pauses++) {
    await Promise.all([
      change(campaign, id, 'paused'),
      ...chooseActions(random, stepper).map((act) => act()),
    ]);
    assert.equal(await stepper.claim(), 0, 'nothing is claimed after the answer to a pause');
    for (const act of chooseActions(random, stepper)) await act();
    await Promise.all([
      change(campaign, id, 'resumed'),
      ...chooseActions(random, stepper).map((act) => act()),
    ]);
    for (const act of chooseActions(random, stepper)) await act();
    if (random.share() < TICK_SHARE) await campaign.spool.clock.advance(1_000);
    if (pauses % RECOUNT_EVERY === 0) await assertExact(campaign, id);
  }
  const { counts } = await campaign.show(id);
  assert.ok(counts.waiting > 0 && counts.delivered > 0, JSON.stringify(counts));
  const key = campaign.spool.liveKey;
  await campaign.spool.request('PATCH', `/v1/broadcasts/${id}`, { key, body: { pace: null } });
  for (let rounds = 0; rounds < 10; rounds++) {
    await campaign.spool.clock.advance(RETRIES_MS);
    await stepper.drain();
  }
  const shown = await campaign.show(id);
  assert.deepEqual([shown.status, shown.counts.delivered], ['sent', CONTACTS]);
  await assertExact(campaign, id);
  assert.equal(stepper.got.size, CONTACTS);
  assert.deepEqual(
    [...stepper.got.values()].filter((times) => times !== 1),
    [],
  );
}
