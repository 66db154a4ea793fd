import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FromThread, WakeupMessage } from '../../../src/system/thread/messages.ts';
import { createThreadWakeups, WakeupRelay } from '../../../src/system/thread/wakeups.ts';
import { createWakeups, type WakeupSubjects } from '../../../src/system/wakeups.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** Minimum time between two messages to a thread. */
const INTERVAL_MS = 10;

/** A thread that listens for `queue`, as the main thread sees it. */
function openRelay() {
  const clock = createFakeClock(0);
  const wakeups = createWakeups();
  const posted: WakeupMessage[] = [];
  const relay = new WakeupRelay({ wakeups, clock }, (message) => posted.push(message));
  relay.listen('queue');
  return { clock, wakeups, posted, relay };
}

const wakeup = (name: string, subjects: WakeupSubjects): WakeupMessage => ({
  kind: 'wakeup',
  name,
  subjects,
});

test('the first wake-up leaves at the end of its turn, and those of the next ten milliseconds leave as one', async () => {
  const { clock, wakeups, posted } = openRelay();
  wakeups.notify('queue', ['a']);
  wakeups.notify('queue', ['b', 'a']);
  assert.deepEqual(posted, [], 'nothing leaves within the turn');
  await clock.advance(0);
  assert.deepEqual(posted.splice(0), [wakeup('queue', ['a', 'b'])]);
  for (const subject of ['c', 'd', 'c']) {
    wakeups.notify('queue', [subject]);
    await clock.advance(1);
  }
  await clock.advance(INTERVAL_MS - 4);
  assert.deepEqual(posted, [], 'nothing leaves before its time');
  await clock.advance(1);
  assert.deepEqual(posted.splice(0), [wakeup('queue', ['c', 'd'])]);
});

test('after ten milliseconds without a wake-up the next one leaves at once again', async () => {
  const { clock, wakeups, posted } = openRelay();
  wakeups.notify('queue');
  await clock.advance(INTERVAL_MS);
  assert.equal(posted.splice(0).length, 1);
  wakeups.notify('queue', ['a']);
  await clock.advance(0);
  assert.deepEqual(posted, [wakeup('queue', ['a'])]);
});

test('a wake-up without subjects stands for all, whatever it is merged with', async () => {
  const { clock, wakeups, posted } = openRelay();
  for (const order of [
    [['a'], undefined],
    [undefined, ['a']],
  ]) {
    for (const subjects of order) wakeups.notify('queue', subjects);
    await clock.advance(INTERVAL_MS * 2);
    assert.deepEqual(posted.splice(0), [wakeup('queue', undefined)]);
  }
});

test('wake-ups of different names are not merged, and others than those of the thread do not leave', async () => {
  const { clock, wakeups, posted, relay } = openRelay();
  relay.listen('inbound');
  wakeups.notify('inbound', ['a']);
  wakeups.notify('queue', ['b']);
  wakeups.notify('events');
  await clock.advance(INTERVAL_MS);
  assert.deepEqual(posted, [wakeup('inbound', ['a']), wakeup('queue', ['b'])]);
});

test('a wake-up of the thread reaches the others and does not come back, and nothing is sent after the end', async () => {
  const { clock, wakeups, posted, relay } = openRelay();
  const heard: WakeupSubjects[] = [];
  wakeups.listen('queue', (subjects) => heard.push(subjects));
  relay.passOn(wakeup('queue', ['a']));
  await clock.advance(INTERVAL_MS);
  assert.deepEqual([heard, posted], [[['a']], []]);
  wakeups.notify('queue', ['b']);
  await clock.advance(INTERVAL_MS);
  assert.equal(posted.length, 1);
  relay.close();
  wakeups.notify('queue', ['c']);
  await clock.advance(INTERVAL_MS);
  assert.equal(posted.length, 1);
});

test('within a thread a wake-up is heard at once and sent later, and each name is asked for once', async () => {
  const clock = createFakeClock(0);
  const posted: FromThread[] = [];
  const wakeups = createThreadWakeups(clock, (message) => posted.push(message));
  const heard: string[] = [];
  wakeups.listen('webhooks', () => heard.push('one'));
  wakeups.listen('webhooks', () => heard.push('two'));
  assert.deepEqual(posted.splice(0), [{ kind: 'listen', name: 'webhooks' }]);
  wakeups.notify('webhooks', ['a']);
  assert.deepEqual(heard, ['one', 'two']);
  await clock.advance(0);
  assert.deepEqual(posted.splice(0), [wakeup('webhooks', ['a'])]);
  wakeups.receive(wakeup('webhooks', undefined));
  await clock.advance(INTERVAL_MS);
  assert.equal(heard.length, 4);
  assert.deepEqual(posted, [], 'what comes from outside is not sent back');
});
