import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNotices } from '../../src/system/notices.ts';

test('a notice reaches who listens for its name, until they stop', () => {
  const notices = createNotices();
  const heard: string[] = [];
  const stop = notices.listen('queue', () => heard.push('one'));
  notices.listen('queue', () => heard.push('two'));
  notices.listen('webhooks', () => heard.push('webhooks'));
  notices.notify('queue');
  assert.deepEqual(heard, ['one', 'two']);
  stop();
  notices.notify('queue');
  assert.deepEqual(heard, ['one', 'two', 'two']);
});

test('a notice nobody waits for is lost without harm', () => {
  createNotices().notify('events');
});

test('a listener that stops while it is told keeps no other from hearing', () => {
  const notices = createNotices();
  const heard: string[] = [];
  const stop = notices.listen('queue', () => {
    heard.push('first');
    stop();
  });
  notices.listen('queue', () => heard.push('second'));
  notices.notify('queue');
  notices.notify('queue');
  assert.deepEqual(heard, ['first', 'second', 'second']);
});
