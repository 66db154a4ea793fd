import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBy, createAccountChanges, type FolderChange } from '../../src/accounts/changes.ts';

const flags: FolderChange = { folderId: 1, modseq: 5, kind: 'flags', edits: [] };

test('a change is told to the listeners of its folder until they stop', () => {
  const changes = createAccountChanges();
  const told: FolderChange[] = [];
  const stop = changes.subscribe(1, (change) => told.push(change));
  changes.subscribe(2, () => assert.fail('another folder'));
  changes.publish(flags);
  stop();
  stop();
  changes.publish(flags);
  assert.deepEqual(told, [flags]);
});

test('changes of all folders are told to those who watch all', () => {
  const changes = createAccountChanges();
  const told: string[] = [];
  changes.subscribe('all', ({ kind }) => told.push(kind));
  changes.subscribe(1, ({ kind }) => told.push(`1 ${kind}`));
  changes.publish(flags);
  changes.publish({ folderId: 2, modseq: 7, kind: 'created', name: 'a' });
  assert.deepEqual(told, ['1 flags', 'flags', 'created']);
});

test('what a session publishes names it', () => {
  const changes = createAccountChanges();
  const origin = {};
  const told: unknown[] = [];
  changes.subscribe(1, (change) => told.push(change.origin));
  changes.subscriptions.subscribe((change) => told.push(change));
  changes.metadata.subscribe((change) => told.push(change));
  const own = changesBy(origin, changes);
  own.publish(flags);
  own.subscriptions.publish({ name: 'a' });
  own.metadata.publish({ folderId: 1, entries: ['/private/a'] });
  assert.deepEqual(told, [origin, { name: 'a', origin }, { folderId: 1, entries: ['/private/a'], origin }]);
});

test('a listener that stops another one while a change is told disturbs nobody', () => {
  const changes = createAccountChanges();
  let told = 0;
  const stop = changes.subscribe(1, () => told++);
  changes.subscribe(1, stop);
  changes.subscribe(1, () => told++);
  changes.publish(flags);
  changes.publish(flags);
  assert.equal(told, 3);
});
