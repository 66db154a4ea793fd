import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeups } from '../../src/system/wakeups.ts';

test('a notice reaches who listens for its name, until they stop', () => {
  const wakeups = createWakeups();
  const heard: string[] = [];
  const stop = wakeups.listen('queue', () => heard.push('one'));
  wakeups.listen('queue', () => heard.push('two'));
  wakeups.listen('webhooks', () => heard.push('webhooks'));
  wakeups.notify('queue');
  assert.deepEqual(heard, ['one', 'two']);
  stop();
  wakeups.notify('queue');
  assert.deepEqual(heard, ['one', 'two', 'two']);
});

test('a notice nobody waits for is lost without harm', () => {
  assert.doesNotThrow(() => createWakeups().notify('events'));
});

test('a listener that stops while it is told keeps no other from hearing', () => {
  const wakeups = createWakeups();
  const heard: string[] = [];
  const stop = wakeups.listen('queue', () => {
    heard.push('first');
    stop();
  });
  wakeups.listen('queue', () => heard.push('second'));
  wakeups.notify('queue');
  wakeups.notify('queue');
  assert.deepEqual(heard, ['first', 'second', 'second']);
});
