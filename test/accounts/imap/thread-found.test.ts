import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeldReferences } from '../../../src/accounts/imap/thread-found.ts';
import type { ThreadRow } from '../../../src/mail/imap/thread.ts';

function rowOf(number: number): ThreadRow {
  const keys = { baseSubject: '', isReply: false, sent: null };
  return { number, internalAt: 0, keys, thread: { messageId: null, references: [] } };
}

const json = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => `r${index}`));

test('references that fit are kept, all of them', () => {
  const held = new HeldReferences();
  const row = rowOf(1);
  held.add(row, json(1_000));
  assert.equal(row.thread.references.length, 1_000);
});

test('when all references are too many, each message keeps its newest ones', () => {
  const held = new HeldReferences(100 * 1_000);
  const rows = Array.from({ length: 200 }, (_, index) => rowOf(index + 1));
  for (const row of rows) held.add(row, json(row.number % 2 === 0 ? 1 : 1_000));
  for (const { number, thread } of rows) {
    if (number % 2 === 0) assert.deepEqual(thread.references, ['r0']);
    else assert.equal(thread.references.at(-1), 'r999');
  }
  const kept = rows.reduce((count, { thread }) => count + thread.references.length, 0);
  assert.ok(kept < 800, `${kept}`);
});
