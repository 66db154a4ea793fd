import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWakeups } from '../../src/system/wakeups.ts';

test('a wake-up reaches the listeners of its name until they stop', () => {
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

test('a wake-up without listeners is lost without harm', () => {
  assert.doesNotThrow(() => createWakeups().notify('events'));
});

test('a listener that stops during a wake-up does not keep other listeners from being called', () => {
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
