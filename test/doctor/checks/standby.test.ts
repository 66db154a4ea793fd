import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { standby } from '../../../src/doctor/checks/standby.ts';
import type { Progress } from '../../../src/standby/ship/shipper.ts';
import { lines, openDoctorWorld } from '../support.ts';

const world = await openDoctorWorld();
after(() => world[Symbol.asyncDispose]());

const MINUTE_MS = 60_000;

/** Returns what the check says of a store that has all up to an hour ago, and of what is different. */
async function check(change: (now: number) => Partial<Progress>): Promise<string[]> {
  const { context } = world;
  const now = context.clock.now();
  const progress: Progress = {
    startedAt: now - 60 * MINUTE_MS,
    isHeld: false,
    generation: null,
    storedCutAt: now - 60 * MINUTE_MS,
    oldestUnstoredAt: null,
    gap: null,
    isResyncing: false,
    resyncs: 0,
    gaps: 0,
    waitingBytes: 0,
    failure: undefined,
    replacedBy: undefined,
    objects: 0,
    bytes: 0,
    ...change(now),
  };
  const config = { ...context.config, standby: { ...context.config.standby, store: 'file:///store' } };
  return lines(await standby.run({ ...context, config, standby: { progress } }));
}

test('a store that lacks the changes of minutes or hours is reported, and nothing is expected of an installation that is held', async () => {
  assert.match((await check(() => ({}))).join(), /^ok file:\/\/\/store: the newest cut is of/);
  assert.match((await check((now) => ({ oldestUnstoredAt: now - 2 * MINUTE_MS }))).join(), /^warn /);
  assert.match((await check((now) => ({ oldestUnstoredAt: now - 60 * MINUTE_MS }))).join(), /^fail /);
  assert.match((await check(() => ({ failure: 'it is full' }))).join(), /^fail .*: it is full$/);
  const held = await check(() => ({ isHeld: true, storedCutAt: null, failure: 'it is full' }));
  assert.deepEqual(held, ['ok file:///store: nothing is sent before "postrider restore release"']);
});
